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

test("every file that ARCHITECTURE.md names exists, and its tree has every folder of src", () => {
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
  assert.deepEqual(places.filter((place) => place.startsWith("src/")).sort(), real.sort());
});

test("one message is walked through in twelve files, each reached from one that was opened before", () => {
  const rows = [...read("ARCHITECTURE.md").matchAll(/^\| (\d+) \| `([\w./-]+\.ts)` \| (.*?) ?\| .+ \|$/gm)];
  const steps = rows.map(([, nr, file = "", way = ""]) => {
    const [, from, word] = /^(\d+)(?:, `(\w+)`)?$/.exec(way) ?? [];
    return { nr: Number(nr), path: join(root, "src", file), from: Number(from), word };
  });
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

  test(`the screen in ${file} is what the terminal says`, () => {
    const { terminal, demo } = wordsFor(language);
    const lines = new Set((blocksOf(read(file)).find(({ info }) => info === "")?.text ?? "").split("\n"));
    const name = language === "zh" ? "小林" : "Ada";
    const said = [
      ...[
        terminal.chat.product({ version }),
        terminal.chat.modelDemo(),
        terminal.chat.hint({ hasKeys: true }),
        demo.introduction,
      ],
      ...[terminal.decision.question({ question: demo.question }), `  ${demo.questionContext}`],
      `  ${terminal.decision.default({ value: demo.questionDefault })}`,
      ...[`${terminal.decision.answer()}${name}`, terminal.decision.answered(), demo.answered(name)],
      ...[demo.abilities.at(0), demo.abilities.at(-2)].map((ability) => `${terminal.rich.said}${ability?.[0]}`),
    ];
    assert.deepEqual(
      said.filter((line) => !lines.has(line)),
      [],
    );
    const status = [...lines].at(-1) ?? "";
    assert.ok(status.endsWith(terminal.rich.hint()), `the last line is the status: ${status}`);
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
