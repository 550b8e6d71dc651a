import { type BlockList, openBlockList } from "../block-list.ts";
import type { Block, Place } from "../extracted.ts";

/** What HTML says, as blocks. Nothing in here goes down into a page: a page may be as deep as it likes. */
export type Flow = {
  open(name: string, attributes: Readonly<Record<string, string>>): void;
  close(name: string): void;
  text(text: string): void;
  end(): void;
  readonly blocks: readonly Block[];
  readonly images: number;
  readonly characters: number;
  readonly title: string;
};

const skipped = new Set("script style template noscript svg math iframe object select textarea".split(" "));
const blockTags = new Set(
  (
    "address article aside blockquote body caption center dd details dialog div dl dt fieldset figcaption figure footer form " +
    "h1 h2 h3 h4 h5 h6 header hr html legend li main menu nav ol p pre section summary table tbody td tfoot th thead title tr ul"
  ).split(" "),
);

type Table = {
  readonly rows: { readonly cells: string[]; isHead: boolean }[];
  cell: string[] | undefined;
  readonly from: Place;
};

type State = {
  readonly at: () => Place;
  readonly list: BlockList;
  readonly tables: Table[];
  /** Tables in the last of these that are read as text. */
  deeper: number;
  readonly opened: { readonly name: string; readonly isContents: boolean }[];
  line: string;
  /** Where the line began. */
  from: Place;
  title: string;
  skips: number;
  code: number;
  lists: number;
  contents: number;
  images: number;
};

/** `at`: where the parser is now. `isContents`: all of it only names what stands elsewhere. */
export function openFlow({ at, isContents = false }: { at: () => Place; isContents?: boolean }): Flow {
  const state: State = {
    ...{ at, list: openBlockList(), tables: [], deeper: 0, opened: [], line: "", from: at(), title: "" },
    ...{ skips: 0, code: 0, lists: 0, contents: isContents ? 1 : 0, images: 0 },
  };
  return {
    get blocks() {
      return state.list.blocks;
    },
    get images() {
      return state.images;
    },
    get characters() {
      return state.list.characters + state.line.length;
    },
    get title() {
      return state.title;
    },
    open: (name, attributes) => openTag(state, name, attributes),
    close: (name) => closeTag(state, name),
    text(text) {
      if (state.skips > 0) return;
      if (state.line === "") state.from = at();
      state.line += text;
    },
    end() {
      flushOpen(state);
      while (state.deeper > 0 || state.tables.length > 0) endTable(state);
    },
  };
}

function openTag(state: State, name: string, attributes: Readonly<Record<string, string>>): void {
  // Both stand where nothing is skipped, also in pages that forget to end their head.
  if (name === "title" || name === "body") state.skips = 0;
  if (skipped.has(name)) state.skips += 1;
  if (state.skips > 0) return;
  if (blockTags.has(name)) flushOpen(state);
  if (state.line === "") state.from = state.at();
  const isContents = isContentsTag(name, attributes);
  state.opened.push({ name, isContents });
  if (isContents) state.contents += 1;
  if (name === "br") state.line += state.code > 0 ? "\n" : " ";
  else if (name === "img") state.images += 1;
  else if (name === "pre") state.code += 1;
  else if (name === "ul" || name === "ol") state.lists += 1;
  else if (name === "table") openTable(state);
  else if (state.deeper === 0) openCell(state.tables.at(-1), name);
}

function closeTag(state: State, name: string): void {
  if (skipped.has(name)) state.skips = Math.max(state.skips - 1, 0);
  if (state.skips > 0) return;
  const last = state.opened.findLastIndex((tag) => tag.name === name);
  if (last !== -1) for (const tag of state.opened.splice(last)) state.contents -= tag.isContents ? 1 : 0;
  if (name === "title" && state.title === "") [state.title, state.line] = [state.line, ""];
  if (!blockTags.has(name)) return;
  const level = /^h([1-6])$/.exec(name)?.[1];
  if (level === undefined) flushOpen(state);
  else flush(state, "heading", Number(level));
  if (name === "pre") state.code = Math.max(state.code - 1, 0);
  else if (name === "ul" || name === "ol") state.lists = Math.max(state.lists - 1, 0);
  else if (name === "table") endTable(state);
  else if ((name === "td" || name === "th") && state.deeper === 0) endCell(state.tables.at(-1));
}

function flushOpen(state: State): void {
  flush(state, state.code > 0 ? "code" : state.lists > 0 ? "list" : "paragraph");
}

/** What was written since the last block becomes one, or goes into the cell that is open. */
function flush(state: State, kind: Block["kind"], level?: number): void {
  const { line, list, from } = state;
  const text = kind === "code" ? line.replace(/^\n/, "").trimEnd() : line.replaceAll(/[\s\u00a0]+/g, " ").trim();
  state.line = "";
  if (text === "") return;
  const cell = state.tables.at(-1)?.cell;
  if (cell !== undefined) cell.push(text.replaceAll(/\s+/g, " "));
  else if (state.contents > 0 && kind !== "heading") list.push({ kind: "contents", text, from });
  else list.push({ kind, text: kind === "list" ? `- ${text}` : text, ...(level === undefined ? {} : { level }), from });
}

function openTable(state: State): void {
  if (state.tables.length < tablesMax) state.tables.push({ rows: [], cell: undefined, from: state.at() });
  else state.deeper += 1;
}

function endTable(state: State): void {
  if (state.deeper > 0) {
    state.deeper -= 1;
    return;
  }
  const table = state.tables.pop();
  const block = table === undefined ? undefined : tableBlock(table);
  const above = state.tables.at(-1)?.cell;
  if (block === undefined) return;
  if (above !== undefined) above.push(block.text.replaceAll(/\s+/g, " "));
  else state.list.push(block);
}

/** Tables in tables are there for the looks of a page; deeper ones are read as text. */
const tablesMax = 8;

function isContentsTag(
  name: string,
  { class: names = "", id = "", role = "" }: Readonly<Record<string, string>>,
): boolean {
  if (role === "doc-toc" || role === "doc-index") return true;
  return (
    /^(?:nav|div|ul|ol|dl|section)$/.test(name) &&
    /(?:^|\s)(?:toc|table-of-contents|contents|bookindex)(?:\s|$)/i.test(`${names} ${id}`)
  );
}

function openCell(table: Table | undefined, name: string): void {
  if (table === undefined) return;
  if (name === "tr") table.rows.push({ cells: [], isHead: true });
  else if (name === "td" || name === "th") {
    if (table.rows.length === 0) table.rows.push({ cells: [], isHead: true });
    table.cell = [];
    const row = table.rows.at(-1);
    if (name === "td" && row !== undefined) row.isHead = false;
  }
}

function endCell(table: Table | undefined): void {
  if (table?.cell === undefined) return;
  table.rows.at(-1)?.cells.push(table.cell.join(" "));
  table.cell = undefined;
}

function tableBlock({ rows, from }: Table): Block | undefined {
  const filled = rows.filter(({ cells }) => cells.some((cell) => cell !== ""));
  if (filled.length === 0) return undefined;
  const body = filled.findIndex(({ isHead }) => !isHead);
  const headRows = body === -1 ? Math.min(filled.length - 1, 1) : body;
  return { kind: "table", text: filled.map(({ cells }) => cells.join("\t")).join("\n"), headRows, from };
}
