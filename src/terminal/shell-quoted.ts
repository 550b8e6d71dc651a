/** A word as a shell reads it, whatever is in it; plain ones stay as they are. */
export function shellQuoted(text: string): string {
  return /^[\w./@%+=:,-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`;
}
