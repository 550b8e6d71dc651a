/** A path as it was meant: names with blanks may stand in quotes. */
export function unquoted(path: string): string {
  return (
    /^(?:"([^"]+)"|'([^']+)'|“([^”]+)”)$/
      .exec(path)
      ?.slice(1)
      .find((inner) => inner !== undefined) ?? path
  );
}
