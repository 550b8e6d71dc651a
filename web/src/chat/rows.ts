import type { CallItem, Item } from "./items.ts";

/** A row of the list of messages: an item, or several calls one after another that are over, as one line. */
export type Row =
  | { readonly kind: "item"; readonly key: string; readonly item: Item }
  | { readonly kind: "calls"; readonly key: string; readonly calls: readonly CallItem[] };

/** So many finished calls in a row are one line. */
const groupMin = 3;

export function rowsOf(items: readonly Item[]): Row[] {
  const rows: Row[] = [];
  let group: CallItem[] = [];
  const close = () => {
    const [first] = group;
    if (first !== undefined && group.length >= groupMin)
      rows.push({ kind: "calls", key: `g${first.key}`, calls: group });
    else rows.push(...group.map((item): Row => ({ kind: "item", key: item.key, item })));
    group = [];
  };
  for (const item of items) {
    if (item.kind === "call" && isQuiet(item)) {
      group.push(item);
      continue;
    }
    close();
    // What was only asked and answered is told by its call.
    rows.push({ kind: "item", key: item.key, item });
  }
  close();
  return rows;
}

/** It went well, and made nothing that somebody would look for. */
function isQuiet({ state, files, images, agents }: CallItem): boolean {
  return state === "ok" && files.length === 0 && images.length === 0 && agents.length === 0;
}
