/** How far two readings of one page agree, whatever order they come in: 1 where they have the same characters. */
export function agreement(one: string, other: string): number {
  const [ours, theirs] = [countsOf(one), countsOf(other)];
  let [shared, all] = [0, 0];
  for (const [character, count] of ours) shared += Math.min(count, theirs.get(character) ?? 0);
  for (const counts of [ours, theirs])
    all = Math.max(
      all,
      counts.values().reduce((sum, count) => sum + count, 0),
    );
  return all === 0 ? 1 : shared / all;
}

/** Characters that are printed, in one of the forms that fonts and readers choose among. */
function countsOf(text: string): Map<string, number> {
  const counts = new Map<string, number>();
  for (const character of text.normalize("NFKC").replaceAll(/[\s\p{Cc}\p{Cf}\ufffe\u00ad]+/gu, ""))
    counts.set(character, (counts.get(character) ?? 0) + 1);
  return counts;
}
