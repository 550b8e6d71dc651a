import { posix } from "node:path";

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
  "context tools approvals tasks skills mcp operators documents " +
  "sandbox workspace models users observe " +
  "log storage " +
  "client protocol words base"
).split(" ");
/** Folders without a front file: one file per word. */
const OPEN = ["protocol", "base"];
/**
 * Ports, what of the client runs under Node only and must not reach a browser, and what a thread loads that should start
 * without everything else.
 */
const FREE_FILES = [
  "src/models/provider.ts",
  "src/models/profile.ts",
  "src/client/socket-fetch.ts",
  "src/client/socket-path.ts",
  "src/sandbox/provider.ts",
  "src/workspace/files-below.ts",
];
const ADAPTERS = [
  "src/storage/sqlite/",
  "src/models/openai/",
  "src/models/demo/",
  "src/sandbox/local/",
  // What runs inside a guest, and how one talks with it: shared by all providers.
  "src/sandbox/guest/",
];
const TERMINAL_IMPORTS = ["terminal", "client", "protocol", "words", "base"];
const BASE_FILES = ["result", "clock", "ids", "random", "assert", "nearest", "json", "fault", "background"];
const IMPORTED_ANYWHERE = ["zod"];
const TEST_PACKAGES = ["fast-check"];
const LINES_MAX = 400;
const WORDS_TO_AVOID = ["util", "utils", "helper", "helpers", "manager", "common", "misc"];

/** All rules, each on its own. The answer has a sentence for each problem; empty is good. */
export function inspectHouse(files: SourceFile[]): string[] {
  const code = files.filter(({ path }) => /^(src|test|scripts|bench|bin)\/.*\.(ts|mjs)$/.test(path));
  const house = code.filter(({ path }) => path.startsWith("src/"));
  return [
    ...(house.length === 0 ? ["src/: no TypeScript file was found"] : []),
    ...house.flatMap(checkPlace),
    ...code.flatMap((file) => importsOf(file).flatMap((target) => checkImport(file.path, target))),
    ...checkPackages(
      house,
      files.find(({ path }) => path === "package.json"),
    ),
    ...code.flatMap(checkNames),
    ...code.flatMap(checkText),
    ...files.flatMap(checkForLeaks),
    ...files.filter(({ path }) => path === "package-lock.json").flatMap(checkLock),
  ];
}

/** Every file of src/ stands in a folder of the page; base/ is a closed list. */
function checkPlace({ path }: SourceFile): string[] {
  const folder = folderOf(path);
  if (!PAGE.includes(folder))
    return [`${path}: src/${folder} is not a place of the house (PAGE in test/world/house.ts)`];
  const isNewInBase = folder === "base" && !BASE_FILES.includes(posix.basename(path).replace(/(\.test)?\.ts$/, ""));
  return isNewInBase ? [`${path}: base/ is a closed list (${BASE_FILES.join(", ")})`] : [];
}

function checkImport(from: string, specifier: string): string[] {
  if (!specifier.startsWith(".")) return [];
  const to = posix.join(posix.dirname(from), specifier);
  if (!to.startsWith("src/"))
    return isAllowedOutside(from, to) ? [] : [`${from}: src/ imports nothing outside, not ${to}`];
  return [...checkArrow(from, to), ...checkFront(from, to), ...checkAdapter(from, to)];
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
  const isOfAnAdapter = adapterOf(from) !== undefined && folderOf(from) === folderOf(to);
  if (adapter === undefined || isOfAnAdapter) return [];
  const isTestOfItsFolder = isTest(from) && from.startsWith(`src/${folderOf(to)}/`);
  const isWiring = WIRING.some((file) => from === `src/${file}`) || /^test\/world\/(yard|real-sandbox)\.ts$/.test(from);
  const isAllowed = isWiring || /^(test\/contracts|test\/attacks|bench)\//.test(from) || isTestOfItsFolder;
  return isAllowed ? [] : [`${from}: an adapter is imported by the wiring and its contract suite only, not ${to}`];
}

/** A package is a named dependency and lives in one folder. */
function checkPackages(house: SourceFile[], manifest: SourceFile | undefined): string[] {
  const dependencies = Object.keys(JSON.parse(manifest?.text ?? "{}").dependencies ?? {});
  const homes = new Map<string, Set<string>>();
  const problems: string[] = [];
  for (const file of house) {
    for (const specifier of importsOf(file).filter((name) => !/^(\.|node:)/.test(name))) {
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
  const names = path.split("/").map((name) => name.replace(/(\.(test|spec))?\.(ts|mjs)$/, ""));
  const badCase = names.filter((name) => !/^[a-z0-9]+(-[a-z0-9]+)*$/.test(name));
  const avoided = names.flatMap((name) => name.split("-")).filter((word) => WORDS_TO_AVOID.includes(word));
  return [
    ...badCase.map((name) => `${path}: names are in kebab-case, not ${name}`),
    ...avoided.map((word) => `${path}: "${word}" says nothing; each function goes home`),
  ];
}

function checkText({ path, text }: SourceFile): string[] {
  const problems: string[] = [];
  const lines = text.replace(/\n$/, "").split("\n").length;
  if (lines > LINES_MAX && !path.startsWith("src/words/"))
    problems.push(`${path}: ${lines} lines, more than ${LINES_MAX}`);
  // The test runner and knip load a reporter by its default export.
  const hasDefault = /^export default\b|^export \{[^}]*\bas default\b/m.test(text);
  if (hasDefault && !path.startsWith("scripts/reporters/")) problems.push(`${path}: no default exports`);
  return problems;
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

const IMPORT = /^(?:import|export)\b[^'"`;]*?\bfrom\s*"([^"]+)"|^import\s*"([^"]+)"|\bimport\(\s*"([^"]+)"\s*\)/gm;

function importsOf({ text }: SourceFile): string[] {
  return [...text.matchAll(IMPORT)].map((match) => match[1] ?? match[2] ?? match[3] ?? "");
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
