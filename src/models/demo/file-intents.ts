import { estimateTokens } from "../estimate.ts";
import type { Facts } from "./facts.ts";
import { listedFiles, listedLines, pagesOf } from "./file-results.ts";
import { type DemoWords, first, type Intent, paragraphs, resultOf, said, type WantedCall } from "./intent.ts";
import { profileTable } from "./profile.ts";
import { profileText } from "./profile-text.ts";
import { lookAround, namesFile, type Target, targetOf } from "./target.ts";
import { editWish, searchWish, writeWish } from "./wishes.ts";

/** Of a file or of hits, in an answer. */
const shownCharactersMax = 2_000;
/** A long table is read page by page up to here; what is left out is said. */
const tableTokensMax = 40_000;

/** What the demo model does with files, by the real tools. */
export const fileIntents: readonly Intent[] = [
  {
    name: "undo",
    matches: said(/^.{0,20}\b(undo|revert|take (it|that) back)\b|撤销|撤消|撤回/i),
    answer: (_, { words }) => words.undo,
  },
  {
    name: "change a file",
    matches: (text) => editWish(text) !== undefined,
    calls: (facts) => {
      const wish = editWish(facts.text);
      return wish === undefined ? [] : onFile(editTarget(facts), (path) => editCalls(facts, path, wish));
    },
    answer: (facts, { words }) => {
      const [target, wish] = [editTarget(facts), editWish(facts.text)];
      return typeof target === "string" || wish === undefined
        ? whichFile(facts, words)
        : words.changedFile(wish.old, wish.new, target.path);
    },
  },
  {
    name: "write a file",
    matches: (text) => writeWish(text, "") !== undefined,
    calls: first(({ text }, { words }) => [{ name: "write_file", arguments: { ...noteOf(text, words) } }]),
    answer: ({ text }, { words }) => words.wroteFile(noteOf(text, words).path),
  },
  {
    name: "search files",
    matches: (text) => searchWish(text) !== undefined,
    calls: (facts) => {
      const wish = searchWish(facts.text);
      const wanted = (path?: string) => [{ name: "search_file", arguments: { query: wish?.query, path } }];
      if (resultOf(facts.done, "search_file") !== "") return [];
      const folder = /^(uploads|outputs|temp)\b\/?$/.exec(wish?.where ?? "")?.[1];
      if (folder !== undefined || !isOneFile(wish?.where ?? "")) return wanted(folder);
      return onFile(targetOf({ ...facts, text: wish?.where ?? "" }), wanted);
    },
    answer: ({ text, done }, { words }) => {
      const { query = "" } = searchWish(text) ?? {};
      const result = resultOf(done, "search_file");
      return result.includes("**") ? words.searchHits(query, fenced(shown(result))) : words.searchNothing(query);
    },
  },
  {
    name: "list files",
    matches: said(
      /\b(list|show|see|what|which|have)\b.{0,20}\bfiles\b|^\s*(ls|dir)\s*$|(列出|显示|查看|看看|有哪些|有什么|我的).{0,6}文件\s*[。？?！!]*$|文件列表/i,
    ),
    calls: first(() => lookAround),
    answer: (facts, { words }) => filesText(facts, words),
  },
  {
    name: "profile a table",
    matches: (text, { attached }) =>
      /\b(profile|summari[sz]e|summary|statistics|stats|analy[sz]e|average|mean|sum|total|numbers)\b|统计|汇总|分析|求和|总和|平均|概况|数字/i.test(
        text,
      ) &&
      (/\.(csv|tsv)\b|\b(csv|tsv|spreadsheet|columns?|numbers (of|in|from))\b|表格|数据表|每一?列/i.test(text) ||
        attached.length > 0),
    calls: (facts) => onFile(targetOf(facts, isTable), (path) => nextPage(facts, path)),
    answer: (facts, { words }) => tableAnswer(facts, words) ?? whichFile(facts, words),
  },
  {
    name: "read a file",
    matches: (text, { attached }) =>
      /^.{0,30}(\b(read|open|show|cat|display|print|see|what)\b|读|打开|查看|看看|看一下|显示)/i.test(text) &&
      (namesFile(text) ||
        /\b(the|this|that|my) file\b|文件/i.test(text) ||
        (attached.length > 0 && /\bread\b|读/i.test(text))),
    calls: (facts) => onFile(targetOf(facts), (path) => readOnce(facts, path)),
    answer: ({ done, ...facts }, { words }) => {
      const page = pagesOf(done)[0];
      if (page === undefined) return whichFile({ ...facts, done }, words);
      const text = shown(page.text);
      const isAll = text === page.text && page.next === undefined;
      return words.fileText(page.path, fenced(text), isAll ? "all" : page.lines);
    },
  },
];

/** Files without a wish: what came is named, and a table is looked into. Stands behind every row that reads a wish. */
export const uploadIntent: Intent = {
  name: "uploads",
  matches: (_, { attached }) => attached.length > 0,
  calls: (facts) => {
    const table = facts.attached.find(({ path }) => isTable(path));
    return table === undefined ? [] : nextPage(facts, table.path);
  },
  answer: (facts, { words }) => {
    const lines = facts.attached.map(({ path, type }) => `- \`${path}\` (${type})`);
    return paragraphs(words.uploaded(lines.join("\n")), tableAnswer(facts, words) ?? words.uploadedNext);
  },
};

/** The calls on a file once it is known which one; before that a look around. */
function onFile(target: Target, calls: (path: string) => readonly WantedCall[]): readonly WantedCall[] {
  if (target === "none") return [];
  return target === "look" ? lookAround : calls(target.path);
}

function editTarget(facts: Facts): Target {
  return targetOf({ ...facts, text: editWish(facts.text)?.file ?? "" });
}

/** Reads first: what an agent has not seen it may not change. */
function editCalls(
  facts: Facts,
  path: string,
  wish: { readonly old: string; readonly new: string },
): readonly WantedCall[] {
  if (pagesOf(facts.done).length === 0) return readOnce(facts, path);
  if (resultOf(facts.done, "edit_file") !== "") return [];
  const change = { path, old_string: wish.old, new_string: wish.new, replace_all: true };
  return [{ name: "edit_file", arguments: change }];
}

function readOnce({ done }: Facts, path: string): readonly WantedCall[] {
  return pagesOf(done).length > 0 ? [] : [{ name: "read_file", arguments: { path } }];
}

function nextPage(facts: Facts, path: string): readonly WantedCall[] {
  const pages = pagesOf(facts.done);
  const offset = pages.at(-1)?.next;
  if (offset === undefined) return readOnce(facts, path);
  const isEnough = estimateTokens(pages.map(({ text }) => text).join("")) >= tableTokensMax;
  return isEnough ? [] : [{ name: "read_file", arguments: { path, offset } }];
}

function noteOf(text: string, words: DemoWords): { path: string; content: string } {
  const { path, content } = writeWish(text, words.noteName) ?? { path: "", content: "" };
  return { path, content: `${content === "" ? words.noteText : content}\n` };
}

function isOneFile(where: string): boolean {
  return namesFile(where) || /^(it|(the|this|that|my) file)$|^(这个|那个|该)文件$|^它$/i.test(where);
}

function isTable(path: string): boolean {
  return /\.(csv|tsv)$/i.test(path);
}

function tableAnswer({ done }: Facts, words: DemoWords): string | undefined {
  const pages = pagesOf(done);
  const [begin, end] = [pages[0], pages.at(-1)];
  if (begin === undefined || end === undefined) return undefined;
  const part = end.next === undefined ? undefined : { read: end.lastLine ?? end.next - 1, of: end.lines };
  return profileText(begin.path, profileTable(pages.map(({ text }) => text).join("\n")), part, words);
}

function filesText({ done }: Facts, words: DemoWords): string {
  const lines = listedLines(done);
  return lines.length === 0 ? words.noFiles : words.files(fenced(shown(lines.join("\n"))));
}

function whichFile({ done }: Facts, words: DemoWords): string {
  const files = listedFiles(done);
  return files.length === 0 ? words.noFiles : words.whichFile(shown(files.map((path) => `- \`${path}\``).join("\n")));
}

/** The beginning, in whole lines where that leaves something. */
function shown(text: string): string {
  if (text.length <= shownCharactersMax) return text;
  const part = text.slice(0, shownCharactersMax).toWellFormed();
  const lineEnd = part.lastIndexOf("\n");
  return `${lineEnd > 0 ? part.slice(0, lineEnd) : part}\n…`;
}

/** As it is: the fence is longer than any run of backticks inside. */
function fenced(text: string): string {
  const longest = Math.max(2, ...(text.match(/`+/g) ?? []).map(({ length }) => length));
  const fence = "`".repeat(longest + 1);
  return `${fence}\n${text}\n${fence}`;
}
