import { replaceMentions } from "./mentions.ts";
import { nameIn, namesFile, pathIn } from "./target.ts";

// What the user wants done with a file, read from one sentence. Each answers undefined when the sentence is no such wish.

const please = "^(?:please|now|then|and|can you|could you|would you|i want you to|let's|let us|[\\s,])*";
const qing = "^(?:请|麻烦|帮我|帮忙|给我|你|能不能|可以|现在|然后|再|[\\s，,])*";

/** A longer text is no order; what is to be written may be long. */
const orderCharactersMax = 2_000;
const writtenCharactersMax = 50_000;

export type EditWish = { readonly file: string; readonly old: string; readonly new: string };

/** `change A to B in X`, `in X replace A with B`, `把 X 里的 A 改成 B`, `在 X 中把 A 换成 B`. */
export function editWish(text: string): EditWish | undefined {
  if (text.length > orderCharactersMax) return undefined;
  for (const form of editForms) {
    const { file, old, next } = form.exec(text.trim())?.groups ?? {};
    if (file !== undefined && old !== undefined && next !== undefined && isPlace(file))
      return { file: bare(file), old: unquoted(old), new: unquoted(next) };
  }
  return undefined;
}

const editForms: readonly RegExp[] = [
  form(
    `${please}(?:change|replace|substitute)\\s+(?<old>.+?)\\s+(?:to|with|by|into)\\s+(?<next>.+)\\s+in\\s+(?<file>.+)$`,
  ),
  form(
    `${please}in\\s+(?<file>.+?),?\\s+(?:change|replace|substitute)\\s+(?<old>.+?)\\s+(?:to|with|by|into)\\s+(?<next>.+)$`,
  ),
  form(
    `${qing}在\\s*(?<file>.+?)\\s*(?:里面|里|中)\\s*[，,]?\\s*(?:把|将)\\s*(?<old>.+?)\\s*(?:改成|改为|换成|替换成|替换为)\\s*(?<next>.+)$`,
  ),
  form(
    `${qing}(?:把|将)\\s*(?<file>.+?)\\s*(?:里面的|里的|中的|里面|里|中|的)\\s*(?<old>.+?)\\s*(?:改成|改为|换成|替换成|替换为)\\s*(?<next>.+)$`,
  ),
];

/** `delete uploads/a.csv`, `remove the file a.csv`, `删除 a.csv`, `把 a.csv 删掉`: the words that name the file. */
export function deleteWish(text: string): string | undefined {
  if (text.length > orderCharactersMax) return undefined;
  for (const wish of deleteForms) {
    const { file } = wish.exec(text.trim())?.groups ?? {};
    if (file !== undefined && (namesFile(file) || isFileMeant.test(file))) return bare(file);
  }
  return undefined;
}

const isFileMeant = /^(it|(the|this|that|my) file)[.!]?$|^(它|(这个|那个|该)?文件)[。！]?$/i;
const deleteForms: readonly RegExp[] = [
  form(`${please}(?:delete|remove|erase|rm)\\s+(?<file>.+)$`),
  form(`${qing}(?:删除|删掉|移除|清除)(?:一下)?\\s*(?<file>.+)$`),
  form(`${qing}(?:把|将)\\s*(?<file>.+?)\\s*(?:删除|删掉|移除|清除)(?:掉|一下)?[。！]?$`),
];

/** `run echo hello`, "execute `ls -l`", `运行 ls`: one line, in quotes or begun by a program that everybody knows. */
export function commandWish(text: string): string | undefined {
  if (text.length > orderCharactersMax) return undefined;
  for (const wish of commandForms) {
    const { command } = wish.exec(text.trim())?.groups ?? {};
    if (command !== undefined) return command.trim();
  }
  return undefined;
}

const known = "(?:echo|ls|pwd|cat|date|uname|whoami|df|du|wc|head|tail|sort|mkdir|touch|cp|mv|rm|git|curl|wget|pip)";
const command = `(?:\`(?<command>[^\`\\n]+)\`[.!。！]?|(?<command>${known}(?:\\s[^\\n]*)?))$`;
const commandForms: readonly RegExp[] = [
  form(`${please}(?:run|execute)\\s+(?:the\\s+)?(?:command\\s+)?${command}`),
  form(`${qing}(?:运行|执行)(?:一下)?(?:命令)?\\s*[:：]?\\s*${command}`),
];

export type WriteWish = { readonly path: string; readonly content: string };

/** `write a note: …`, `create a file a.txt with …`, `save … to a.txt`, `写一个文件 a.txt，内容是…`, `把…保存到 a.txt`. */
export function writeWish(text: string, noteName: string): WriteWish | undefined {
  if (text.length > writtenCharactersMax) return undefined;
  for (const form of writeForms) {
    const { named, content = "" } = form.exec(text.trim())?.groups ?? {};
    if (named === undefined) continue;
    const place = replaceMentions(named, [], " ");
    const name = pathIn(place) ?? nameIn(place);
    const words = name === undefined ? noteOf(named, content) : content;
    return { path: inOutputs(name ?? noteName), content: unquoted(words) };
  }
  return undefined;
}

const kinds = "(?:a|an|one|the|this|new|text|short|small|markdown|\\s)*(?:file|note)\\b";
const writeForms: readonly RegExp[] = [
  form(
    `${please}(?:write|create|make|save|add)\\s+(?:me\\s+)?${kinds}(?:\\s+(?:called|named|as|to))?(?<named>[^\\n]*?)(?:\\s*[:：]|\\s*,?\\s+(?:with the (?:text|content|words)|with|saying|containing|that says|and write)\\b[:：]?)(?<content>.*)$`,
  ),
  form(
    `${please}(?:write|create|make|save|add)\\s+(?:me\\s+)?${kinds}(?:\\s+(?:called|named|as|to))?(?<named>[^\\n]*)(?<content>)$`,
  ),
  form(
    `${please}(?:write|save|put|store)\\s+(?<content>.+?)\\s+(?:to|into|in|as)\\s+(?:a |the )?(?:new )?(?:file )?(?:called |named )?(?<named>[^\\n]{0,200}\\.[a-z][a-z0-9]{0,7})[.!]?$`,
  ),
  form(
    `${qing}(?:写|新建|创建|建立|生成|记)(?:一个|一份|一条|一篇|个|份|条|篇)?(?:新的|新|文本)?(?:文件|笔记|便签)(?:叫做|叫|名为|名叫)?(?<named>[^\\n]*?)(?:\\s*[，,]?\\s*(?:内容(?:是|为)?|写上|写着)\\s*[:：]?|\\s*[:：])(?<content>.*)$`,
  ),
  form(
    `${qing}(?:写|新建|创建|建立|生成|记)(?:一个|一份|一条|一篇|个|份|条|篇)?(?:新的|新|文本)?(?:文件|笔记|便签)(?:叫做|叫|名为|名叫)?(?<named>[^\\n]*)(?<content>)$`,
  ),
  form(
    `${qing}(?:把|将)\\s*(?<content>.+?)\\s*(?:写入|写到|写进|保存到|保存为|存到|存为|记到)\\s*(?:文件)?\\s*(?<named>[^\\n]{0,200}\\.[a-z][a-z0-9]{0,7})\\s*(?:里面|里|中)?[。！]?$`,
  ),
];

/** Without a file's name all the words belong to the note. */
function noteOf(named: string, content: string): string {
  return [named.trim(), content.trim()].filter((part) => part !== "").join(": ");
}

function inOutputs(path: string): string {
  return path.includes("/") ? path : `outputs/${path}`;
}

export type SearchWish = { readonly query: string; readonly where: string };

/** `search X for Y`, `find Y in X`, `search for Y`, `在 X 中搜索 Y`, `搜索 Y`; `where` is empty for all files. */
export function searchWish(text: string): SearchWish | undefined {
  if (text.length > orderCharactersMax) return undefined;
  for (const { form, isForFilesOnly } of searchForms) {
    const { query, where = "" } = form.exec(text.trim())?.groups ?? {};
    if (query === undefined || (isForFilesOnly && !isPlace(where))) continue;
    if (!isForFilesOnly && isElsewhere.test(query)) continue;
    return { query: unquoted(query.replace(/[.。!！?？]+$/, "")), where: isPlace(where) ? bare(where) : "" };
  }
  return undefined;
}

/** What is not in files. */
const isElsewhere = /\b(web|internet|online|google|history|conversations?)\b|网上|网络|百度|谷歌|历史/i;

const searchForms: readonly { form: RegExp; isForFilesOnly: boolean }[] = [
  {
    form: form(`${please}(?:search|grep|look)\\s+(?:in\\s+|through\\s+)?(?<where>.+?)\\s+for\\s+(?<query>.+)$`),
    isForFilesOnly: true,
  },
  {
    form: form(`${please}(?:search|look|find|grep)\\s+(?:for\\s+)?(?<query>.+)\\s+in\\s+(?<where>.+)$`),
    isForFilesOnly: true,
  },
  { form: form(`${please}search\\s+(?:for\\s+)?(?<query>.+)$`), isForFilesOnly: false },
  {
    form: form(
      `${qing}在\\s*(?<where>.*?)\\s*(?:里面|里|中|内)?\\s*(?:搜索|查找|检索|搜一下|搜|找到|找出|找)(?:一下)?\\s*(?<query>.+)$`,
    ),
    isForFilesOnly: true,
  },
  {
    form: form(`${qing}(?:搜索|查找|检索)(?:一下)?\\s*(?:文件(?:里面|里|中)的?)?\\s*(?<query>.+)$`),
    isForFilesOnly: false,
  },
];

/** A file, one of the folders, or "my files" and its like. */
function isPlace(words: string): boolean {
  return (
    namesFile(words) ||
    /\b(files?|documents?|manual|report|paper|book|pdf|presentation|spreadsheet|uploads|outputs|temp|it|everything|workspace)\b|文件|文档|手册|报告|论文|这本书|表格|演示文稿|附件|全部|所有|它|工作区/i.test(
      words,
    )
  );
}

function form(pattern: string): RegExp {
  return new RegExp(pattern, "isu");
}

/** A name without the words and marks around it. */
function bare(words: string): string {
  return words.replace(/[\s.。!！?？]+$/, "").trim();
}

function unquoted(words: string): string {
  const text = words.trim();
  return /^(["'“‘`「])([\s\S]*)["'”’`」]$/.exec(text)?.[2] ?? text;
}
