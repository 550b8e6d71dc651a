import assert from "node:assert/strict";
import { test } from "node:test";

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

type Table = { readonly kinds: string; readonly texts: readonly string[] };

/** A test of texts with the kinds that are found in them, in the order of the alphabet; none means that they go without asking. */
export function judged(title: string, judge: Judge, tables: readonly Table[]): void {
  const kindsIn = (text: string) => kindsOf(judge(text, judgedFacts, { commands: [], onlySafe: false }));
  test(title, () => {
    const found = tables.flatMap(({ kinds, texts }) => texts.map((text) => ({ text, kinds, found: kindsIn(text) })));
    assert.deepEqual(
      found.filter((row) => row.found !== row.kinds),
      [],
    );
  });
}

export const rows = (kinds: string, texts: readonly string[]): Table => ({ kinds, texts });

/**
 * A table of texts, one in a line. `¶` stands for a new line. Behind `¦` stand words, each of which is put into the text for `%`;
 * a line that begins with `¦` has more of them.
 */
export const asking =
  (kinds: string) =>
  ({ raw }: TemplateStringsArray): Table => {
    const lines = raw
      .join()
      .trim()
      .replaceAll(/\s*\n\s*¦/g, "")
      .split(/\s*\n\s*/);
    const texts = lines.flatMap((line) => {
      const [form = "", words] = line.split(" ¦ ");
      return words === undefined ? [form] : words.split(" ").map((word) => form.replaceAll("%", word));
    });
    return { kinds, texts: texts.map((text) => text.replaceAll("¶", "\n")) };
  };

export function kindsOf(findings: readonly { readonly kind: string }[]): string {
  return [...new Set(findings.map(({ kind }) => kind))].sort().join(" ");
}
