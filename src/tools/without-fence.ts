/** A program that came as a block of Markdown; in no language that runs here does one begin with such a fence. */
export function withoutFence(code: string): string {
  return /^\s*```[^\n`]*\n(?<code>.*?)\n?```\s*$/s.exec(code)?.groups?.code ?? code;
}
