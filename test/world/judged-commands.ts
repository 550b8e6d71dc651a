import assert from "node:assert/strict";

/** What tables of judged commands are compared under: a sandbox without network, nothing read from outside. */
export const judgedFacts = {
  contained: true,
  network: false,
  tainted: false,
  root: "/workspace/w1",
  scripts: new Map<string, string>(),
};

type Judge = (
  command: string,
  facts: typeof judgedFacts,
  safe: { commands: readonly string[]; onlySafe: boolean },
) => readonly { readonly kind: string }[];

/** Rows of a command and the kinds that are found in it, in the order of the alphabet; none means that it goes. */
export function compare(judge: Judge, rows: readonly (readonly [command: string, kinds: string])[]): void {
  const safe = { commands: [], onlySafe: false };
  const found = rows.map(([command, kinds]) => ({ command, kinds, found: kindsOf(judge(command, judgedFacts, safe)) }));
  assert.deepEqual(
    found.filter((row) => row.found !== row.kinds),
    [],
  );
}

export function kindsOf(findings: readonly { readonly kind: string }[]): string {
  return [...new Set(findings.map(({ kind }) => kind))].sort().join(" ");
}

/** A row for each word of a list that is written down apart from the source; `%` in the form stands for the word. */
export function rowsOf(kinds: string, form: string, words: string): [command: string, kinds: string][] {
  return words
    .trim()
    .split(/\s+/)
    .map((word) => [form.replaceAll("%", word), kinds]);
}

/** The same for whole lines. */
export function linesOf(kinds: string, lines: string): [command: string, kinds: string][] {
  return lines
    .trim()
    .split(/\s*\n\s*/)
    .map((line) => [line, kinds]);
}
