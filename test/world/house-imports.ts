import { posix } from "node:path";
import {
  ADAPTERS_OF_ADAPTERS,
  adapterOf,
  BROWSER_ROOMS,
  CLIENT_ROOMS,
  FREE_FILES,
  folderOf,
  HARMLESS_LIBRARIES,
  INNER_PAGES,
  isBelow,
  isTest,
  NODE_FILES,
  NODE_HOMES,
  OPEN,
  PAGE,
  roomOf,
  WIRING,
} from "./house-plan.ts";
import type { Import, Syntax } from "./read-imports.ts";

// Who may take what from whom: the arrows of the house, and what comes from outside of it.

export type CodeFile = { readonly path: string; readonly text: string } & Syntax;

/**
 * Schemas are everywhere; and what people write by hand is YAML in more than one room: settings, heads of skills. Archives are
 * written for downloads and read as documents; pages of the web and of documents are told tag by tag by one parser.
 */
const IMPORTED_ANYWHERE = ["zod", "yaml", "fflate", "htmlparser2"];
const TEST_PACKAGES = ["fast-check"];
/** No dependencies: used where somebody has installed them. */
const OPTIONAL_PACKAGES = ["@node-rs/jieba"];

/** `manifest`: the text of package.json. */
export function inspectImports(code: readonly CodeFile[], manifest: string): string[] {
  const house = code.filter(({ path }) => path.startsWith("src/"));
  return [
    ...code.flatMap((file) => file.imports.flatMap(({ specifier }) => checkImport(file.path, specifier))),
    ...house.filter(({ path }) => !isTest(path)).flatMap(checkLibraries),
    ...checkCycles(house),
    ...checkPackages(house, manifest),
  ];
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
  if (from.startsWith("web/") && (!BROWSER_ROOMS.includes(folderOf(to)) || NODE_FILES.includes(to)))
    return [`${from}: the browser app imports what browsers run, not ${to}`];
  if (!from.startsWith("src/")) return [];
  const [above, below] = [folderOf(from), folderOf(to)];
  if (PAGE.indexOf(below) < PAGE.indexOf(above)) return [`${from}: imports point down the page, not up to ${to}`];
  const isIn = above === below || BROWSER_ROOMS.includes(below);
  return CLIENT_ROOMS.includes(above) && !isIn ? [`${from}: ${above}/ is a client, it does not import ${to}`] : [];
}

function checkInnerArrow(from: string, to: string): string[] {
  const folder = folderOf(from);
  const page = INNER_PAGES[folder];
  if (page === undefined || folderOf(to) !== folder || !from.startsWith("src/") || isTest(from)) return [];
  // Its parts import types of the front file only: more would be a cycle.
  const placeOf = (path: string) => page.findIndex((rooms) => rooms.split(" ").includes(roomOf(path) ?? ""));
  const isUp = placeOf(to) >= 0 && placeOf(to) < placeOf(from);
  return isUp ? [`${from}: inside ${folder}/ imports point down (${page.join(", ")}), not up to ${to}`] : [];
}

/** What runs in browsers as well imports nothing that does not. */
function checkBrowser(from: string, to: string): string[] {
  const isIn = from.startsWith("src/") && BROWSER_ROOMS.includes(folderOf(from)) && !isTest(from);
  if (!isIn || NODE_FILES.includes(from) || !NODE_FILES.includes(to)) return [];
  return [`${from}: runs in browsers, and ${to} does not`];
}

/** Libraries of Node have their places; what Node gives without an import is in no browser either. */
function checkLibraries({ path, imports, namesOfNode, waysAround }: CodeFile): string[] {
  const isOfBrowsers = BROWSER_ROOMS.includes(folderOf(path)) && !NODE_FILES.includes(path);
  const around = waysAround.map((name) => `${path}: ${name} loads around the imports, where no rule sees it`);
  const global = isOfBrowsers ? namesOfNode.map((name) => `${path}: runs in browsers, which have no ${name}`) : [];
  const libraries = imports
    .map(({ specifier }) => /^node:[^/]+/.exec(specifier)?.[0])
    .filter((library) => library !== undefined)
    .flatMap((library) => {
      if (isOfBrowsers) return [`${path}: runs in browsers, which have no ${library}`];
      const homes = NODE_HOMES[library];
      const isFree = homes === undefined && HARMLESS_LIBRARIES.includes(library.slice("node:".length));
      const places = homes?.map((home) => `src/${home}`) ?? [];
      if (isFree || isBelow(path, places)) return [];
      return [`${path}: ${library} has its places (NODE_HOMES in test/world/house-plan.ts), and this is none`];
    });
  return [...around, ...global, ...libraries];
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
  const isSame =
    own === adapter || Object.entries(ADAPTERS_OF_ADAPTERS).some(([a, b]) => from.startsWith(a) && b === adapter);
  if (adapter === undefined || isSame) return [];
  const isTestOfItsFolder = isTest(from) && from.startsWith(`src/${folderOf(to)}/`);
  const isWiring =
    WIRING.some((file) => from === `src/${file}`) || /^test\/world\/(yard|database|power-cut-storage)\.ts$/.test(from);
  const isAllowed =
    isWiring ||
    /^(test\/contracts|test\/attacks|test\/docker|test\/kubernetes|bench)\//.test(from) ||
    isTestOfItsFolder;
  return isAllowed ? [] : [`${from}: an adapter is imported by the wiring and its contract suite only, not ${to}`];
}

/** A package is a named dependency and lives in one folder. */
function checkPackages(house: readonly CodeFile[], manifest: string): string[] {
  const dependencies = Object.keys(JSON.parse(manifest).dependencies ?? {});
  const homes = new Map<string, Set<string>>();
  const problems: string[] = [];
  for (const file of house) {
    const names = file.imports.map(({ specifier }) => specifier);
    for (const specifier of names.filter((name) => !/^(\.|node:)/.test(name))) {
      const name = specifier.split("/", specifier.startsWith("@") ? 2 : 1).join("/");
      const isKnown =
        [...dependencies, ...OPTIONAL_PACKAGES].includes(name) || (isTest(file.path) && TEST_PACKAGES.includes(name));
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
