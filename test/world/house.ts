import { posix } from "node:path";
import { type Import, readSyntax, type Syntax } from "./read-imports.ts";

// The house rules that a machine can hold (CONTRIBUTING.md tells them to people). Pure: a list of files in, problems out.

export interface SourceFile {
  /** From the root of the repository, with forward slashes. */
  path: string;
  text: string;
}

/** The wiring stands above all: the command, the process, and the parts put together. It alone knows the adapters. */
const WIRING = [
  ...["main.ts", "doctor.ts", "model-test.ts", "approvals-test.ts", "copies.ts", "restore.ts", "backup.ts"],
  ...["extend.ts", "attach.ts", "yard.ts", "data-place.ts", "openable-address.ts"],
];
/** The page: a file imports from its own folder or from folders further down. */
const PAGE = (
  `${WIRING.join(" ")} config ` +
  "terminal http " +
  "loop " +
  "context tools approvals documents " +
  "sandbox workspace models users observe " +
  "log storage " +
  "client protocol words base"
).split(" ");
/** Folders without a front file: one file per word. */
const OPEN = ["protocol", "base"];
/**
 * Ports, what of the client runs under Node only and must not reach a browser, and what a thread, or the settings that
 * every command reads, should get without the whole room.
 */
const FREE_FILES = [
  "src/models/provider.ts",
  "src/models/profile.ts",
  "src/client/socket-fetch.ts",
  "src/client/socket-path.ts",
  "src/sandbox/provider.ts",
  "src/workspace/files-below.ts",
  "src/http/settings.ts",
  "src/approvals/pattern.ts",
  "src/approvals/rules.ts",
];
const ADAPTERS = [
  "src/storage/sqlite/",
  "src/models/openai/",
  "src/models/demo/",
  "src/sandbox/local/",
  // What runs inside a guest, and how one talks with it: shared by all providers.
  "src/sandbox/guest/",
];
/** What a provider brings into a guest is the same for all of them. */
const ADAPTERS_OF_ADAPTERS = { "src/sandbox/local/": "src/sandbox/guest/" };
/**
 * Rooms inside a room, from the top down; `.` are the files beside them, the front file stands above all. In approvals/
 * there is no such order: a command may run code, and code commands.
 */
const INNER_PAGES: Readonly<Record<string, readonly string[]>> = {
  http: ["docs", "routes", "openai", "chat", "sandbox", "."],
  tools: ["builtin", "edit", "."],
  sandbox: ["local", "guest", ".", "network"],
  models: ["demo", "openai", "."],
  storage: ["sqlite", "."],
};
const TERMINAL_IMPORTS = ["terminal", "client", "protocol", "words", "base"];
/** What browsers run as well. */
const BROWSER_ROOMS = ["client", "protocol", "words", "base"];
/** What of these rooms runs under Node only; no other file of them imports it. */
const NODE_FILES = ["src/client/socket-fetch.ts", "src/client/socket-path.ts", "src/base/ids.ts"];
/** Libraries of Node that reach outside the process, or around our rules, with the rooms and files of src/ that may. */
const NODE_HOMES: Readonly<Record<string, readonly string[]>> = {
  "node:sqlite": ["storage/sqlite/"],
  "node:child_process": ["sandbox/local/", "workspace/image-programs.ts", "doctor.ts"],
  "node:worker_threads": ["documents/", "storage/sqlite/", "sandbox/local/"],
  "node:fs": [
    ...["workspace/", "storage/sqlite/", "sandbox/local/", "config/", "terminal/", "observe/", ...WIRING],
    // A socket and its folder; the page of the documents, and the program of a guest, which lie beside them.
    ...["client/socket-path.ts", "http/server.ts", "http/docs/docs.ts", "sandbox/guest/supervisor-program.ts"],
    // Packages are no files of a user: they lie outside of every workspace.
    "sandbox/package-folders.ts",
  ],
  "node:http": ["http/server.ts", "client/socket-fetch.ts", "models/"],
  "node:https": ["models/"],
  // Most only ask whether a text is an address.
  "node:net": ["http/", "sandbox/network/", "config/kinds.ts", "models/profiles.ts", "terminal/program-commands.ts"],
  "node:dns": ["sandbox/network/"],
  "node:os": ["config/", "terminal/", "sandbox/local/", "sandbox/network/", ...WIRING],
  // Loads what the operator wrote; asks for memory back.
  "node:vm": ["approvals/checkers.ts", "http/garbage.ts"],
  "node:v8": ["http/garbage.ts"],
  // Loads a large package late, in a function that cannot wait.
  "node:module": ["documents/guess.ts"],
};
const HARMLESS_LIBRARIES =
  "path url crypto stream zlib buffer util events async_hooks string_decoder readline tty process assert".split(" ");
/** Operators write checkers and say where they are. */
const COMPUTED_IMPORTS = ["src/approvals/checkers.ts"];
const BASE_FILES = ["result", "clock", "ids", "random", "assert", "nearest", "json", "fault", "background"];
const IMPORTED_ANYWHERE = ["zod"];
const TEST_PACKAGES = ["fast-check"];
const LINES_MAX = 400;
/** Nine files in ten have no more: the limit is for the odd one, not where files stop to grow. */
const MOST_LINES_MAX = 300;
const WORDS_TO_AVOID = ["util", "utils", "helper", "helpers", "manager", "common", "misc", "shared"];
/** At the end of a class or a type. pip and npm are called package managers by everybody. */
const NAMES_TO_AVOID = /^(?!PackageManager$).*(?:Utils?|Helpers?|Manager|Common|Misc|Shared|Impl|Dto)$/;
/** What src/ may hold at all. */
const KINDS = /\.ts$|^src\/sandbox\/(guest|local)\/\w+\.py$|^src\/http\/docs\/\w+\.(mjs|css)$/;

/** All rules, each on its own. The answer has a sentence for each problem; empty is good. */
export function inspectHouse(files: SourceFile[]): string[] {
  const written = files.filter(({ path }) => /^(src|test|scripts|bench|bin)\/.*\.([cm]?[jt]sx?|py|css)$/.test(path));
  const code = written
    .filter(({ path }) => /\.[cm]?[jt]sx?$/.test(path))
    .map((file) => ({ ...file, ...readSyntax(file.path, file.text, NAMES_TO_AVOID) }));
  const house = code.filter(({ path }) => path.startsWith("src/"));
  return [
    ...(house.length === 0 ? ["src/: no TypeScript file was found"] : []),
    ...written.filter(({ path }) => path.startsWith("src/")).flatMap(checkPlace),
    ...checkFronts(house),
    ...code.flatMap((file) => file.imports.flatMap(({ specifier }) => checkImport(file.path, specifier))),
    ...house.filter(({ path }) => !isTest(path)).flatMap(checkLibraries),
    ...checkCycles(house),
    ...checkPackages(
      house,
      files.find(({ path }) => path === "package.json"),
    ),
    ...written.flatMap(checkNames),
    ...written.flatMap(checkLength),
    ...["src/", "test/"].flatMap((tree) => checkLengths(tree, written)),
    ...code.flatMap(checkSyntax),
    ...files.flatMap(checkForLeaks),
    ...files.filter(({ path }) => path === "package-lock.json").flatMap(checkLock),
  ];
}

type CodeFile = SourceFile & Syntax;

/** Every file of src/ stands in a folder of the page; base/ is a closed list. */
function checkPlace({ path }: SourceFile): string[] {
  const folder = folderOf(path);
  if (!PAGE.includes(folder))
    return [`${path}: src/${folder} is not a place of the house (PAGE in test/world/house.ts)`];
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

function checkImport(from: string, specifier: string): string[] {
  if (!specifier.startsWith(".")) return [];
  const to = posix.join(posix.dirname(from), specifier);
  if (!to.startsWith("src/"))
    return isAllowedOutside(from, to) ? [] : [`${from}: src/ imports nothing outside, not ${to}`];
  return [
    ...checkArrow(from, to),
    ...checkInnerArrow(from, to),
    ...checkFront(from, to),
    ...checkAdapter(from, to),
    ...checkBrowser(from, to),
  ];
}

function isAllowedOutside(from: string, to: string): boolean {
  return !from.startsWith("src/") || (isTest(from) && /^test\/(world|data)\//.test(to));
}

function checkArrow(from: string, to: string): string[] {
  if (!from.startsWith("src/")) return [];
  const [above, below] = [folderOf(from), folderOf(to)];
  if (PAGE.indexOf(below) < PAGE.indexOf(above)) return [`${from}: imports point down the page, not up to ${to}`];
  const isOutOfTerminal = above === "terminal" && !TERMINAL_IMPORTS.includes(below);
  return isOutOfTerminal ? [`${from}: terminal/ is a client, it does not import ${to}`] : [];
}

function checkInnerArrow(from: string, to: string): string[] {
  const folder = folderOf(from);
  const page = INNER_PAGES[folder];
  if (page === undefined || folderOf(to) !== folder || !from.startsWith("src/") || isTest(from)) return [];
  const placeOf = (path: string) => {
    const [, , inner = "", below] = path.split("/");
    return inner === `${folder}.ts` ? -1 : page.indexOf(below === undefined ? "." : inner);
  };
  // Its parts import types of the front file only: more would be a cycle.
  const isUp = placeOf(to) >= 0 && placeOf(to) < placeOf(from);
  return isUp ? [`${from}: inside ${folder}/ imports point down (${page.join(", ")}), not up to ${to}`] : [];
}

/** What runs in browsers as well imports nothing that does not. */
function checkBrowser(from: string, to: string): string[] {
  const isIn = from.startsWith("src/") && BROWSER_ROOMS.includes(folderOf(from)) && !isTest(from);
  if (!isIn || NODE_FILES.includes(from) || !NODE_FILES.includes(to)) return [];
  return [`${from}: runs in browsers, and ${to} does not`];
}

function checkLibraries({ path, imports }: CodeFile): string[] {
  return imports
    .map(({ specifier }) => /^node:[^/]+/.exec(specifier)?.[0])
    .filter((library) => library !== undefined)
    .flatMap((library) => {
      const isBrowsers = BROWSER_ROOMS.includes(folderOf(path)) && !NODE_FILES.includes(path);
      if (isBrowsers) return [`${path}: runs in browsers, which have no ${library}`];
      const homes = NODE_HOMES[library];
      const isFree = homes === undefined && HARMLESS_LIBRARIES.includes(library.slice("node:".length));
      const isHome = homes?.some(
        (home) => path === `src/${home}` || (home.endsWith("/") && path.startsWith(`src/${home}`)),
      );
      if (isFree || isHome === true) return [];
      return [`${path}: ${library} has its places (NODE_HOMES in test/world/house.ts), and this is none`];
    });
}

/** Files that need each other to stand before either does. Types are gone by then, and what is loaded later finds both. */
function checkCycles(house: readonly CodeFile[]): string[] {
  const imports = new Map(house.map(({ path, imports }) => [path, valuesOf(path, imports)]));
  const done = new Set<string>();
  const problems: string[] = [];
  function walk(path: string, way: readonly string[]): void {
    const start = way.indexOf(path);
    if (start >= 0) problems.push(`${[...way.slice(start), path].join(" → ")}: a cycle of imports`);
    if (start >= 0 || done.has(path)) return;
    for (const next of imports.get(path) ?? []) walk(next, [...way, path]);
    done.add(path);
  }
  for (const path of imports.keys()) walk(path, []);
  return problems;
}

function valuesOf(path: string, imports: readonly Import[]): string[] {
  return imports
    .filter(({ specifier, kind }) => kind === "value" && specifier.startsWith("."))
    .map(({ specifier }) => posix.join(posix.dirname(path), specifier));
}

function checkFront(from: string, to: string): string[] {
  const folder = folderOf(to);
  const isInside = from.startsWith(`src/${folder}/`);
  const isFront = to === `src/${folder}/${folder}.ts` || to === `src/${folder}`;
  // An attack takes walls apart, so it gets to see them from behind.
  const isAttack = from.startsWith("test/attacks/") && folder === "sandbox";
  const isFree = isAttack || OPEN.includes(folder) || FREE_FILES.includes(to) || adapterOf(to) !== undefined;
  return isInside || isFront || isFree ? [] : [`${from}: from outside, import src/${folder}/${folder}.ts, not ${to}`];
}

function checkAdapter(from: string, to: string): string[] {
  const adapter = adapterOf(to);
  const own = adapterOf(from);
  const isSame = own === adapter || Object.entries(ADAPTERS_OF_ADAPTERS).some(([a, b]) => a === own && b === adapter);
  if (adapter === undefined || isSame) return [];
  const isTestOfItsFolder = isTest(from) && from.startsWith(`src/${folderOf(to)}/`);
  const isWiring =
    WIRING.some((file) => from === `src/${file}`) || /^test\/world\/(yard|database|power-cut-storage)\.ts$/.test(from);
  const isAllowed = isWiring || /^(test\/contracts|test\/attacks|bench)\//.test(from) || isTestOfItsFolder;
  return isAllowed ? [] : [`${from}: an adapter is imported by the wiring and its contract suite only, not ${to}`];
}

/** A package is a named dependency and lives in one folder. */
function checkPackages(house: readonly CodeFile[], manifest: SourceFile | undefined): string[] {
  const dependencies = Object.keys(JSON.parse(manifest?.text ?? "{}").dependencies ?? {});
  const homes = new Map<string, Set<string>>();
  const problems: string[] = [];
  for (const file of house) {
    const names = file.imports.map(({ specifier }) => specifier);
    for (const specifier of names.filter((name) => !/^(\.|node:)/.test(name))) {
      const name = specifier.split("/", specifier.startsWith("@") ? 2 : 1).join("/");
      const isKnown = dependencies.includes(name) || (isTest(file.path) && TEST_PACKAGES.includes(name));
      if (!isKnown) problems.push(`${file.path}: ${name} is not a dependency`);
      if (!isTest(file.path)) homes.set(name, (homes.get(name) ?? new Set()).add(folderOf(file.path)));
    }
  }
  for (const [name, folders] of homes) {
    if (folders.size > 1 && !IMPORTED_ANYWHERE.includes(name))
      problems.push(`${name}: a dependency is imported in one folder, not in ${[...folders].sort().join(", ")}`);
  }
  return problems;
}

function checkNames({ path }: SourceFile): string[] {
  const names = path.split("/").map((name) => name.replace(/(\.(test|spec))?\.\w+$/, ""));
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
  return isFew ? [] : [`${tree}: ${long} of ${lengths.length} files have more than ${MOST_LINES_MAX} lines`];
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

function folderOf(path: string): string {
  return path.split("/")[1] ?? "";
}

function adapterOf(path: string): string | undefined {
  return ADAPTERS.find((adapter) => path.startsWith(adapter));
}

function isTest(path: string): boolean {
  return path.endsWith(".test.ts");
}
