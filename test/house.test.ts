import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { existsSync, globSync, readdirSync, readFileSync } from "node:fs";
import { join, posix } from "node:path";
import { test } from "node:test";

// The order of the folders: imports point down this list. Single files at the top of src/ are the wiring, above all folders.
const folders = (
  "config terminal http mcp-server loop context operators mcp tools approvals skills lookup documents search extract " +
  "sandbox web workspace models users observe homes log storage client protocol words base"
).split(" ");
/** One file per word, so there is no front file. */
const withoutFront = ["protocol", "base"];
/** What browsers run as well. */
const inBrowsers = ["client", "protocol", "words", "base"];
/** Of these, what runs under Node only. */
const nodeOnly = ["src/client/socket-fetch.ts", "src/client/socket-path.ts", "src/base/ids.ts"];
/** Clients of the API: they know nothing of what is behind it. */
const clients = ["terminal", "mcp-server"];
/** Folders whose sub-folders are adapters, but for those that every adapter uses. */
const ports = ["storage", "models", "sandbox"];
const sharedByAdapters = ["src/sandbox/guest", "src/sandbox/network", "src/models/wire", "src/models/embedding"];
/** Imported past the front file: ports, what a browser or a thread loads alone, and what is read before the first draw. */
const openFiles = [
  ...["models/provider", "models/profile", "sandbox/provider", "extract/extracted", "extract/decode", "extract/magic"],
  ...["client/socket-fetch", "client/socket-path", "words/client-failures", "words/en-approvals", "words/zh-approvals"],
  ...["words/en-team", "words/zh-team", "workspace/files-below", "http/settings", "http/status", "config/first-look"],
  ...["terminal/typed-chat", "terminal/man-page", "terminal/rich/first-prompt", "approvals/pattern", "approvals/rules"],
  ...["approvals/checker-definition", "tools/custom-tool", "web/search-services", "models/embedding/embedding"],
].map((name) => `src/${name}.ts`);
const linesMax = 400;

const root = join(import.meta.dirname, "..");
const sources = globSync("{src,web/src}/**/*.{ts,tsx}", { cwd: root })
  .filter((path) => !isTest(path))
  .map((path) => ({ path, text: readFileSync(join(root, path), "utf8") }));

test("imports point down the list of folders, and a folder is entered by its front file", () => {
  assert.ok(sources.length > 500, `only ${sources.length} files were found`);
  const arrows = sources.flatMap(({ path, text }) =>
    importsOf(path, text).map((to) => ({ path, to, problem: problemOf(path, to) })),
  );
  assert.deepEqual(
    arrows.filter(({ problem }) => problem !== undefined),
    [],
  );
});

test("each rule of imports finds what breaks it", () => {
  const broken: [from: string, to: string, problem: string][] = [
    ["src/storage/rows.ts", "src/loop/loop.ts", "up"],
    ["src/http/http.ts", "src/main.ts", "up"],
    ["src/terminal/terminal.ts", "src/loop/loop.ts", "client"],
    ["src/http/http.ts", "src/loop/step.ts", "front"],
    ["src/log/log.ts", "src/storage/sqlite/sqlite.ts", "adapter"],
    ["src/storage/sqlite/sqlite.ts", "src/storage/postgres/postgres.ts", "adapter"],
    ["web/src/chat/thread.tsx", "src/loop/loop.ts", "browser"],
    ["src/client/client.ts", "src/client/socket-fetch.ts", "browser"],
    ["src/protocol/events.ts", "node:fs", "browser"],
    ["src/loop/loop.ts", "test/world/yard.ts", "test"],
  ];
  assert.deepEqual(
    broken.map(([from, to]) => problemOf(from, to)),
    broken.map(([, , problem]) => problem),
  );
  assert.equal(problemOf("src/loop/loop.ts", "src/storage/storage.ts"), undefined);
  assert.deepEqual(
    importsOf("src/a/b.ts", 'import x from "../c.ts";\nexport { y } from "node:fs";\nawait import("./d.ts")'),
    ["src/c.ts", "node:fs", "src/a/d.ts"],
  );
});

test("every folder of src/ is on the list and has a front file", () => {
  const found = readdirSync(join(root, "src"), { withFileTypes: true }).filter((entry) => entry.isDirectory());
  assert.deepEqual(found.map(({ name }) => name).sort(), folders.toSorted());
  const fronts = folders.filter((folder) => !withoutFront.includes(folder));
  assert.deepEqual(
    fronts.filter((folder) => !existsSync(join(root, "src", folder, `${folder}.ts`))),
    [],
  );
});

test(`no file has more than ${linesMax} lines: look for a second subject in it`, () => {
  const long = sources.filter(({ text }) => text.split("\n").length - 1 > linesMax);
  assert.deepEqual(
    long.map(({ path }) => path),
    [],
  );
});

test("no file names a path of the machine it was written on, or a package registry", () => {
  const listed = existsSync(join(root, ".git"))
    ? execFileSync("git", ["ls-files"], { cwd: root, encoding: "utf8" }).split("\n")
    : sources.map(({ path }) => path);
  const named = listed
    .filter((path) => path !== "" && existsSync(join(root, path)))
    .map((path) => ({ path, text: readFileSync(join(root, path), "utf8") }))
    .filter(({ text }) => !text.includes("\0"))
    .flatMap(({ path, text }) => {
      const machine = /(?:^|[^\w.\]}])(\/(?:work|root|home|Users)\/[\w.-]+)/.exec(text)?.[1];
      const registry = /registry\.(?:npmjs|yarnpkg|npmmirror)\.\w+|"resolved": "https?:/.exec(text)?.[0];
      return machine === undefined && registry === undefined ? [] : [`${path}: ${machine ?? registry}`];
    });
  assert.deepEqual(named, []);
});

/** npm leaves out optional packages that it cannot find, and `npm ci` then refuses to start. */
test("the lock file has every optional package that is asked for", () => {
  const lock: { packages: Record<string, { optionalDependencies?: Record<string, string> }> } = JSON.parse(
    readFileSync(join(root, "package-lock.json"), "utf8"),
  );
  const locked = new Set(Object.keys(lock.packages).map((key) => key.replace(/^.*node_modules\//, "")));
  const wanted = Object.values(lock.packages).flatMap((one) => Object.keys(one.optionalDependencies ?? {}));
  assert.deepEqual(
    wanted.filter((name) => !locked.has(name)),
    [],
  );
});

function importsOf(path: string, text: string): string[] {
  const specifiers = text.matchAll(/(?:\bfrom|\bimport)\s*\(?\s*(["'`])([^"'`\n]+)\1/g);
  return [...specifiers].map(([, , specifier = ""]) =>
    specifier.startsWith(".") ? posix.join(posix.dirname(path), specifier) : specifier,
  );
}

/** The name of the rule that an import breaks. */
function problemOf(from: string, to: string): string | undefined {
  const isForBrowsers = (path: string) =>
    path.startsWith("web/src/") || (inBrowsers.includes(folderOf(path)) && !nodeOnly.includes(path));
  if (isForBrowsers(from) && (to.startsWith("node:") || (to.startsWith("src/") && !isForBrowsers(to))))
    return "browser";
  if (from.startsWith("src/") && to.startsWith("test/")) return "test";
  if (!to.startsWith("src/")) return undefined;
  const [above, below] = [folderOf(from), folderOf(to)];
  if (from.startsWith("src/") && folders.indexOf(above) > folders.indexOf(below)) return "up";
  if (clients.includes(above) && above !== below && !inBrowsers.includes(below)) return "client";
  const [own, adapter] = [adapterOf(from), adapterOf(to)];
  // The wiring knows the adapters, and those of one kind share what stands beside them.
  if (adapter !== undefined && adapter !== own && above !== "") return "adapter";
  const isWiring = above === "" && ports.includes(below);
  const isFront = isWiring || to === `src/${below}/${below}.ts` || below === "" || withoutFront.includes(below);
  return isFront || above === below || adapter !== undefined || openFiles.includes(to) ? undefined : "front";
}

/** Empty for the wiring: the files at the top of src/. */
function folderOf(path: string): string {
  return /^src\/([^/]+)\//.exec(path)?.[1] ?? "";
}

function adapterOf(path: string): string | undefined {
  const [, adapter, folder = ""] = /^(src\/([^/]+)\/[^/]+)\//.exec(path) ?? [];
  return adapter === undefined || !ports.includes(folder) || sharedByAdapters.includes(adapter) ? undefined : adapter;
}

function isTest(path: string): boolean {
  return /\.(?:test|testing)\.tsx?$/.test(path);
}
