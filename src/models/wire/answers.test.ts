import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { NeutralRequest } from "../neutral.ts";
import { chatAnswer } from "../openai/answer.ts";
import { writeTool } from "../openai/request.ts";
import { defaultProfile } from "../profile.ts";
import type { ModelAnswer } from "../provider.ts";
import { createAnswer } from "./answer.ts";
import { readArguments } from "./arguments.ts";
import { createBodyReader } from "./body.ts";
import { createCallsInText } from "./calls-in-text.ts";
import { createToolWriter } from "./sent-tools.ts";
import { createTagFilter } from "./think-tags.ts";

const cases: [what: string, received: string, usable: string | undefined][] = [
  ["nothing", "", "{}"],
  ["blanks", " \n", "{}"],
  ["null", "null", "{}"],
  ["an empty string in quotes", '""', "{}"],
  ["an object, kept byte for byte", '{ "b":1.0, "a":"\\u00e9" }', '{ "b":1.0, "a":"\\u00e9" }'],
  ["an object in a string", '"{\\"a\\":1}"', '{"a":1}'],
  ["an object in a string in a string", '"\\"{}\\""', undefined],
  ["a text in a string", '"hello"', undefined],
  ["a list", "[1]", undefined],
  ["a number", "7", undefined],
  ["a line break inside a string", '{"a":"x\ny\t"}', '{"a":"x\\ny\\t"}'],
  ["a line break inside a string inside a string", '"{\\"a\\":\\"x\\ny\\"}"', '{"a":"x\\ny"}'],
  ["an object and itself", '{"a":1} {"a":1}', '{"a":1}'],
  ["an object three times, spaced otherwise", '{"a":1}{"a": 1}\n{"a":1}', '{"a":1}'],
  ["two objects", '{"a":1}{"a":2}', undefined],
  ["an empty object before another", '{}{"a":2}', undefined],
  ["surplus closers", '{"a":[1]}]}', '{"a":[1]}'],
  ["end tags", '{"a":1}</tool_call></function>', '{"a":1}'],
  ["special tokens", '{"a":1}<|tool_call_end|>', '{"a":1}'],
  ["a closing fence", '{"a":1}\n```', '{"a":1}'],
  ["a word behind it", '{"a":1} thanks', undefined],
  ["an object that is cut", '{"a":"x', undefined],
  ["an object cut after a closed one", '{"a":{"b":1}', undefined],
  ["single quotes", "{'a':1}", undefined],
  ["a brace inside a string and a surplus one behind", '{"a":"}{\\""}}', '{"a":"}{\\""}'],
];

for (const [what, received, usable] of cases) {
  test(`as arguments, ${what}: ${usable === undefined ? "not usable" : "usable"} [M3]`, () => {
    assert.equal(readArguments(received), usable);
  });
}

test("arguments of any object are never changed [M3]", () => {
  fc.assert(
    fc.property(
      fc.dictionary(fc.string(), fc.jsonValue()),
      (value) => readArguments(JSON.stringify(value)) === JSON.stringify(value),
    ),
  );
});

test("arguments that are cut are never completed [M3]", () => {
  const property = fc.property(fc.dictionary(fc.string(), fc.jsonValue(), { minKeys: 1 }), fc.nat(), (value, at) => {
    const json = JSON.stringify(value);
    return readArguments(json.slice(0, 1 + (at % (json.length - 1)))) === undefined;
  });
  fc.assert(property);
});

function read(written: string, pieceLength: number) {
  let text = "";
  const reader = createCallsInText(
    (name) => name === "read_file",
    (piece) => {
      text += piece;
    },
  );
  for (let at = 0; at < written.length; at += pieceLength) reader.push(written.slice(at, at + pieceLength));
  const calls = reader.end();
  return { text, calls };
}

const call = '{"name":"read_file","arguments":{"path":"a"}}';
const found = [{ name: "read_file", arguments: { path: "a" } }];

const callsInText: [what: string, written: string, text: string, calls: unknown[]][] = [
  ["a tagged call behind words", `Let me look. <tool_call>\n${call}\n</tool_call>`, "Let me look. ", found],
  ["two tagged calls", `<tool_call>${call}</tool_call>\n<tool_call>${call}</tool_call>`, "", [...found, ...found]],
  ["a tagged call that is not closed", `<tool_call>${call}`, "", found],
  ["a fenced call", `\`\`\`json\n${call}\n\`\`\``, "", found],
  ["a bare call", call, "", found],
  ["a bare list of calls", `[${call}]`, "", found],
  ["a call with parameters", '{"name":"read_file","parameters":{"path":"a"}}', "", found],
  ["JSON that is an answer", '{"answer":1}', '{"answer":1}', []],
  ["a call of a tool that was not declared", '{"name":"rm","arguments":{}}', '{"name":"rm","arguments":{}}', []],
  ["a fence with a program", "```js\nrun()\n```", "```js\nrun()\n```", []],
  ["words with half a tag", "a <tool_ b <tool_cal", "a <tool_ b <tool_cal", []],
  ["a tag without a call", "<tool_call>soon</tool_call>", "<tool_call>soon</tool_call>", []],
];

for (const [what, written, text, calls] of callsInText) {
  test(`where calls are looked for in text, ${what} is read the same at every cut [M3]`, () => {
    for (const length of [1, 3, written.length]) assert.deepEqual(read(written, length), { text, calls });
  });
}

type Mode = "leading" | "implicit-open";

function part(mode: Mode, pieces: readonly string[]) {
  const said = { text: "", reasoning: "" };
  const filter = createTagFilter(mode, {
    text(piece) {
      said.text += piece;
    },
    reasoning(piece) {
      said.reasoning += piece;
    },
  });
  for (const piece of pieces) filter.push(piece);
  filter.end();
  return said;
}

const tagged: [Mode, written: string, reasoning: string, text: string][] = [
  ["leading", "<think>\na b\n</think>\n\nc", "a b", "c"],
  ["leading", "\n <think></think>c", "", "c"],
  ["leading", "<think>a</think>b<think>c</think>", "a", "b<think>c</think>"],
  ["leading", "b <think>a</think>", "", "b <think>a</think>"],
  ["leading", "a</think>b", "", "a</think>b"],
  ["leading", "<thinking>", "", "<thinking>"],
  ["leading", "<think>a </thin", "a </thin", ""],
  ["leading", "  x ", "", "  x "],
  ["implicit-open", " a\n</think> b </think>", "a", "b </think>"],
  ["implicit-open", "<think>a</think>b", "a", "b"],
  ["implicit-open", "just text", "", "just text"],
  ["implicit-open", "</think>b", "", "b"],
];

for (const [mode, written, reasoning, text] of tagged) {
  test(`with ${mode} tags ${JSON.stringify(written)} is parted the same at every cut [M3]`, () => {
    assert.deepEqual(part(mode, [written]), { text, reasoning });
    assert.deepEqual(part(mode, [...written]), { text, reasoning });
  });
}

test("however tags and words are mixed and cut, the parts are the same and nothing but blanks and tags is lost [M3]", () => {
  const word = fc.constantFrom("<think>", "</think>", "<", "</th", "think>", " ", "\n", "a", "bc");
  const mode = fc.constantFrom<Mode>("leading", "implicit-open");
  const property = fc.property(mode, fc.array(word), (given, words) => {
    const written = words.join("");
    const whole = part(given, [written]);
    assert.deepEqual(part(given, [...written]), whole);
    assert.deepEqual(part(given, words), whole);
    const bare = (text: string) => text.replace(/<\/?think>|\s/g, "");
    assert.equal(bare(whole.reasoning) + bare(whole.text), bare(written));
  });
  fc.assert(property);
});

const limits = { answerBytesMax: 1_000_000, eventCharactersMax: 1_000_000 };

function readAll(pieces: Iterable<Uint8Array>, request: unknown = { stream: true }, given = limits): ModelAnswer {
  const { profile = defaultProfile, tools = [] } = NeutralRequest.parse(request);
  let made = 0;
  const answer = createAnswer(chatAnswer, {
    profile,
    sent: createToolWriter((tool) => writeTool(tool, profile), profile.maxTools)(tools),
    sink: {},
    makeId: () => {
      made += 1;
      return `made-${made}`;
    },
    estimateInput: () => 1,
  });
  const reader = createBodyReader({
    ...given,
    answer,
    headers: {},
    isFinishOptional: profile.finishOptional,
    now: () => 0,
    onData() {},
  });
  for (const piece of pieces) {
    const result = reader.read(piece);
    if (result !== undefined) return result;
  }
  return reader.end();
}

function* cutAt(bytes: Uint8Array, cuts: readonly number[]): Generator<Uint8Array> {
  let from = 0;
  for (const cut of [...cuts].sort((a, b) => a - b)) {
    yield bytes.subarray(from, cut);
    from = cut;
  }
  yield bytes.subarray(from);
}

const event = (content: string) => `data: {"choices":[{"index":0,"delta":{"content":${JSON.stringify(content)}}}]}\n\n`;
const done = "data: [DONE]\n\n";

test("an answer of exactly the limit is read, one byte more is refused and what came before is kept [M3]", () => {
  const bytes = Buffer.from(event("hi") + done);
  const pieces = [bytes.subarray(0, -3), bytes.subarray(-3)];
  assert.equal(readAll(pieces, undefined, { ...limits, answerBytesMax: bytes.length }).finish, "stop");
  const { text, error } = readAll(pieces, undefined, { ...limits, answerBytesMax: bytes.length - 1 });
  assert.deepEqual([text, error?.kind, error?.retryable], ["hi", "protocol", false]);
  assert.deepEqual([error?.because, error?.message], ["too_long", `> ${bytes.length - 1} B`]);
});

test("an event of exactly the limit is read, one character more is refused [M3]", () => {
  const line = event("a".repeat(200)).trimEnd();
  const pieces = () =>
    cutAt(
      Buffer.from(`${event("hi")}${line}\n\n${done}`),
      Array.from({ length: 60 }, (_, at) => at * 7),
    );
  assert.equal(readAll(pieces(), undefined, { ...limits, eventCharactersMax: line.length }).finish, "stop");
  const { text, error } = readAll(pieces(), undefined, { ...limits, eventCharactersMax: line.length - 20 });
  assert.deepEqual([text, error?.kind, error?.retryable, error?.because], ["hi", "protocol", false, "too_long"]);
});

test("an answer with 256 tool calls is read; with one more it is refused, as the broken streams show [M3]", () => {
  const calls = Array.from({ length: 256 }, (_, index) => ({ index, id: `c${index}`, function: { name: "now" } }));
  const choice = { index: 0, delta: { tool_calls: calls }, finish_reason: "tool_calls" };
  const said = `data: ${JSON.stringify({ choices: [choice] })}\n\n${done}`;
  assert.equal(readAll([Buffer.from(said)]).toolCalls.length, 256);
});

test("a document that holds no choice but a message is an error, by its words [M3]", () => {
  const bodies = [
    '{"message":"Rate limit reached"}',
    '{"message":"Something broke"}',
    '[{"detail":"invalid api key"}]',
  ];
  const kinds = bodies.map((body) => readAll([Buffer.from(body)]).error?.kind);
  assert.deepEqual(kinds, ["rate_limit", "overloaded", "auth"]);
});
