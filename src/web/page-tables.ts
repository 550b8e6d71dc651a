import type { Block } from "./page-blocks.ts";

/** Where blocks go: into the page, or into the cell of a table that is open. */
export interface Tables {
  add(block: Block): void;
  open(name: "table" | "tr" | "td" | "th"): void;
  close(name: "table" | "tr" | "td" | "th"): void;
  /** All blocks, with the tables that were left open. */
  end(): readonly Block[];
}

/** A row knows how it reads where there turns out to be no table. */
type Row = Block & { readonly plain?: string };
type Table = { cells: Block[][]; isInCell: boolean; columns: number; readonly blocks: Row[] };

/** Tables in tables are there for the looks of a page. */
const tablesMax = 8;
/** A row with more is no row of a table, but a part of the page. */
const rowCharactersMax = 2_000;
const columnsMax = 50;

export function openTables(): Tables {
  const page: Block[] = [];
  const tables: Table[] = [];
  let ignored = 0;
  const into = () => {
    const table = tables.at(-1);
    if (table === undefined) return page;
    return table.isInCell ? (table.cells.at(-1) ?? table.blocks) : table.blocks;
  };
  const endRow = (table: Table) => {
    const cells = table.cells.filter((cell) => cell.length > 0);
    // One by one: a row may have more blocks than a call takes arguments.
    if (cells.length > 0) for (const block of rowOf(table, cells)) table.blocks.push(block);
    table.cells = [];
    table.isInCell = false;
  };
  const endTable = () => {
    const table = tables.pop();
    if (table === undefined) return;
    endRow(table);
    const isTable = table.blocks.every(({ kind }) => kind === "row");
    for (const [index, { plain, ...block }] of table.blocks.entries()) {
      const rule = index === 0 ? `\n|${" --- |".repeat(table.columns)}` : "";
      if (plain === undefined) into().push(block);
      else if (isTable) into().push({ ...block, text: `${block.text}${rule}` });
      else into().push({ ...block, text: plain, kind: "text" });
    }
  };
  return {
    add: (block) => void into().push(block),
    open(name) {
      const table = tables.at(-1);
      if (name === "table") {
        if (tables.length >= tablesMax) ignored += 1;
        else tables.push({ cells: [], isInCell: false, columns: 0, blocks: [] });
      } else if (table === undefined || ignored > 0) return;
      else if (name === "tr") endRow(table);
      else {
        table.cells.push([]);
        table.isInCell = true;
      }
    },
    close(name) {
      const table = tables.at(-1);
      if (table === undefined) return;
      if (ignored > 0) ignored -= name === "table" ? 1 : 0;
      else if (name === "table") endTable();
      else if (name === "tr") endRow(table);
      else table.isInCell = false;
    },
    end() {
      while (tables.length > 0) endTable();
      return page;
    },
  };
}

/** A line of a table; where the cells have more in them than words, what is in them. */
function rowOf(table: Table, cells: readonly Block[][]): Row[] {
  const all = cells.flat();
  const isPlain = all.every(({ kind }) => kind === "text" || kind === "item");
  const length = all.reduce((sum, { text }) => sum + text.length, 0);
  const [first] = all;
  const isRow = isPlain && cells.length > 1 && cells.length <= columnsMax && length <= rowCharactersMax;
  if (!isRow || first === undefined) return all;
  const words = cells.map((cell) => cell.map(({ text }) => text.trim()).join(" "));
  const line = `| ${words.map((text) => text.replaceAll("\n", " ").replaceAll("|", "\\|")).join(" | ")} |`;
  table.columns = Math.max(table.columns, cells.length);
  const linkCharacters = all.reduce((sum, block) => sum + block.linkCharacters, 0);
  return [{ ...first, text: line, plain: words.join(" "), kind: "row", linkCharacters }];
}
