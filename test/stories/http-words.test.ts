// Runs alone: its server is started before all tests and closed after them.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { after, test } from "node:test";
import { Problem } from "../../src/protocol/resources.ts";
import { routes } from "../../src/protocol/routes.ts";
import { failureWords, failureWordsOverHttp, type Language, languages, wordsFor } from "../../src/words/words.ts";
import { causesIn } from "../world/causes.ts";
import { startYard } from "../world/yard.ts";

const json = { "content-type": "application/json" };
const yard = await startYard();
after(() => yard[Symbol.asyncDispose]());
await yard.start("c");

test("a field that is missing is said to be missing, and a wrong type is named in the caller's language [P4]", async () => {
  const send = async (language: string, sent: object) => {
    const headers = { ...json, "accept-language": language };
    const body = JSON.stringify(sent);
    const response = await yard.app.request("/api/v1/conversations/c/messages", { method: "POST", headers, body });
    return Problem.parse(await response.json()).params.what;
  };
  assert.deepEqual(
    [await send("en", {}), await send("zh", {}), await send("en", { text: 5 }), await send("zh", { text: 5 })],
    ["body.text: missing", "body.text: 缺少", "body.text: must be a text", "body.text: 应为文本"],
  );
});

test("a place in a stream that nobody gave out is refused in words, not with a pattern [P4][C3]", async () => {
  const response = await yard.app.request("/api/v1/conversations/c/stream?after=zzz");
  const { detail } = Problem.parse(await response.json());
  const what = "The request does not fit: query.after: does not have the form that is needed.";
  const next = "Send an id that you received with an event of this stream, as it was, or leave it out.";
  assert.deepEqual([response.status, detail], [400, `${what} ${next}`]);
});

const causes = causesIn();

/** All that `why` of a code may be; of a code without causes, nothing in particular. */
function causesOf(code: string): readonly string[] {
  const own = causes.filter((cause) => cause.code === code).map(({ why }) => why);
  return own.length === 0 ? ["1"] : own;
}

/** What is said over HTTP. Whatever an entry asks for: only its own words count here. */
function toldOverHttp(
  language: Language,
  codes: readonly string[],
): readonly (readonly [code: string, text: string])[] {
  const params = new Proxy({}, { get: () => "1" });
  return codes.map((code) => [code, failureWordsOverHttp(wordsFor(language), { code, params }).join(" ")]);
}

test("every failure says what to do next, in both languages, here and over HTTP, whatever its cause [P4]", () => {
  // Two that choose their advice by another closed list than that of causes.
  const chosen: Readonly<Record<string, string>> = { rule: "missing", hint: "leave_out" };
  const silent: string[] = [];
  for (const language of languages)
    for (const code of Object.keys(wordsFor(language).failures))
      for (const why of causesOf(code)) {
        const get = (_: object, name: string) => (name === "why" ? why : (chosen[name] ?? "1"));
        const failure = { code, params: new Proxy({}, { get }) };
        for (const words of [failureWords, failureWordsOverHttp]) {
          const [, next] = words(wordsFor(language), failure);
          if (next === undefined || next.trim() === "" || next.includes("undefined"))
            silent.push(`${language} ${code} ${why}: ${next}`);
        }
      }
  assert.deepEqual(silent, []);
});

test("what the doctor finds, what is wrong with a skill and what a machine lacks come with what to do, in both languages [P4][P5]", () => {
  const source = readFileSync(join(import.meta.dirname, "../../src/words/en-skills.ts"), "utf8");
  const [type = ""] = source.split("type Pair");
  const faults = [...type.matchAll(/"(\w+)"/g)].map(([, fault = ""]) => fault);
  assert.ok(faults.length > 25, `only ${faults.length} faults were found`);
  const given = (more: object) => new Proxy({}, { get: (_, name) => Reflect.get(more, name) ?? "1" });
  /** Each has parameters of its own; here only its words count. */
  const told = (say: unknown, params: object): unknown =>
    typeof say === "function" && Reflect.apply(say, undefined, [params]);
  const silent: string[] = [];
  for (const language of languages) {
    const { doctor, skills, sandbox, unknownFailure } = wordsFor(language);
    const found = [
      ...Object.entries(doctor).map(([name, say]) => [name, told(say, given({ living: [] }))] as const),
      ...Object.entries(sandbox.lacks).map(([name, say]) => [name, told(say, given({ install: "" }))] as const),
      ...[...faults, "later"].map((fault) => [fault, told(skills.fault, given({ fault }))] as const),
      ["unknown", unknownFailure({ code: "later" })] as const,
    ];
    const pairs = found.flatMap(([name, pair]) => (Array.isArray(pair) ? [{ name, pair }] : []));
    assert.ok(pairs.length > faults.length + 45, `only ${pairs.length} findings were found`);
    for (const { name, pair } of pairs)
      if (pair.some((text) => !text || /undefined/.test(text))) silent.push(`${language} ${name}: ${pair.join(" ")}`);
  }
  assert.deepEqual(silent, []);
});

test("a failure that only a newer version knows is told by its name, with what to do, in both languages [P4]", () => {
  const told = (language: Language) => failureWords(wordsFor(language), { code: "of_later", params: {} });
  assert.deepEqual(told("en"), [
    "This failed: of_later.",
    "Update this AgentYard: a newer one says so, and has the words for it.",
  ]);
  assert.deepEqual(told("zh"), ["失败：of_later。", "请更新 AgentYard：这是较新的版本写下的，它有相应的说明。"]);
  assert.equal(failureWords(wordsFor("en"), { code: "toString", params: {} })[0], "This failed: toString.");
});

test("no failure tells whoever calls over HTTP to type a command of the terminal [P4]", () => {
  const commands = Object.keys(wordsFor("en").terminal.command.summary).map((name) => `/${name}`);
  const isTyped = (text: string) =>
    commands.some((command) => new RegExp(`(^|[^\\w/}])${command}(?![\\w/-])`).test(text));
  for (const language of languages) {
    const told = toldOverHttp(language, Object.keys(wordsFor(language).failures));
    assert.deepEqual(
      told.filter(([, text]) => isTyped(text)),
      [],
    );
  }
});

test("what only the operator can do is said to be theirs where others read it [P4]", () => {
  const met = new Set(Object.values(routes).flatMap(({ failures }): readonly string[] => failures));
  const always = ["internal", "forbidden_origin", "rate_limited", "sign_in_required", "proxy_unnamed", "scope_missing"];
  const operators =
    /agentyard [a-z]|agentyard\.yaml|hitl_rules|agents\.yaml|\.env\b|--data|sessions\.db|log file|日志文件/;
  for (const [language, named] of [
    ["en", /\boperator\b/i],
    ["zh", /运维人员/],
  ] as const) {
    const told = toldOverHttp(language, [...met, ...always]);
    assert.deepEqual(
      told.filter(([, text]) => operators.test(text) && !named.test(text)),
      [],
    );
  }
});

test("what is the matter with a database is said in the reader's language, with what fits it; SQLite's own words stand beside [P4][Q2]", () => {
  const told = (language: Language, params: object) =>
    failureWords(wordsFor(language), { code: "storage_broken", params }).join(" ");
  const said = "database disk image is malformed (SQLite 11)";
  assert.equal(
    told("zh", { why: "damaged", said }),
    `数据库无法使用：文件已损坏，或者不是数据库（${said}）。 请从备份恢复，或者用 --data 指定其他数据目录。`,
  );
  assert.equal(
    told("en", { why: "foreign" }),
    "The database cannot be used: it belongs to another program. Choose another data directory with --data; that program's file was not touched.",
  );
  // An earlier version wrote a sentence into the log.
  assert.match(
    told("en", { why: "its file was gone" }),
    /cannot be used: its file was gone\. Restore it from a backup/,
  );
});

test("the same system user in the terminal is told its commands still [P4][U1]", async () => {
  const response = await yard.app.request("/api/v1/conversations/nowhere", {}, { door: "socket" });
  assert.equal(
    Problem.parse(await response.json()).detail,
    "Conversation not found: nowhere. List them with /sessions.",
  );
});
