import { posix } from "node:path";
import { type CodeFile, inspectImports } from "./house-imports.ts";
import {
  BROWSER_ROOMS,
  DEEP_ROOMS,
  folderOf,
  INNER_PAGES,
  isBelow,
  isTest,
  OPEN,
  PAGE,
  READERS_OF_CHINESE,
  SQL_HOMES,
  STATEFUL_FILES,
  WEB_ROOMS,
} from "./house-plan.ts";
import { readSyntax } from "./read-imports.ts";

// The house rules that a machine can hold (CONTRIBUTING.md tells them to people). Pure: a list of files in, problems out.

export interface SourceFile {
  /** From the root of the repository, with forward slashes. */
  path: string;
  text: string;
}

const BASE_FILES = [
  "result",
  "clock",
  "ids",
  "random",
  "assert",
  "nearest",
  "json",
  "fault",
  "host",
  "background",
  "gate",
];
/** Operators write checkers and say where they are. */
const COMPUTED_IMPORTS = ["src/approvals/checkers.ts", "src/tools/custom.ts"];
const LINES_MAX = 400;
/** Nine files in ten have no more: the limit is for the odd one, not where files stop to grow. */
const MOST_LINES_MAX = 300;
/** Half of the files have no more, in each tree: what is read as a whole. */
const MEDIAN_LINES_MAX = 150;
const WORDS_TO_AVOID = ["util", "utils", "helper", "helpers", "manager", "common", "misc", "shared"];
/** At the end of a class, a type or a function. pip and npm are called package managers by everybody. */
const NAMES_TO_AVOID = /^(?!PackageManager$).*(?:Utils?|Helpers?|Manager|Common|Misc|Shared|Impl|Dto)$/;
/** What src/ may hold at all. */
const KINDS = /\.ts$|^src\/sandbox\/(guest|local)\/\w+\.py$|^src\/http\/docs\/\w+\.(mjs|css)$/;

/** All rules, each on its own. The answer has a sentence for each problem; empty is good. */
export function inspectHouse(files: SourceFile[]): string[] {
  const written = files.filter(({ path }) =>
    /^(src|test|scripts|bench|bin|web)\/.*\.([cm]?[jt]sx?|py|css)$/.test(path),
  );
  const code = written
    .filter(({ path }) => /\.[cm]?[jt]sx?$/.test(path))
    .map((file) => {
      const isForBrowsers = file.path.startsWith("src/") && BROWSER_ROOMS.includes(folderOf(file.path));
      return { ...file, ...readSyntax(file.path, file.text, { avoided: NAMES_TO_AVOID, isForBrowsers }) };
    });
  const house = code.filter(({ path }) => path.startsWith("src/"));
  return [
    ...(house.length === 0 ? ["src/: no TypeScript file was found"] : []),
    ...files.filter(({ path }) => path.startsWith("src/")).flatMap(checkPlace),
    ...checkFronts(house),
    ...inspectImports(code, files.find(({ path }) => path === "package.json")?.text ?? "{}"),
    ...written.flatMap(checkNames),
    ...written.flatMap(checkLength),
    ...["src/", "test/", "web/", "scripts/", "bench/"].flatMap((tree) => checkLengths(tree, written)),
    ...code.flatMap(checkSyntax),
    ...house.filter(({ path }) => !isTest(path)).flatMap(checkContent),
    ...code.filter(({ path }) => path.startsWith("web/") && !isTest(path)).flatMap(checkWebContent),
    ...files.flatMap(checkForLeaks),
    ...files.filter(({ path }) => path === "package-lock.json").flatMap(checkLock),
  ];
}

/** Every file of src/ stands in a folder of the page, in a room that is known there; base/ is a closed list. */
function checkPlace({ path }: SourceFile): string[] {
  const folder = folderOf(path);
  if (!PAGE.includes(folder))
    return [`${path}: src/${folder} is not a place of the house (PAGE in test/world/house-plan.ts)`];
  const home = posix.dirname(path);
  const rooms = (INNER_PAGES[folder] ?? [])
    .flatMap((row) => row.split(" "))
    .map((room) => posix.join("src", folder, room));
  const isRoom = folder.endsWith(".ts") || [`src/${folder}`, ...rooms, ...DEEP_ROOMS].includes(home);
  if (!isRoom) return [`${path}: ${home} is not a room of the house (INNER_PAGES in test/world/house-plan.ts)`];
  if (!KINDS.test(path)) return [`${path}: src/ holds TypeScript, and what guests and pages run`];
  const isNewInBase = folder === "base" && !BASE_FILES.includes(posix.basename(path).replace(/(\.test)?\.ts$/, ""));
  return isNewInBase ? [`${path}: base/ is a closed list (${BASE_FILES.join(", ")})`] : [];
}

/** From outside a folder is its front file: one without has no inside. */
function checkFronts(house: readonly CodeFile[]): string[] {
  const paths = new Set(house.map(({ path }) => path));
  const folders = new Set(house.map(({ path }) => folderOf(path)).filter((folder) => !folder.endsWith(".ts")));
  return [...folders]
    .filter((folder) => PAGE.includes(folder) && !OPEN.includes(folder) && !paths.has(`src/${folder}/${folder}.ts`))
    .map((folder) => `src/${folder}/: has no front file src/${folder}/${folder}.ts`);
}

function checkNames({ path }: SourceFile): string[] {
  const names = path.split("/").map((name) => name.replace(/(\.(test|testing|spec))?\.\w+$/, ""));
  const badCase = names.filter((name) => !/^[a-z0-9]+(-[a-z0-9]+)*$/.test(name));
  const avoided = names.flatMap((name) => name.split("-")).filter((word) => WORDS_TO_AVOID.includes(word));
  return [
    ...badCase.map((name) => `${path}: names are in kebab-case, not ${name}`),
    ...avoided.map((word) => `${path}: "${word}" says nothing; each function goes home`),
  ];
}

function checkLength({ path, text }: SourceFile): string[] {
  const lines = linesOf(text);
  return lines > LINES_MAX ? [`${path}: ${lines} lines, more than ${LINES_MAX}`] : [];
}

function checkLengths(tree: string, files: readonly SourceFile[]): string[] {
  const lengths = files.filter(({ path }) => path.startsWith(tree)).map(({ text }) => linesOf(text));
  const long = lengths.filter((lines) => lines > MOST_LINES_MAX).length;
  const isFew = long * 10 <= lengths.length || long === 1;
  const median = lengths.toSorted((one, other) => one - other)[Math.floor((lengths.length - 1) / 2)] ?? 0;
  return [
    ...(isFew ? [] : [`${tree}: ${long} of ${lengths.length} files have more than ${MOST_LINES_MAX} lines`]),
    ...(median <= MEDIAN_LINES_MAX ? [] : [`${tree}: half of the files have more than ${MEDIAN_LINES_MAX} lines`]),
  ];
}

function linesOf(text: string): number {
  return text.replace(/\n$/, "").split("\n").length;
}

function checkSyntax({ path, ...syntax }: CodeFile): string[] {
  const problems: string[] = [];
  // The test runner and knip load a reporter by its default export.
  if (syntax.hasDefaultExport && !path.startsWith("scripts/reporters/")) problems.push(`${path}: no default exports`);
  if (syntax.hasValueStar || posix.basename(path) === "index.ts")
    problems.push(`${path}: no barrels; a front file exports each name by itself`);
  if (syntax.hasComputedImport && path.startsWith("src/") && !COMPUTED_IMPORTS.includes(path))
    problems.push(`${path}: imports something that no reader can name`);
  if (syntax.mocksModules) problems.push(`${path}: we double the world, never our own modules`);
  return [...problems, ...syntax.avoidedNames.map((name) => `${path}: ${name} says nothing; name what it is about`)];
}

/** What has one home: SQL, and texts for people. State has none: it belongs to somebody who opened it. */
function checkContent({ path, sql, hasChinese, state }: CodeFile): string[] {
  return [
    ...(isBelow(path, SQL_HOMES)
      ? []
      : sql.map((text) => `${path}: SQL has its place in ${SQL_HOMES.join(" and ")}, not ${text}`)),
    ...(hasChinese && !isBelow(path, READERS_OF_CHINESE) ? [`${path}: every text for people stands in words/`] : []),
    ...(STATEFUL_FILES.includes(path) ? [] : state.map((name) => `${path}: ${name} is state of a whole process`)),
  ];
}

/** The browser app has its own words, and its rooms are named as those of src/ are. */
function checkWebContent({ path, hasChinese }: CodeFile): string[] {
  const room = /^web\/src\/([^/]+)\//.exec(path)?.[1];
  const isRoom = room === undefined || WEB_ROOMS.includes(room);
  return [
    ...(isRoom
      ? []
      : [`${path}: web/src/${room} is not a room of the browser app (WEB_ROOMS in test/world/house-plan.ts)`]),
    ...(hasChinese && room !== "words" ? [`${path}: every text for people stands in web/src/words/`] : []),
  ];
}

/** Where we work and where packages come from is nobody else's business. */
function checkForLeaks({ path, text }: SourceFile): string[] {
  const machinePath = text.match(/(?:^|[^\w.\]}])(\/(?:work|root|home|Users)\/[\w.-]+)/)?.[1];
  const registry = text.match(/registry\.(npmjs|yarnpkg|npmmirror)\.\w+|"resolved": "https?:/)?.[0];
  return [
    ...(machinePath ? [`${path}: names a path of a machine: ${machinePath}`] : []),
    ...(registry ? [`${path}: names a package registry: ${registry}`] : []),
  ];
}

/** npm drops optional packages that it cannot find from the lock without a word, and `npm ci` then refuses to start. */
function checkLock({ path, text }: SourceFile): string[] {
  const packages: Record<string, { optionalDependencies?: Record<string, string> }> = JSON.parse(text).packages ?? {};
  const locked = new Set(Object.keys(packages).map((key) => key.replace(/^.*node_modules\//, "")));
  return Object.entries(packages).flatMap(([asker, { optionalDependencies = {} }]) => {
    const lost = Object.keys(optionalDependencies).filter((name) => !locked.has(name));
    return lost.length === 0 ? [] : [`${path}: ${asker} asks for what is not locked: ${lost.join(", ")}`];
  });
}
