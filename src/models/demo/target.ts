import type { TalkFacts } from "./facts.ts";
import { hasMore, seenFiles } from "./file-results.ts";
import type { WantedCall } from "./intent.ts";

/** The files that the user means; `look` and `find`: these calls would tell; `none`: they tell nothing either. */
export type Target = { readonly paths: readonly string[] } | "look" | "find" | "none";

/** The calls that show what is there, side by side. */
export const lookAround: readonly WantedCall[] = ["uploads", "outputs"].map((path) => ({
  name: "list_files",
  arguments: { path },
}));

/** What lists do not show: sub-folders, and places that are not listed. */
export const lookDeeper: readonly WantedCall[] = [{ name: "find_files", arguments: { pattern: "**/*" } }];

/** From the surest sign to the weakest: a path, a known name, a seen name, what came along, the only one, a guess. */
export function targetOf(facts: TalkFacts, isFit: (path: string) => boolean = () => true): Target {
  const { text, done } = facts;
  const came = facts.attached.map(({ path }) => path);
  const before = facts.earlier.map(({ path }) => path);
  const written = pathIn(text);
  const named = namedIn(text, came);
  if (written !== undefined && (named.length === 0 || isOwnPath.test(written))) return { paths: [written] };
  if (named.length > 0) return { paths: came.filter((path) => named.includes(path)) };
  const seen = seenFiles(done);
  const known = namedIn(text, before)[0] ?? namedIn(text, seen)[0];
  if (known !== undefined) return { paths: [known] };

  const hasLooked = done.some(({ name }) => name === "list_files");
  const guess = nameIn(text);
  if (guess !== undefined && !hasLooked) return "look";
  if (guess !== undefined && canLookDeeper(facts)) return "find";
  if (guess !== undefined && came.length === 0) return { paths: [`uploads/${guess}`] };
  const fitting = came.filter(isFit);
  if (fitting.length > 0) return { paths: fitting };
  const last = before.find(isFit) ?? came[0] ?? before[0];
  if (last !== undefined) return { paths: [last] };
  if (!hasLooked) return "look";
  if (hasMore(done) && canLookDeeper(facts)) return "find";
  const usual = seen.filter((path) => isUsual.test(path) && isFit(path));
  return usual.length === 1 ? { paths: usual } : "none";
}

/** Paths of another machine begin otherwise. */
const isOwnPath = /^(\.\/)?(uploads|outputs|temp|skills)\//;
/** Where a file lies that needs no name. */
const isUsual = /^(uploads|outputs)\//;

/** Once in a turn, and where that tool is offered: small models have only the basic ones. */
export function canLookDeeper({ done, tools }: TalkFacts): boolean {
  return tools.has("find_files") && !done.some(({ name }) => name === "find_files");
}

/** Whether these words name a file by its ending or its place. */
export function namesFile(text: string): boolean {
  return pathIn(text) !== undefined || nameIn(text) !== undefined;
}

/** The characters that end a name in a sentence, unless the name stands in quotes. */
const ends = "\\s\"'`“”‘’「」《》<>，。；：？！、,;:?!()（）";
const quoted = /["'`“‘「《]([^"'`“”‘’「」《》\n]+\.[A-Za-z][A-Za-z0-9]{0,7})["'`”’」》]/u;
const pathLike = new RegExp(
  `(?<![\\w./-])(?:(?:uploads|outputs|temp|skills|\\.\\.?|/[\\w.-]+)(?:/[^${ends}/]+)+|[\\w.-]+(?:/[^${ends}/]+)*/[^${ends}/]+\\.[A-Za-z][A-Za-z0-9]{0,7})`,
  "u",
);
const nameLike = new RegExp(`[^${ends}/]+\\.[A-Za-z][A-Za-z0-9]{0,7}(?![\\w.]\\w)`, "u");
/** Chinese is written without blanks: what stands before a name belongs to the sentence. */
const wordsBefore =
  /^(?:请|帮我|帮忙|麻烦|给我|为我|把|将|在|从|读取|读一下|读|打开|查看|看看|看一下|显示|搜索|查找|统计|汇总|分析|写一个|写|新建|创建|保存到|保存为|保存|叫|名为|文件|附件|这个|一下|一个|我的)+(?=.)/u;

/** A name is looked for in the first words only: a pasted page is no reason to search it again and again. */
const searchedCharactersMax = 500;

export function pathIn(words: string): string | undefined {
  const text = words.slice(0, searchedCharactersMax);
  const name = quoted.exec(text)?.[1];
  if (name?.includes("/")) return name;
  return pathLike.exec(text)?.[0].replace(/\.$/, "");
}

export function nameIn(words: string): string | undefined {
  const text = words.slice(0, searchedCharactersMax);
  const name = quoted.exec(text)?.[1] ?? nameLike.exec(text)?.[0].replace(wordsBefore, "");
  const plain = name?.replace(/^(?:.*\p{Script=Han})?#(?=.)/u, "");
  return plain === undefined || plain.startsWith(".") ? undefined : plain;
}

/** Those of which the name stands in the text by itself, the longest first: no part of another counts as a name. */
function namedIn(text: string, paths: readonly string[]): readonly string[] {
  let rest = text.slice(0, searchedCharactersMax);
  return paths
    .toSorted((a, b) => baseName(b).length - baseName(a).length)
    .filter((path) => {
      const name = new RegExp(`(?<![\\w-])${RegExp.escape(baseName(path))}(?![\\w-])`, "iu");
      const isNamed = name.test(rest);
      rest = rest.replace(name, " ");
      return isNamed;
    });
}

function baseName(path: string): string {
  return path.slice(path.lastIndexOf("/") + 1);
}
