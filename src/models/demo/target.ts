import type { Facts } from "./facts.ts";
import { listedFiles } from "./file-results.ts";
import type { WantedCall } from "./intent.ts";

/** The file that the user means; `look`: the list of files would tell; `none`: it tells nothing either. */
export type Target = { readonly path: string } | "look" | "none";

/** The calls that show what is there, side by side. */
export const lookAround: readonly WantedCall[] = ["uploads", "outputs"].map((path) => ({
  name: "list_files",
  arguments: { path },
}));

/** From the surest sign to the weakest: a path, a known name, a listed name, what came last, the only one, a guess. */
export function targetOf(facts: Facts, isFit: (path: string) => boolean = () => true): Target {
  const { text, attached, earlier, done } = facts;
  const written = pathIn(text);
  if (written !== undefined) return { path: written };
  const known = [...attached, ...earlier].map(({ path }) => path);
  const listed = listedFiles(done);
  const named = mentioned(text, known) ?? mentioned(text, listed);
  if (named !== undefined) return { path: named };

  const hasLooked = done.some(({ name }) => name === "list_files");
  const guess = nameIn(text);
  if (guess !== undefined) return hasLooked ? { path: `uploads/${guess}` } : "look";
  const last = known.find(isFit) ?? known[0];
  if (last !== undefined) return { path: last };
  if (!hasLooked) return "look";
  const fitting = listed.filter(isFit);
  return fitting.length === 1 && fitting[0] !== undefined ? { path: fitting[0] } : "none";
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
  return name === undefined || name.startsWith(".") ? undefined : name;
}

/** The longest of the names that stands in the text by itself, not as a part of another. */
function mentioned(text: string, paths: readonly string[]): string | undefined {
  const byLength = paths.toSorted((a, b) => baseName(b).length - baseName(a).length);
  return byLength.find((path) => new RegExp(`(?<![\\w-])${RegExp.escape(baseName(path))}(?![\\w-])`, "iu").test(text));
}

function baseName(path: string): string {
  return path.slice(path.lastIndexOf("/") + 1);
}
