import { type InlineText, openInlineText } from "./inline-text.ts";
import { isHidden, isSide } from "./page-sides.ts";
import { openTables, type Tables } from "./page-tables.ts";

/** A paragraph of a page, as Markdown. */
export type Block = {
  readonly text: string;
  /** Those of one kind that follow each other stand close together. */
  readonly kind: "text" | "heading" | "item" | "row" | "code";
  readonly linkCharacters: number;
  /** In what the page itself calls its content. */
  readonly isMain: boolean;
  /** In what is around the content: menus, advertisements, what others think. */
  readonly isSide: boolean;
};

type Attributes = Readonly<Record<string, string>>;

/** What a parser tells, as blocks. Nothing in here goes down into a page: a page may be as deep as it likes. */
export interface BlockWriter {
  open(name: string, attributes: Attributes): void;
  close(name: string): void;
  text(text: string): void;
  end(): readonly Block[];
  /** Tags that are open now, and characters that were written. */
  readonly depth: number;
  readonly characters: number;
}

const skipped = new Set(
  "script style noscript template svg math iframe object embed canvas audio video select option textarea button input head title".split(
    " ",
  ),
);
const blockTags = new Set(
  (
    "address article aside blockquote body center dd details dialog div dl dt fieldset figcaption figure footer form h1 h2 h3 h4 h5 h6 " +
    "header hr html legend li main menu nav ol p pre section summary table tbody td tfoot th thead tr ul caption"
  ).split(" "),
);
const marks: Readonly<Record<string, string>> = {
  b: "**",
  strong: "**",
  i: "*",
  em: "*",
  code: "`",
  kbd: "`",
  samp: "`",
};

/** A longer paragraph becomes two: what is done to a line costs its length. */
const lineCharactersMax = 4_000;
const fenceCharactersMax = 16;

type Open = { readonly name: string; readonly isSkipped: boolean; readonly isSide: boolean; readonly isMain: boolean };
type List = { readonly isOrdered: boolean; count: number };
type PageState = {
  readonly line: InlineText;
  readonly tags: Open[];
  readonly lists: List[];
  readonly tables: Tables;
  quotes: number;
  /** What the next block of an item begins with. */
  marker: string | undefined;
  /** Inside a program; with the language where the page says it. */
  code: { language: string } | undefined;
  characters: number;
};

/** `absolute`: an address of the page as a whole one; undefined for what is none of the web. */
export function openBlockWriter(absolute: (address: string) => string | undefined): BlockWriter {
  const page: PageState = {
    ...{ line: openInlineText(), tags: [], lists: [], tables: openTables() },
    ...{ quotes: 0, marker: undefined, code: undefined, characters: 0 },
  };
  return {
    get depth() {
      return page.tags.length;
    },
    get characters() {
      return page.characters + page.line.length;
    },
    open(name, attributes) {
      const above = page.tags.at(-1);
      const isMain = (above?.isMain ?? false) || name === "main" || name === "article" || attributes.role === "main";
      const isSkipped = (above?.isSkipped ?? false) || skipped.has(name) || isHidden(attributes);
      page.tags.push({
        ...{ name, isMain, isSkipped },
        isSide: (above?.isSide ?? false) || isSide(name, attributes, isMain),
      });
      if (!isSkipped) begin(page, name, attributes, absolute);
    },
    close(name) {
      const index = page.tags.findLastIndex((tag) => tag.name === name);
      if (index < 0) return;
      const isSkipped = page.tags.at(-1)?.isSkipped ?? false;
      if (!isSkipped) finish(page, name);
      page.tags.length = index;
    },
    text(text) {
      if (page.tags.at(-1)?.isSkipped) return;
      if (page.code === undefined) page.line.add(text);
      else page.line.addRaw(text);
      if (page.code === undefined && page.line.length > lineCharactersMax) endBlockOfPage(page, "text");
    },
    end() {
      endBlockOfPage(page, "text");
      return page.tables.end();
    },
  };
}

function begin(
  page: PageState,
  name: string,
  attributes: Attributes,
  absolute: (address: string) => string | undefined,
) {
  const { line, lists, tables } = page;
  if (blockTags.has(name)) endBlockOfPage(page, "text");
  const mark = marks[name];
  if (mark !== undefined && page.code === undefined) line.open(name, { before: mark, after: mark, isLink: false });
  if (name === "a") openLink(line, absolute(attributes.href ?? ""));
  else if (name === "br") line.addRaw("\n");
  else if (name === "img") addImage(line, attributes, absolute);
  else if (name === "hr") push(page, "---", "text", 0);
  else if (name === "blockquote") page.quotes += 1;
  else if (name === "ul" || name === "ol") lists.push({ isOrdered: name === "ol", count: 0 });
  else if (name === "li") page.marker = markerOf(lists);
  else if (name === "pre") page.code = { language: languageOf(attributes) };
  else if (name === "code" && page.code !== undefined) page.code.language ||= languageOf(attributes);
  else if (name === "table" || name === "tr" || name === "td" || name === "th") tables.open(name);
}

function finish(page: PageState, name: string): void {
  const { line, lists, tables } = page;
  if (name in marks || name === "a") line.close(name);
  if (!blockTags.has(name)) return;
  endBlockOfPage(page, /^h[1-6]$/.test(name) ? `h${name.slice(1)}` : "text");
  if (name === "blockquote") page.quotes = Math.max(page.quotes - 1, 0);
  else if (name === "ul" || name === "ol") lists.pop();
  else if (name === "li") page.marker = undefined;
  else if (name === "pre") page.code = undefined;
  else if (name === "table" || name === "tr" || name === "td" || name === "th") tables.close(name);
}

function openLink(line: InlineText, href: string | undefined): void {
  if (href !== undefined) line.open("a", { before: "[", after: `](${href})`, isLink: true });
}

function addImage(
  line: InlineText,
  { alt = "", src = "" }: Attributes,
  absolute: (address: string) => string | undefined,
) {
  const words = alt.replaceAll(/[\s[\]]+/g, " ").trim();
  const address = absolute(src);
  if (words !== "" && address !== undefined) line.add(` ![${words}](${address}) `);
}

/** Deeper ones are shown no further to the right. */
const indentsMax = 8;

function indentOf(lists: readonly List[]): string {
  return "  ".repeat(Math.min(Math.max(lists.length - 1, 0), indentsMax));
}

function markerOf(lists: readonly List[]): string {
  const list = lists.at(-1);
  if (list !== undefined) list.count += 1;
  return `${indentOf(lists)}${list?.isOrdered ? `${list.count}.` : "-"} `;
}

function languageOf({ class: names = "" }: Attributes): string {
  return /(?:^|\s)(?:lang(?:uage)?|highlight-source)-([\w+#.-]{1,20})/.exec(names)?.[1] ?? "";
}

/** What was written since the last block becomes one. */
function endBlockOfPage(page: PageState, as: string): void {
  const { text, linkCharacters } = page.line.take();
  if (page.code !== undefined) {
    const code = text.replace(/^\n/, "").trimEnd();
    if (code === "") return;
    const longest = code.matchAll(/`{3,}/g).reduce((most, [run]) => Math.max(most, run.length + 1), 3);
    const fence = "`".repeat(Math.min(longest, fenceCharactersMax));
    return push(page, `${fence}${page.code.language}\n${code}\n${fence}`, "code", 0);
  }
  const words = text.replaceAll(/ *\n */g, "\n").trim();
  if (words === "") return;
  if (as !== "text")
    return push(page, `${"#".repeat(Number(as.slice(1)))} ${words.replaceAll("\n", " ")}`, "heading", linkCharacters);
  const isItem = page.lists.length > 0;
  const start = isItem ? (page.marker ?? `${indentOf(page.lists)}  `) : "";
  page.marker = undefined;
  push(page, `${start}${words}`, isItem ? "item" : "text", linkCharacters);
}

function push(page: PageState, text: string, kind: Block["kind"], linkCharacters: number): void {
  const { isMain = false, isSide: isAround = false } = page.tags.at(-1) ?? {};
  const quote = "> ".repeat(Math.min(page.quotes, indentsMax));
  const quoted = quote === "" ? text : text.replaceAll(/^/gm, quote);
  page.characters += quoted.length;
  page.tables.add({ text: quoted, kind, linkCharacters, isMain, isSide: isAround });
}
