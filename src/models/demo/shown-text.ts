/** So much of a file, of hits or of a result stands in an answer. */
const shownCharactersMax = 2_000;

/** The beginning, in whole lines where that leaves something. */
export function shown(text: string): string {
  if (text.length <= shownCharactersMax) return text;
  const part = text.slice(0, shownCharactersMax).toWellFormed();
  const lineEnd = part.lastIndexOf("\n");
  return `${lineEnd > 0 ? part.slice(0, lineEnd) : part}\n…`;
}

/** As it is: the fence is longer than any run of backticks inside. */
export function fenced(text: string): string {
  const longest = Math.max(2, ...(text.match(/`+/g) ?? []).map(({ length }) => length));
  const fence = "`".repeat(longest + 1);
  return `${fence}\n${text}\n${fence}`;
}
