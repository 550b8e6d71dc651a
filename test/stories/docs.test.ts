import assert from "node:assert/strict";
import { existsSync, globSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { PassThrough } from "node:stream";
import { test } from "node:test";
import { Problem } from "../../src/protocol/resources.ts";
import { routes } from "../../src/protocol/routes.ts";
import type { Storage } from "../../src/storage/storage.ts";
import { beginCommand } from "../../src/terminal/terminal.ts";
import type { Language } from "../../src/words/words.ts";
import { type ModelServer, modelServer, says } from "../world/model-server.ts";
import { openTestPipe, runInPipe } from "../world/pty.ts";
import { startYard } from "../world/yard.ts";

// The documents are read by people and by nobody else, unless a test reads them too.

const root = join(import.meta.dirname, "..", "..");
const read = (file: string) => readFileSync(join(root, file), "utf8");
const documents = globSync("{*.md,docs/**/*.md}", { cwd: root }).sort();
const { version } = JSON.parse(read("package.json"));
const readmes: readonly (readonly [language: Language, file: string])[] = [
  ["en", "README.md"],
  ["zh", "README.zh-CN.md"],
];

/** The documents leave `src/` out where a path is one of the product's. */
const isThere = (path: string) => ["", "src"].some((folder) => existsSync(join(root, folder, path)));

test("every relative link of the documents leads somewhere", () => {
  const links = documents.flatMap((file) =>
    [...read(file).matchAll(/\]\((?!https?:)([^)#\s]+)[^)]*\)/g)].map(([, to = ""]) => ({ file, to })),
  );
  assert.ok(links.length > 30, `only ${links.length} links were found`);
  const broken = links.filter(({ file, to }) => !existsSync(join(root, dirname(file), to)));
  assert.deepEqual(broken, []);
});

test("every file that a document names exists", () => {
  // By its folder, or by its ending: a file in a folder that nobody knows is missing, too.
  const isOurs =
    /^(src|test|scripts|bench|bin|docs|config)\/[\w./-]*$|^[\w.-]+\/[\w./-]+\.(ts|mjs|py|md|json|yaml|sh)$/;
  const missing = documents
    .flatMap((file) => spansOf(read(file)).map((path) => ({ file, path })))
    .filter(({ path }) => isOurs.test(path) && !isThere(path));
  assert.deepEqual(missing, []);
});

test("the turn that ARCHITECTURE.md walks through leaves those events, in those commits", async () => {
  const rows = [...read("ARCHITECTURE.md").matchAll(/^\| (\d+) \| `([\w.]+)` \| (.*?) ?\|$/gm)];
  const told: string[][] = [];
  for (const [, , type = "", commit] of rows) {
    if (commit !== "") told.push([]);
    told.at(-1)?.push(type);
  }

  const commits: string[][] = [];
  const wrapStorage = (storage: Storage): Storage => ({
    ...storage,
    append(batch) {
      if (batch.events.length > 0) commits.push(batch.events.map(({ type }) => type));
      return storage.append(batch);
    },
  });
  await using model = await modelServer(timeScript);
  await using yard = await startYard({ model, wrapStorage });
  await yard.ask("what time is it");
  assert.deepEqual(commits, told);
});

test("every agentyard command in the documents is understood", () => {
  const commands = documents
    .flatMap((file) => blocksOf(read(file)))
    .filter(({ info }) => info === "sh")
    .flatMap(({ text }) => text.split("\n"))
    .flatMap((line) => /\bagentyard\b(?!-)(.*)$/.exec(line.replace(/(^|\s)#.*$/, ""))?.[1] ?? []);
  assert.ok(commands.length > 20, `only ${commands.length} commands were found`);
  const refused = commands
    .flatMap((command) => [words(command), [...words(command), "--help"]])
    .map((argv) => ({ argv, said: say(argv, "en") }))
    .filter(({ said }) => said.code !== undefined && said.code !== 0);
  assert.deepEqual(refused, []);
});

test("the object in the READMEs has exactly the keys that run --json prints", async () => {
  await using model = await modelServer(timeScript);
  const printed = shapeOf(await runJson(model));
  for (const [, file] of readmes) {
    const example = blocksOf(read(file)).find(({ info }) => info === "json");
    assert.deepEqual(shapeOf(JSON.parse(example?.text ?? "")), printed, file);
  }
});

for (const [language, file] of readmes) {
  test(`the exit codes in ${file} are those of run --help`, () => {
    const help = [...say(["run", "--help"], language).output.matchAll(/^ +(\d+) {2}(.+)$/gm)];
    const table = [...read(file).matchAll(/^\| (\d+) \| (.+) \|$/gm)];
    const plain = (rows: RegExpExecArray[]) => rows.map(([, code = "", meaning = ""]) => `${code} ${meaning}`);
    assert.ok(table.length > 5);
    assert.deepEqual(plain(table), plain(help));
  });
}

test("both READMEs have the same sections and the same code", () => {
  const [english = "", chinese = ""] = readmes.map(([, file]) => read(file));
  const sections = (page: string) => page.match(/^## /gm)?.length;
  assert.equal(sections(chinese), sections(english));
  // Comments, quoted text and what the product says are in the language of the page.
  const code = (page: string) =>
    blocksOf(page).map(({ info, text }) => {
      const isCode = info === "sh" || info === "env";
      return { info, text: isCode ? text.replace(/\s*#.*$/gm, "").replace(/"[^"]*"/g, '""') : "" };
    });
  assert.deepEqual(code(chinese), code(english));
  for (const page of [english, chinese]) assert.ok(page.split("\n").length <= 200);
});

test("the API page lists every route and the one error shape", () => {
  const page = read("docs/api/README.md");
  const rows = [...page.matchAll(/^\| (GET|POST|PUT|PATCH|DELETE|OPTIONS) \| `(.+)` \| (.+) \|$/gm)].map(
    ([row]) => row,
  );
  const table = Object.values(routes).map(({ method, path, summary }) => `| ${method} | \`${path}\` | ${summary} |`);
  assert.deepEqual(rows.slice(0, -1), table);
  assert.match(rows.at(-1) ?? "", /openapi\.json/);
  const problem = JSON.parse(blocksOf(page).find(({ info }) => info === "json")?.text ?? "");
  assert.deepEqual(Object.keys(problem), Object.keys(Problem.shape));
});

const timeScript = [{ calls: [{ id: "c1", name: "now", arguments: '{"timezone":"UTC"}' }] }, says("It is noon.")];

/** What `run --json` prints. */
async function runJson(model: ModelServer): Promise<unknown> {
  await using yard = await startYard({ model });
  const pipe = openTestPipe("");
  await runInPipe(pipe, yard, { name: "run", output: "json", message: "what time is it" });
  return JSON.parse(pipe.written.output);
}

/** The command line's own answer: help, or why it was not understood. No code: a command that could now begin. */
function say(argv: readonly string[], language: Language): { code: number | undefined; output: string } {
  const [input, output, errors] = [new PassThrough(), new PassThrough(), new PassThrough()];
  const command = beginCommand(argv, { input, output, errors, language, version });
  const text = [output, errors].map((stream) => stream.read()?.toString() ?? "").join("");
  return { code: command.name === "ended" ? command.code : undefined, output: text };
}

/** `run --json "a b" c` → run, --json, a b, c. */
function words(command: string): string[] {
  return [...command.matchAll(/"([^"]*)"|(\S+)/g)].map(([, quoted, plain = ""]) => quoted ?? plain);
}

function blocksOf(page: string): { info: string; text: string }[] {
  return [...page.matchAll(/^```(\w*)\n(.*?)^```$/gms)].map(([, info = "", text = ""]) => ({ info, text }));
}

/** What stands in backquotes, code blocks aside. */
function spansOf(page: string): string[] {
  return [...page.replace(/^```.*?^```$/gms, "").matchAll(/`([^`\n]+)`/g)].map(([, span = ""]) => span);
}

/** Keys all the way down; of a list, those of its first entry. */
function shapeOf(value: unknown): unknown {
  if (Array.isArray(value)) return value.slice(0, 1).map(shapeOf);
  if (typeof value !== "object" || value === null) return "";
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, shapeOf(inner)]));
}
