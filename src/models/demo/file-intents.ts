import { estimateTokens } from "../estimate.ts";
import { profileCalls, profilesText, unprofiled } from "./code-profile.ts";
import type { TalkFacts } from "./facts.ts";
import { hasMore, type Page, pagesOf, seenFiles, seenLines, textOf } from "./file-results.ts";
import { type DemoWords, first, type Intent, paragraphs, resultOf, said, type WantedCall } from "./intent.ts";
import { profileTable } from "./profile.ts";
import { profileText } from "./profile-text.ts";
import { quotationsText } from "./quotations.ts";
import { fenced, shown } from "./shown-text.ts";
import { quotedForShell, shell, withoutSkills } from "./skills.ts";
import { cannotRun, reportCalls, reportsText, unreported } from "./table-report.ts";
import { canLookDeeper, lookAround, lookDeeper, namesFile, type Target, targetOf } from "./target.ts";
import { commandWish, deleteWish, editWish, searchWish, writeWish } from "./wishes.ts";

/** Long tables are read page by page up to here, all together; what is left out is said. */
const tableTokensMax = 40_000;
const filesAtOnceMax = 3;

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
      return wish === undefined ? [] : onFiles(editTarget(facts), ([path = ""]) => editCalls(facts, path, wish));
    },
    answer: (facts, { words }) => {
      const [target, wish] = [editTarget(facts), editWish(facts.text)];
      return typeof target === "string" || wish === undefined
        ? whichFile(facts, words)
        : words.changedFile(wish.old, wish.new, target.paths[0] ?? "");
    },
  },
  {
    name: "delete a file",
    matches: (text) => deleteWish(text) !== undefined,
    // By the shell, as other agents do it: it is one of the things that people are asked about.
    calls: (facts) => {
      if (facts.done.some(({ name }) => name === shell)) return [];
      return onFiles(deleteTarget(facts), ([path = ""]) => [
        { name: shell, arguments: { command: `rm -- ${quotedForShell(path)}` } },
      ]);
    },
    answer: (facts, { words }) => {
      const target = deleteTarget(facts);
      if (typeof target === "string") return whichFile(facts, words);
      const [path = ""] = target.paths;
      const isGone = !/^Command failed/m.test(resultOf(facts.done, shell));
      return isGone ? words.deletedFile(path) : words.notDeleted(path);
    },
  },
  {
    name: "run a command",
    matches: (text) => commandWish(text) !== undefined,
    calls: first(({ text }) => [{ name: shell, arguments: { command: commandWish(text) } }]),
    answer: ({ done }, { words }) => words.ranCommand(fenced(shown(resultOf(done, shell)))),
  },
  {
    name: "write a file",
    matches: (_, { written }) => writeWish(written, "") !== undefined,
    calls: first(({ written }, { words }) => [{ name: "write_file", arguments: { ...noteOf(written, words) } }]),
    answer: ({ written }, { words }) => words.wroteFile(noteOf(written, words).path),
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
      const target = targetOf({ ...facts, text: wish?.where ?? "" });
      return onFiles(target, ([path, ...others]) => wanted(others.length === 0 ? path : undefined));
    },
    answer: ({ text, done }, { words }) => {
      const { query = "" } = searchWish(text) ?? {};
      const result = resultOf(done, "search_file");
      if (!result.includes("**")) return words.searchNothing(query);
      return words.searchHits(query, quotationsText(result, words) ?? fenced(shown(result)));
    },
  },
  {
    name: "list files",
    matches: said(
      /\b(list|show|see|what|which|have)\b.{0,20}\bfiles\b|^\s*(ls|dir)\s*$|(列出|显示|查看|看看|有哪些|有什么|我的).{0,6}文件\s*[。？?！!]*$|文件列表/i,
    ),
    calls: (facts) => {
      if (facts.done.length === 0) return lookAround;
      return hasMore(facts.done) && canLookDeeper(facts) ? lookDeeper : [];
    },
    answer: (facts, { words }) => filesText(facts, words),
  },
  {
    name: "profile tables",
    answersInPart: true,
    matches: (text, { attached }) =>
      /\b(profile|summari[sz]e|summary|statistics|stats|analy[sz]e|average|mean|sum|total|numbers)\b|统计|汇总|分析|求和|总和|平均|概况|数字/i.test(
        text,
      ) &&
      (/\.(csv|tsv)\b|\b(csv|tsv|spreadsheet|tables?|columns?|numbers (of|in|from))\b|表格|数据表|每一?列/i.test(
        text,
      ) ||
        attached.length > 0),
    calls: (facts, { words }) => onFiles(targetOf(facts, isTable), (paths) => tableCalls(facts, paths, words)),
    answer: (facts, { words }) => {
      const text = tablesText(facts, words);
      return text === "" ? whichFile(facts, words) : paragraphs(text, leftText(targetOf(facts, isTable), words));
    },
  },
  {
    name: "read files",
    answersInPart: true,
    matches: (text, { attached, written }) =>
      /^.{0,30}(\b(read|open|show|cat|display|print|see|what)\b|读|打开|查看|看看|看一下|显示)/i.test(text) &&
      (namesFile(text) ||
        /\b(the|this|that|my) file\b|文件/i.test(text) ||
        (attached.length > 0 && (text !== written || /\bread\b|读/i.test(text)))),
    calls: (facts) => onFiles(targetOf(facts), (paths) => readOnce(facts, paths)),
    answer: (facts, { words }) => {
      const texts = pagesOf(facts.done).map((page) => pageText(page, words));
      return texts.length === 0 ? whichFile(facts, words) : paragraphs(...texts, leftText(targetOf(facts), words));
    },
  },
];

/** Files without a wish: what came is named, and tables are looked into. Stands behind every row that reads a wish. */
export const uploadIntent: Intent = {
  name: "uploads",
  answersInPart: true,
  matches: (_, { attached }) => attached.length > 0,
  calls: (facts, { words }) => tableCalls(facts, tablesAmong(facts), words),
  answer: (facts, { words }) => {
    const lines = facts.attached.map(({ path, type }) => `- \`${path}\` (${type})`);
    const text = tablesText(facts, words);
    const next = text === "" ? words.uploadedNext : paragraphs(text, leftText({ paths: tablesAmong(facts) }, words));
    return paragraphs(words.uploaded(lines.join("\n")), next);
  },
};

/** The calls on files once it is known which ones; before that a look around. */
function onFiles(target: Target, calls: (paths: readonly string[]) => readonly WantedCall[]): readonly WantedCall[] {
  if (target === "none") return [];
  if (target === "look") return lookAround;
  return target === "find" ? lookDeeper : calls(target.paths);
}

function editTarget(facts: TalkFacts): Target {
  return targetOf({ ...facts, text: editWish(facts.text)?.file ?? "" });
}

/** Who has looked and not seen it does not ask a person about deleting a guess. */
function deleteTarget(facts: TalkFacts): Target {
  const target = targetOf({ ...facts, text: deleteWish(facts.text) ?? "" });
  if (typeof target === "string" || !facts.done.some(({ name }) => name === "list_files")) return target;
  const seen = seenFiles(facts.done);
  return target.paths.every((path) => seen.includes(path)) ? target : "none";
}

/** Reads first: what an agent has not seen it may not change. */
function editCalls(
  facts: TalkFacts,
  path: string,
  wish: { readonly old: string; readonly new: string },
): readonly WantedCall[] {
  if (pagesOf(facts.done).length === 0) return readOnce(facts, [path]);
  if (resultOf(facts.done, "edit_file") !== "") return [];
  const change = { path, old_string: wish.old, new_string: wish.new, replace_all: true };
  return [{ name: "edit_file", arguments: change }];
}

function readOnce({ done }: TalkFacts, paths: readonly string[]): readonly WantedCall[] {
  if (pagesOf(done).length > 0) return [];
  return paths.slice(0, filesAtOnceMax).map((path) => ({ name: "read_file", arguments: { path } }));
}

/** By the skill for it where there is one, else by code of its own where that can be run; what neither tells is read. */
function tableCalls(facts: TalkFacts, paths: readonly string[], words: DemoWords): readonly WantedCall[] {
  const tables = paths.slice(0, filesAtOnceMax).filter(isTable);
  const bySkill = reportCalls(facts, tables, words);
  if (bySkill.length > 0) return bySkill;
  const [files, left] = [withoutSkills(facts), unreported(facts, tables)];
  const byCode = cannotRun(facts) ? [] : profileCalls(files, left, words);
  if (byCode.length > 0) return byCode;
  const unread = tables.length === 0 ? paths : unprofiled(facts.done, left);
  return unread.length === 0 ? [] : nextPages(files, unread);
}

/** The first pages side by side, then on wherever a file goes on. */
function nextPages(facts: TalkFacts, paths: readonly string[]): readonly WantedCall[] {
  const pages = pagesOf(facts.done);
  if (pages.length === 0) return readOnce(facts, paths);
  if (estimateTokens(pages.map(({ text }) => text).join("")) >= tableTokensMax) return [];
  return pagesByFile(facts).flatMap((ofFile) => {
    const { path, next } = ofFile.at(-1) ?? {};
    return next === undefined ? [] : [{ name: "read_file", arguments: { path, ...next } }];
  });
}

function pagesByFile({ done }: TalkFacts): readonly (readonly Page[])[] {
  return [...Map.groupBy(pagesOf(done), ({ path }) => path).values()];
}

function noteOf(text: string, words: DemoWords): { path: string; content: string } {
  const { path, content } = writeWish(text, words.noteName) ?? { path: "", content: "" };
  return { path, content: `${content === "" ? words.noteText : content}\n` };
}

const thatOne =
  /^(it|(the|this|that|my) (file|document|manual|report|paper|book|pdf|presentation|spreadsheet))$|^(这个|那个|该|这份|那份|这篇|这本)(文件|文档|手册|报告|论文|书|表格|演示文稿)$|^它$/i;

function isOneFile(where: string): boolean {
  return namesFile(where) || thatOne.test(where);
}

function isTable(path: string): boolean {
  return /\.(csv|tsv)$/i.test(path);
}

function tablesAmong({ attached }: TalkFacts): readonly string[] {
  return attached.map(({ path }) => path).filter(isTable);
}

function tablesText(facts: TalkFacts, words: DemoWords): string {
  const texts = pagesByFile(withoutSkills(facts)).map((pages) => {
    const end = pages.at(-1);
    const part = end?.next === undefined ? undefined : { read: end.lastLine ?? end.next.offset - 1, of: end.lines };
    return profileText(end?.path ?? "", profileTable(textOf(pages)), part, words);
  });
  return paragraphs(reportsText(facts, words), profilesText(facts.done, words), ...texts);
}

function pageText(page: Page, words: DemoWords): string {
  const text = shown(page.text);
  const isAll = text === page.text && page.next === undefined;
  return words.fileText(page.path, fenced(text), isAll ? "all" : page.lines);
}

function leftText(target: Target, words: DemoWords): string {
  const left = typeof target === "string" ? 0 : target.paths.length - filesAtOnceMax;
  return left > 0 ? words.filesLeft(left) : "";
}

function filesText({ done }: TalkFacts, words: DemoWords): string {
  const lines = seenLines(done);
  return lines.length === 0 ? words.noFiles : words.files(fenced(shown(lines.join("\n"))));
}

function whichFile({ done }: TalkFacts, words: DemoWords): string {
  const files = seenFiles(done);
  return files.length === 0 ? words.noFiles : words.whichFile(shown(files.map((path) => `- \`${path}\``).join("\n")));
}
