import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { type TestContext, test } from "node:test";
import fc from "fast-check";
import { anyText } from "../../test/world/any-text.ts";
import { systemClock } from "../base/clock.ts";
import { failureWords, languages, type ValueForm, wordsFor } from "../words/words.ts";
import { type ConfigRequest, explainConfig, loadConfig } from "./config.ts";
import { lookFirst } from "./first-look.ts";
import { readYaml } from "./read-yaml.ts";
import { type FlagName, knownVariables, nameOf, type Setting, settings } from "./settings.ts";

const all: readonly Setting<unknown>[] = Object.values(settings);
const places = ["flag", "environment", ".env", "project", "user"] as const;

test("for every setting a flag beats the environment, which beats .env, the project's file and the user's file [P5]", async (t) => {
  const request = clone(t);
  const given = fc.record(Object.fromEntries(places.map((place) => [place, fc.option(fc.nat(5))])));
  await fc.assert(
    fc.asyncProperty(fc.constantFrom(...all), given, async (setting, choices) => {
      const values = valuesOf(setting.kind.expected);
      const options = { flags: {}, env: {}, ".env": "", project: "", user: "" };
      const expected: string[] = [];
      for (const place of places) {
        const choice = choices[place];
        if (choice === null || choice === undefined) continue;
        const value = values[choice % values.length] ?? "";
        if (give(options, place, setting, value)) expected.push(value);
      }
      const rows = explainConfig(await load(request, options));
      const row = rows.find(({ name }) => name === nameOf(setting));
      if (expected[0] !== undefined) assert.equal(row?.value, setting.isSecret ? "set" : expected[0]);
      else assert.ok(row === undefined || row.source === "default");
    }),
    { numRuns: 150 },
  );
});

test("whatever is written, the answer is a configuration or mistakes with words in both languages [P5][P4]", async (t) => {
  const request = clone(t);
  const names = fc.constantFrom(...knownVariables());
  const text = fc.oneof(fc.string(), anyText(), fc.constantFrom("0", "-1", "true", "http://", "~"));
  const env = fc.dictionary(names, text, { maxKeys: 5 });
  const pieces = ["loop:", "\n", "  ", "steps_max", ": ", "- ", "5", "*a", "&a ", "{", "]", '"', "#", "? ", "|"];
  const piece = fc.constantFrom(...pieces);
  const yaml = fc.oneof(
    fc.string(),
    fc.array(piece).map((pieces) => pieces.join("")),
  );
  await fc.assert(
    fc.asyncProperty(env, yaml, fc.string(), async (variables, project, dotEnv) => {
      write(request, ".env", dotEnv);
      write(request, "config/agentyard.yaml", project);
      const loaded = await loadConfig({ ...request, env: variables });
      for (const failure of loaded.ok ? [] : loaded.failure)
        for (const language of languages) {
          const [what, next] = failureWords(wordsFor(language), failure);
          assert.ok(what.length > 3 && next.length > 3 && !`${what}${next}`.includes("undefined"));
        }
    }),
    { numRuns: 200 },
  );
});

test("the settings have names of their own and defaults that fit [P5]", () => {
  const keys = all.flatMap(({ key }) => key ?? []);
  const variables = all.flatMap((setting) => setting.variables);
  assert.deepEqual([new Set(keys).size, new Set(variables).size], [keys.length, variables.length]);
  for (const { kind, default: value } of all)
    if (value !== undefined) assert.deepEqual(kind.parse(value, { base: "/", home: "/" }), value);
});

test("a password within an address is a secret, beside the user and in the query, as it is written and as it is meant [P5][Q1]", async (t) => {
  const request = clone(t);
  const secretsWith = async (url: string) => {
    const loaded = await loadConfig({ ...request, env: { AGENTYARD_DATABASE_URL: url } });
    return loaded.ok ? loaded.value.secrets : assert.fail(JSON.stringify(loaded.failure));
  };
  const beside = "postgres://me:very%40secret@127.0.0.1/yard";
  assert.deepEqual(await secretsWith(beside), [beside, "very%40secret", "very@secret"]);
  const asked = "postgres:///yard?host=/run&password=very%40se+cret&user=me";
  assert.deepEqual(await secretsWith(asked), [asked, "very%40se+cret", "very@se+cret", "very@se cret"]);
  assert.deepEqual(await secretsWith("postgres://me@127.0.0.1/yard"), []);
});

test("the key of stored secrets has 32 characters or more, and a folder of somebody else's does not choose it [P5][Q1]", async (t) => {
  const request = clone(t);
  const set = (key: string) => loadConfig({ ...request, env: { AGENTYARD_KEY: key } });
  const short = await set("x".repeat(31));
  assert.match(JSON.stringify(short), /AGENTYARD_KEY.*at least 32 characters/);
  assert.equal(JSON.stringify(short).includes("x".repeat(31)), false, "what was written there may be half of a secret");
  const long = await set("x".repeat(32));
  assert.equal(long.ok && long.value.secretKey, "x".repeat(32));
  assert.ok(long.ok && long.value.secrets.includes("x".repeat(32)), "and no log line shows it");

  write(request, ".env", `AGENTYARD_KEY=${"y".repeat(32)}\n`);
  const own = await loadConfig(request);
  assert.equal(own.ok && own.value.secretKey, "y".repeat(32));
  const elsewhere = await loadConfig({ ...request, programDir: join(request.cwd, "node_modules", "agentyard") });
  assert.equal(elsewhere.ok && elsewhere.value.secretKey, undefined);
});

type Options = {
  flags: Partial<Record<FlagName, string>>;
  env: Record<string, string>;
  ".env": string;
  project: string;
  user: string;
};

/** False: this setting cannot be given there. */
function give(options: Options, place: (typeof places)[number], setting: Setting<unknown>, value: string): boolean {
  const variable = setting.variables.at(-1) ?? "";
  const written = /[,[]/.test(value) ? JSON.stringify(value) : value;
  const yaml = (setting.key ?? "").split(".").reduceRight((inner, key) => `{ ${key}: ${inner} }`, written);
  if (place === "flag" && setting.flag !== undefined) options.flags[setting.flag] = value;
  else if (place === "environment") options.env[variable] = value;
  else if (place === ".env") options[".env"] = `# a comment\n${variable}=${value}\n`;
  else if ((place === "project" || place === "user") && setting.key !== undefined) options[place] = yaml;
  else return false;
  return true;
}

function valuesOf(expected: ValueForm): readonly string[] {
  switch (expected.form) {
    case "number":
    case "whole_number":
      return numbersWithin(expected.min, expected.max).map(String);
    case "choice":
      return expected.choices;
    case "address":
      return expected.example.startsWith("unix:")
        ? ["unix:///run/a.sock", "unix:///run/b.sock", "tcp://c.example:2375"]
        : ["http://a.example:1", "http://b.example:2", "https://c.example"];
    case "prices":
      return ["m 1 2", "m 1 2 0.5, other* 0 0"];
    case "duration":
      return ["1ms", "250ms", "60000ms"];
    case "origins":
      return ["https://a.example", "http://b.example:2"];
    case "networks":
      return ["10.0.0.0/8", "127.0.0.1"];
    case "sub_path":
      return ["/one", "/two/three"];
    case "host":
      return ["127.0.0.1", "0.0.0.0", "localhost"];
    case "host_port":
      return ["127.0.0.1:7421", "[::1]:0", "yard-0.example:7421"];
    case "toggle":
      return ["true", "false"];
    case "path":
      return ["/one", "/two", "/three/four", "/five"];
    case "database":
      return ["postgres://a.example/one", "postgresql://b.example/two?schema=three"];
    case "seal_key":
      return ["one", "two", "three"].map((word) => word.padEnd(32, "x"));
    case "key":
    case "list":
    case "name":
    case "text":
      return ["one", "two", "three"];
  }
}

async function load(request: ConfigRequest, { flags, env, ...files }: Options) {
  write(request, ".env", files[".env"]);
  write(request, "config/agentyard.yaml", files.project);
  write(request, "home/.config/agentyard/agentyard.yaml", files.user);
  const loaded = await loadConfig({ ...request, flags, env });
  assert.ok(loaded.ok, JSON.stringify(loaded));
  return loaded.value;
}

function clone(t: TestContext): ConfigRequest {
  const dir = mkdtempSync(join(tmpdir(), "agentyard-config-"));
  t.after(() => rmSync(dir, { recursive: true }));
  const request = { flags: {}, env: {}, cwd: dir, homeDir: join(dir, "home"), programDir: dir };
  write(request, "package.json", '{ "name": "agentyard" }');
  return request;
}

function write({ cwd }: ConfigRequest, name: string, text: string): void {
  mkdirSync(dirname(join(cwd, name)), { recursive: true });
  writeFileSync(join(cwd, name), text);
}

/** Five of them; small steps where there is little between. */
function numbersWithin(min: number, max: number): number[] {
  const step = Math.min(1, (max - min) / 8);
  return [min, min + step, min + 2 * step, max - step, max];
}

type Files = { readonly ".env"?: string; readonly project?: string; readonly user?: string };
type Given = { readonly files?: Files; readonly env?: Record<string, string>; readonly flags?: object };

function requestWith(t: TestContext, { files = {}, env = {}, flags = {} }: Given) {
  const folder = mkdtempSync(join(tmpdir(), "agentyard-look-"));
  t.after(() => rmSync(folder, { recursive: true }));
  const homeDir = join(folder, "home");
  const cwd = join(folder, "project");
  mkdirSync(join(homeDir, ".config", "agentyard"), { recursive: true });
  mkdirSync(join(cwd, "config"), { recursive: true });
  if (files[".env"] !== undefined) writeFileSync(join(cwd, ".env"), files[".env"]);
  if (files.project !== undefined) writeFileSync(join(cwd, "config", "agentyard.yaml"), files.project);
  if (files.user !== undefined) writeFileSync(join(homeDir, ".config", "agentyard", "agentyard.yaml"), files.user);
  return { flags, env, cwd, homeDir, programDir: join(folder, "node_modules", "agentyard") };
}

test("what is looked at first is what the settings say when all of them are read [P5][U1]", async (t) => {
  const given: Given[] = [
    {},
    { env: { LANG: "zh_CN.UTF-8" } },
    { env: { LANG: "zh_CN.UTF-8", LC_ALL: "en_GB" } },
    { env: { AGENTYARD_TERMINAL: "Plain", AGENTYARD_DATA: "here" } },
    { flags: { data: "../there", lang: "zh" }, env: { AGENTYARD_DATA: "here" } },
    { files: { ".env": "AGENTYARD_TERMINAL=screen_reader\nAGENTYARD_LANG=Chinese\n" } },
    { files: { project: "loop:\n  steps_max: 5\nterminal:\n  surface: plain\n" } },
    { files: { project: "data: ./kept\n", ".env": "AGENTYARD_DATA=~/other\n" }, env: { AGENTYARD_CONFIG: "." } },
    { files: { project: "data: ./kept\n" }, env: { AGENTYARD_DATA: "mine" } },
    { files: { user: "lang: zh\ndata: ~/yard\n", project: "# nothing\n" } },
    { files: { user: "lang: zh\n", project: "lang: en\n" } },
  ];
  for (const one of given) {
    const request = requestWith(t, one);
    const all = await loadConfig(request);
    assert.ok(all.ok);
    const { language, terminal, paths } = all.value;
    assert.deepEqual(
      await lookFirst(request),
      { language, surface: terminal.surface, dataDir: paths.dataDir },
      JSON.stringify(one),
    );
  }
});

test("where one of them is wrong, nothing is relied upon: reading all of them tells what is wrong [P5]", async (t) => {
  for (const one of [
    { env: { AGENTYARD_TERMINAL: "beautiful" } },
    { env: { AGENTYARD_LANG: "fr" } },
    { files: { project: "terminal:\n  surface: [rich]\n" } },
    { files: { project: "terminal: rich\n" } },
    { files: { user: "lang: {\n" } },
    { files: { ".env": "AGENTYARD_LANG=\0\n" } },
    { files: { project: "data: ./kept\n" } },
    { files: { ".env": "AGENTYARD_DATA=~/other\n" } },
  ]) {
    const request = requestWith(t, one);
    assert.equal((await loadConfig(request)).ok, false, JSON.stringify(one));
    assert.equal(await lookFirst(request), undefined, JSON.stringify(one));
  }
});

test("YAML that others wrote comes back as plain values [T4]", async () => {
  const text = "openapi: 3.1.0\nday: 2026-01-01\nlist: [1, true, null, 一]\ntwice: &a { x: 1 }\nagain: *a\n";
  assert.deepEqual(await readYaml(text, systemClock), {
    ok: true,
    value: { openapi: "3.1.0", day: "2026-01-01", list: [1, true, null, "一"], twice: { x: 1 }, again: { x: 1 } },
  });
});

const levels = Array.from(
  { length: 12 },
  (_, at) =>
    `l${at}: &l${at} [${Array(10)
      .fill(at === 0 ? "x" : `*l${at - 1}`)
      .join(", ")}]`,
);
const hostile: [what: string, text: string][] = [
  ["broken", "a: [1, 2"],
  ["a value in many places", levels.join("\n")],
  ["very deep", `a: ${"[".repeat(20_000)}`],
  ["the same key twice", "a: 1\na: 2"],
];
for (const [what, text] of hostile)
  test(`YAML that is ${what} is refused in words, and the next one is read [T4]`, async () => {
    const read = await readYaml(text, systemClock);
    assert.equal(read.ok, false);
    assert.ok(!read.ok && read.failure.length > 0 && read.failure.length <= 200, JSON.stringify(read).slice(0, 300));
    assert.deepEqual(await readYaml("a: 1", systemClock), { ok: true, value: { a: 1 } });
  });
