import { ok } from "../../base/result.ts";
import type { Block } from "../extracted.ts";
import { finish } from "../finish.ts";
import { openLosses } from "../losses.ts";
import type { Reader } from "../reading.ts";
import { type Line, linesOf } from "./lines.ts";

export const readMarkdown: Reader = ({ bytes }) => {
  const losses = openLosses();
  const read = linesOf(bytes, losses);
  if (!read.ok) return Promise.resolve(read);
  const { lines, encoding = "utf-8", stopped } = read.value;
  const front = frontMatter(lines);
  const blocks = markdownBlocks(lines.slice(front.lines));
  const title = front.title || (blocks.find(({ kind }) => kind === "heading")?.text ?? "");
  const images = lines.reduce((sum, { text }) => sum + (text.match(/!\[[^\]]{0,500}\]\(/g)?.length ?? 0), 0);
  const found = { losses, title, encoding, images, ...(stopped === undefined ? {} : { stopped }) };
  return Promise.resolve(ok(finish({ format: "markdown", blocks, ...found })));
};

const frontLinesMax = 200;

/** What stands between `---` at the very beginning is for programs; its title is the document's. */
function frontMatter(lines: readonly Line[]): { readonly lines: number; readonly title: string } {
  if (lines[0]?.text.trimEnd() !== "---") return { lines: 0, title: "" };
  const end = lines.slice(1, frontLinesMax).findIndex(({ text }) => /^(?:---|\.\.\.)\s*$/.test(text));
  if (end === -1) return { lines: 0, title: "" };
  const said = lines.slice(1, end + 1).map(({ text }) => /^title:\s*(.*)$/.exec(text)?.[1]);
  const title = said.find((one) => one !== undefined) ?? "";
  return { lines: end + 2, title: title.trim().replace(/^(["'])(.*)\1$/, "$2") };
}

type Kind = "paragraph" | "list" | "code" | "table";

/** Blocks with their inline marks as they stand, so that what is quoted can be found in the file. */
function markdownBlocks(lines: readonly Line[]): Block[] {
  const blocks: Block[] = [];
  let kind: Kind = "paragraph";
  let open: Line[] = [];
  let fence: string | undefined;
  const close = () => {
    if (open.some(({ text }) => text.trim() !== "")) blocks.push(blockOf(kind, open));
    open = [];
  };
  const add = (next: Kind, line: Line) => {
    if (next !== kind) close();
    kind = next;
    open.push(line);
  };
  for (const line of lines) {
    const text = line.text.trimEnd();
    if (fence !== undefined) {
      if (isFenceEnd(text, fence)) {
        close();
        [fence, kind] = [undefined, "paragraph"];
      } else open.push(line);
      continue;
    }
    const opening = /^ {0,3}(`{3,}|~{3,})[^`]*$/.exec(text)?.[1];
    const heading = /^ {0,3}(#{1,6})(?=[ \t]|$)/.exec(text);
    const underline = /^ {0,3}(=+|-+)[ \t]*$/.exec(text)?.[1];
    if (opening !== undefined) {
      close();
      [fence, kind] = [opening, "code"];
    } else if (heading !== null) {
      close();
      pushHeading(blocks, withoutMarks(text.slice(heading[0].length)), heading[1]?.length ?? 1, line);
    } else if (underline !== undefined && kind === "paragraph" && open.length > 0) {
      const [first = line] = open;
      pushHeading(blocks, open.map((one) => one.text.trim()).join(" "), underline.startsWith("=") ? 1 : 2, first);
      open = [];
    } else if (text.trim() === "") {
      if (isLoose(kind)) open.push(line);
      else close();
    } else add(kindOf(line.text, kind, open.length > 0), line);
  }
  close();
  return blocks;
}

/** Goes on after an empty line, if what comes then belongs to it. */
function isLoose(kind: Kind): boolean {
  return kind === "list" || kind === "code";
}

function isFenceEnd(text: string, fence: string): boolean {
  const closing = /^ {0,3}(`{3,}|~{3,})$/.exec(text)?.[1];
  return closing !== undefined && closing[0] === fence[0] && closing.length >= fence.length;
}

/** A list goes on with its items and with what is further to the right; so does a program that is only indented. */
function kindOf(text: string, before: Kind, isOpen: boolean): Kind {
  if (/^\s*\|.*\|/.test(text) || (before === "table" && isOpen && text.includes("|"))) return "table";
  if (/^ {0,3}(?:[-*+]|\d{1,9}[.)])\s+\S/.test(text)) return "list";
  if (before === "list" && isOpen) return /^\s/.test(text) ? "list" : "paragraph";
  if (/^(?: {4}|\t)/.test(text) && !(before === "paragraph" && isOpen)) return "code";
  return "paragraph";
}

/** A heading may end in marks as it begins. Not by a pattern, which some lines would keep busy for hours. */
function withoutMarks(title: string): string {
  const words = title.trim();
  let end = words.length;
  while (words[end - 1] === "#") end -= 1;
  return end === 0 || /[ \t]/.test(words[end - 1] ?? "") ? words.slice(0, end).trim() : words;
}

function pushHeading(blocks: Block[], text: string, level: number, { number }: Line): void {
  if (text.trim() !== "") blocks.push({ kind: "heading", text: text.trim(), level, from: { line: number } });
}

function blockOf(kind: Kind, lines: readonly Line[]): Block {
  const last = lines.findLast((line) => line.text.trim() !== "")?.number ?? 1;
  const first = lines[0]?.number ?? 1;
  const place = { from: { line: first }, ...(last === first ? {} : { to: { line: last } }) };
  const text = lines
    .map((line) => line.text.trimEnd())
    .join("\n")
    .trimEnd();
  if (kind !== "table") return { kind, text, ...place };
  const isRule = ({ text: row }: Line) => /^[\s|:-]+$/.test(row) && row.includes("-");
  const rows = lines.filter((line) => !isRule(line)).map((line) => cellsOf(line.text).join("\t"));
  return { kind, text: rows.join("\n"), headRows: lines.some(isRule) ? 1 : 0, ...place };
}

function cellsOf(row: string): string[] {
  const inner = row
    .trim()
    .replace(/^\|/, "")
    .replace(/(?<!\\)\|$/, "");
  return inner.split(/(?<!\\)\|/).map((cell) => cell.replaceAll("\\|", "|").trim());
}
