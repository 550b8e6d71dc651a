import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { existsSync, globSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, relative } from "node:path";
import { PassThrough } from "node:stream";
import { test } from "node:test";
import { Problem } from "../../src/protocol/resources.ts";
import { routes } from "../../src/protocol/routes.ts";
import type { Storage } from "../../src/storage/storage.ts";
import { beginCommand } from "../../src/terminal/terminal.ts";
import { type Language, wordsFor } from "../../src/words/words.ts";
import { INNER_PAGES, PAGE } from "../world/house-plan.ts";
import { type ModelServer, modelServer, says } from "../world/model-server.ts";
import { startYard } from "../world/yard.ts";

// The documents are read by people and by nobody else, unless a test reads them too.

const root = join(import.meta.dirname, "..", "..");
const read = (file: string) => readFileSync(join(root, file), "utf8");
const documents = globSync("{*.md,docs/**/*.md}", { cwd: root }).sort();
const { version, dependencies } = JSON.parse(read("package.json"));
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
    .filter((file) => file !== "docs/requirements.md")
    .flatMap((file) => spansOf(read(file)).map((path) => ({ file, path })))
    .filter(({ path }) => isOurs.test(path) && !isThere(path));
  assert.deepEqual(missing, []);
});

test("every file that ARCHITECTURE.md names exists, and its tree has every folder of src, in the order that imports are held to", () => {
  const page = read("ARCHITECTURE.md");
  const paths = spansOf(page).filter((span) => /^[\w.-]+\/[\w./-]*$/.test(span) && !span.startsWith("api/"));
  assert.ok(paths.length > 40, `only ${paths.length} paths were found`);
  assert.deepEqual(
    paths.filter((path) => !isThere(path)),
    [],
  );

  const tree = blocksOf(page).find(({ text }) => text.startsWith("src/main.ts"))?.text ?? "";
  const places = [...tree.matchAll(/^(\S+)/gm)].map(([, place = ""]) => place);
  assert.deepEqual(
    places.filter((place) => !existsSync(join(root, place))),
    [],
  );
  const entries = readdirSync(join(root, "src"), { withFileTypes: true });
  const real = entries.map((entry) => `src/${entry.name}${entry.isDirectory() ? "/" : ""}`);
  const ofSource = places.filter((place) => place.startsWith("src/"));
  assert.deepEqual(ofSource.toSorted(), real.sort());
  // "Imports point down the page" is held against this list: in another order the sentence would be untrue.
  assert.deepEqual(
    ofSource.map((place) => place.replace(/^src\/|\/$/g, "")),
    PAGE,
  );
});

for (const walk of ["One message, twelve files", "Several servers"])
  test(`${walk}: a walk through at most twelve files, each reached from one that was opened before`, () => {
    const steps = stepsOf(walk);
    assert.ok(steps.length > 5 && steps.length <= 12, `${steps.length} files`);
    assert.equal(new Set(steps.map(({ path }) => path)).size, steps.length);
    const lost = steps.filter(({ nr, path, from, word }, index) => {
      if (nr !== index + 1) return true;
      if (index === 0) return false;
      const before = steps[from - 1]?.path;
      if (before === undefined || from >= nr) return true;
      const [there, here] = [readFileSync(before, "utf8"), readFileSync(path, "utf8")];
      if (word !== undefined) return ![there, here].every((text) => new RegExp(`\\b${word}\\b`).test(text));
      return !there.includes(`from "${specifierOf(before, path)}"`);
    });
    assert.deepEqual(lost, []);
  });

test("a message goes down the page to the database, also inside the rooms, and what is streamed of it goes down from the top again [P4]", () => {
  const steps = stepsOf("One message, twelve files");
  const places = steps.map(({ file }) => placeOnPage(file));
  assert.ok(
    places.every((place) => place >= 0),
    JSON.stringify(places),
  );
  const [down, again] = [places.slice(0, 9), places.slice(9)];
  assert.deepEqual(
    down,
    down.toSorted((one, other) => one - other),
  );
  assert.deepEqual(
    again,
    again.toSorted((one, other) => one - other),
  );
  assert.deepEqual(new Set(steps.slice(9).map(({ file }) => file.split("/", 1)[0])), new Set(["http"]));
});

/** Front files stand above the rooms of their folder. */
function placeOnPage(file: string): number {
  const [room = "", ...inner] = file.split("/");
  if (inner[0] === `${room}.ts`) return PAGE.indexOf(room) * 100;
  const rooms = INNER_PAGES[room]?.map((line) => line.split(" ")) ?? [["."]];
  const [own = "."] = inner.length > 1 ? inner : [];
  return PAGE.indexOf(room) * 100 + 1 + rooms.findIndex((line) => line.includes(own));
}

test("what a row of that walk names in brackets is imported by its file, by the one before it, or by what it named already [P4]", () => {
  const steps = stepsOf("One message, twelve files");
  const leaning = steps.flatMap(({ nr, path, from, told }) => {
    const named = [...told.matchAll(/\(`([\w./-]+\.ts)`/g)].map(([, on = ""]) => join(root, "src", on));
    const before = steps[from - 1]?.path ?? path;
    return named.map((on, index) => ({ nr, on, by: [path, before, ...named.slice(0, index)] }));
  });
  assert.ok(leaning.length > 5, `only ${leaning.length} were found`);
  const lost = leaning.filter(
    ({ on, by }) => !by.some((path) => readFileSync(path, "utf8").includes(`from "${specifierOf(path, on)}"`)),
  );
  assert.deepEqual(lost, []);
});

test("the walk through a turn says what takes up a conversation calls [P4]", () => {
  const step = /\*\*Taking up\.\*\*[^*]+/.exec(read("ARCHITECTURE.md"))?.[0] ?? "";
  const [tenure, log, history] = ["loop/tenure.ts", "log/log.ts", "log/history.ts"];
  for (const file of [tenure, log, history]) assert.ok(spansOf(step).includes(file), file);
  assert.match(read(`src/${tenure}`), /parts\.log\.tree\(/);
  assert.match(read(`src/${log}`), /foldTree[^;]*from "\.\/history\.ts"/);
});

/** The rows of a walk of ARCHITECTURE.md. */
function stepsOf(section: string) {
  const [, text = ""] = read("ARCHITECTURE.md").split(`\n## ${section}\n`);
  const [own = ""] = text.split("\n## ");
  const rows = [...own.matchAll(/^\| (\d+) \| `([\w./-]+\.ts)` \| (.*?) ?\| (.+) \|$/gm)];
  return rows.map(([, nr, file = "", way = "", told = ""]) => {
    const [, from, word] = /^(\d+)(?:, `(\w+)`)?$/.exec(way) ?? [];
    return { nr: Number(nr), file, path: join(root, "src", file), from: Number(from), word, told };
  });
}

test("what a turn can do next is told in ARCHITECTURE.md, all of it", () => {
  const union = /((?:\s+\| "\w+")+);/.exec(read("src/loop/turn.ts"))?.[1] ?? "";
  const step = /\*\*What next\.\*\*[^*]+/.exec(read("ARCHITECTURE.md"))?.[0] ?? "";
  const told = spansOf(step).filter((span) => /^[a-z]+$/.test(span));
  assert.deepEqual(told.sort(), [...union.matchAll(/\w+/g)].map(([name]) => name).sort());
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

for (const [language, file] of readmes) {
  test(`the object in ${file} has exactly the keys that run --json prints`, async () => {
    await using model = await modelServer(timeScript);
    const printed = await runJson(model);
    const example = blocksOf(read(file)).find(({ info }) => info === "json");
    assert.deepEqual(shapeOf(JSON.parse(example?.text ?? "")), shapeOf(printed));
  });

  test(`the exit codes in ${file} are those of run --help`, () => {
    const help = [...say(["run", "--help"], language).output.matchAll(/^ +(\d+) {2}(.+)$/gm)];
    const table = [...read(file).matchAll(/^\| (\d+) \| (.+) \|$/gm)];
    const plain = (rows: RegExpExecArray[]) => rows.map(([, code = "", meaning = ""]) => `${code} ${meaning}`);
    assert.ok(table.length > 5);
    assert.deepEqual(plain(table), plain(help));
  });

  test(`the recording in ${file} shows what the terminal says today`, () => {
    const [, picture = ""] = /\((docs\/pictures\/terminal[^)]*\.svg)\)/.exec(read(file)) ?? [];
    const { terminal } = wordsFor(language);
    const said = [
      ...[terminal.chat.product({ version }), terminal.chat.modelDemo(), terminal.chat.hint({ hasKeys: true })],
      ...[terminal.decision.approved(), terminal.rich.hint()],
    ];
    const shown = new Set([...read(picture).matchAll(/>([^<>]+)<\/text>/g)].map(([, text = ""]) => text));
    assert.deepEqual(
      said.filter((line) => ![...shown].some((text) => text.includes(line))),
      [],
      "node scripts/record-terminal.ts makes it anew",
    );
  });
}

test("the scripting page has the same exit codes, with their reasons", () => {
  const help = [...say(["run", "--help"], "en").output.matchAll(/^ +(\d+) {2}/gm)].map(([, code]) => code);
  const table = [...read("docs/use/scripting.md").matchAll(/^\| (\d+) \| `\w+` \|/gm)].map(([, code]) => code);
  assert.deepEqual(table, help);
});

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

test("the pages that compare us with others say how many attacks are tried, by tens", () => {
  // Written as `number: "12"` of a list, in the name of a test, or first in a row.
  const numbers = globSync("test/attacks/*.ts", { cwd: root }).flatMap((file) =>
    [...read(file).matchAll(/\bnumber: "(\w+)"|"attack (\w+): |^ +\["(\d+)", "/gm)].map(
      ([, listed, named, first]) => listed ?? named ?? first,
    ),
  );
  const tens = Math.floor((new Set(numbers).size - 1) / 10) * 10;
  assert.match(read("docs/compare.md"), new RegExp(`more than ${tens} attacks`));
  assert.match(read("docs/compare.zh-CN.md"), new RegExp(`${tens} 多种攻击`));
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

test("every decision has its four parts, and every runtime dependency its page", () => {
  const pages = globSync("docs/decisions/*.md", { cwd: root }).map((file) => ({ file, text: read(file) }));
  assert.ok(pages.length > 10);
  const parts = ["**Context.**", "**Choice.**", "**Price.**", "**How we would leave.**"];
  const incomplete = pages.filter(({ text }) => !parts.every((part) => text.includes(part)));
  assert.deepEqual(
    incomplete.map(({ file }) => file),
    [],
  );
  const homeless = Object.keys(dependencies).filter(
    (name) => !pages.some(({ text }) => text.includes(`\`${name}\``) && /\bSize\b/.test(text)),
  );
  assert.deepEqual(homeless, []);
});

const timeScript = [{ calls: [{ id: "c1", name: "now", arguments: '{"timezone":"UTC"}' }] }, says("It is noon.")];

/** What the product prints, as its own process with an empty environment. */
async function runJson(model: ModelServer): Promise<unknown> {
  const data = mkdtempSync(join(tmpdir(), "ay-docs-"));
  try {
    const env = { PATH: process.env.PATH, HOME: data, TMPDIR: data, AGENTYARD_DATA: data };
    const slot = { MODEL_BASIC_BASE_URL: model.url, MODEL_BASIC_ID: "test", MODEL_BASIC_CONTEXT_WINDOW: "128000" };
    const argv = [join(root, "bin", "agentyard.mjs"), "run", "--json", "what time is it"];
    const child = spawn(process.execPath, argv, { env: { ...env, ...slot }, stdio: ["ignore", "pipe", "inherit"] });
    return JSON.parse(await child.stdout.setEncoding("utf8").reduce((text, chunk) => text + chunk, ""));
  } finally {
    rmSync(data, { recursive: true, force: true });
  }
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

/** As the first file would import the second. */
function specifierOf(from: string, to: string): string {
  const path = relative(dirname(from), to);
  return path.startsWith(".") ? path : `./${path}`;
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
