import type { YAMLMap } from "yaml";

/** Something of a YAML file, and where it stands. */
export type Item = {
  readonly line: number;
  readonly content:
    | { readonly form: "nothing" }
    | { readonly form: "value"; readonly value: unknown }
    | { readonly form: "group"; readonly entries: readonly Entry[] }
    /** A list of plain values; `text` has them put together with commas. */
    | { readonly form: "list"; readonly text: string; readonly items: readonly Item[] }
    /** A list of something else, or an alias, which has no items: no setting wants one. */
    | { readonly form: "other"; readonly items?: readonly Item[] };
  /** The content as it was written. */
  readonly source: string;
};

/** One key of a YAML file, and what stands behind it. */
export type Entry = Item & { readonly key: string };

export type Tree = {
  readonly entries: readonly Entry[];
  readonly errors: readonly { readonly line: number; readonly why: string }[];
};

/** Reads YAML with its lines. The parser is loaded only here: most files hold nothing but comments. */
export async function parseTree(text: string): Promise<Tree> {
  const { LineCounter, isMap, isNode, isScalar, isSeq, parseDocument } = await import("yaml");
  const lineCounter = new LineCounter();
  const { contents, errors } = parseDocument(text, { lineCounter, prettyErrors: false });
  const lineAt = (offset: number) => lineCounter.linePos(offset).line;

  const startOf = (node: unknown) => (isNode(node) ? node.range?.[0] : undefined) ?? 0;
  const sourceOf = (node: unknown) => (isNode(node) ? text.slice(node.range?.[0], node.range?.[1]) : "");
  const contentOf = (node: unknown): Entry["content"] => {
    if (node === null || (isScalar(node) && node.value === null)) return { form: "nothing" };
    if (isScalar(node)) return { form: "value", value: node.value };
    if (isSeq(node)) {
      const items = node.items.map((item) => ({
        line: lineAt(startOf(item)),
        content: contentOf(item),
        source: sourceOf(item),
      }));
      if (!node.items.every((item) => isScalar(item))) return { form: "other", items };
      return { form: "list", text: node.items.map((item) => (isScalar(item) ? item.value : "")).join(","), items };
    }
    return isMap(node) ? { form: "group", entries: entriesOf(node) } : { form: "other" };
  };
  const entriesOf = (map: YAMLMap): Entry[] =>
    map.items.map(({ key, value }) => ({
      key: isScalar(key) ? String(key.value) : sourceOf(key),
      line: lineAt(startOf(key)),
      content: contentOf(value),
      source: sourceOf(value),
    }));

  // A file that is no map (`hello`, a list) reads as one key that nobody knows.
  const lost = { key: sourceOf(contents), line: lineAt(startOf(contents)), content: contentOf(null), source: "" };
  const entries = contents === null ? [] : isMap(contents) ? entriesOf(contents) : [lost];
  return { entries, errors: errors.map(({ message, pos }) => ({ line: lineAt(pos[0]), why: message })) };
}
