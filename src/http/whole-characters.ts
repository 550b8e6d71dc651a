/** The end of a piece of a text, not between the two halves of a character. */
export function wholeCharacters(text: string, end: number): number {
  const code = text.charCodeAt(end - 1);
  return end < text.length && code >= 0xd800 && code <= 0xdbff ? end - 1 : Math.min(end, text.length);
}
