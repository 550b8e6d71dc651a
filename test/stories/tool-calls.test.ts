import assert from "node:assert/strict";
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { z } from "zod";
import { ok } from "../../src/base/result.ts";
import { defineTool, type Tool } from "../../src/tools/tools.ts";
import { withoutMarks } from "../../src/words/words.ts";
import { firstOf, lastOf, report } from "../world/company.ts";
import { all, until } from "../world/events.ts";
import { type Answer, type AskedRequest, calls, modelServer, says, stepOf } from "../world/model-server.ts";
import { undo } from "../world/undo.ts";
import { must, startYard, type TestYard } from "../world/yard.ts";

const threeTouches = [
  calls(["touch", { file: "a", mark: 1 }], ["touch", { file: "b", mark: 2 }], ["touch", { file: "a", mark: 3 }]),
  says("done"),
];

test("calls on the same file run one after another as they were asked for, those on others beside them [L5][W11]", async () => {
  const seen: string[] = [];
  // The first call ends only when the one on the other file has begun.
  const tool = touching(seen, ({ mark }) => until("b has begun", () => mark !== 1 || seen.includes("+b2")));
  await using model = await modelServer(threeTouches);
  await using yard = await startYard({ model, tools: [tool] });
  const { answer, events } = await yard.ask("go");
  assert.deepEqual([answer, seen.filter((mark) => mark[1] === "a")], ["done", ["+a1", "-a1", "+a3", "-a3"]]);
  const results = model.asked[1]?.body.messages.filter((message) => message.role === "tool");
  assert.deepEqual(
    results?.map(({ content }) => content),
    ["touched a1", "touched b2", "touched a3"],
  );
  assert.equal(all(events, "call.finished").length, 3);
});

test("a call behind one that waits for a person waits too, and runs whatever the person says [L5][H2]", async () => {
  for (const verdict of ["approve", "reject"] as const) {
    const seen: string[] = [];
    await using model = await modelServer([
      calls(["touch", { file: "a", mark: 1, asks: true }], ["touch", { file: "a", mark: 2 }]),
      says("done"),
    ]);
    await using yard = await startYard({ model, tools: [touching(seen)] });
    const asked = await yard.ask("go");
    assert.deepEqual([asked.status, seen], ["waiting", []]);
    const { items } = await must(yard.client.call("listDecisions"));
    assert.equal(items.length, 1);
    const params = { id: asked.conversation, decision: items[0]?.id ?? "" };
    await must(yard.client.call("decide", { params, body: { verdict } }));
    const { answer } = await yard.whenAtRest(asked.conversation);
    const ran = verdict === "approve" ? ["+a1", "-a1", "+a2", "-a2"] : ["+a2", "-a2"];
    assert.deepEqual([answer, seen], ["done", ran]);
  }
});

test("after a restart calls on the same file still run in their order [L5][L2]", async (t) => {
  const data = mkdtempSync(join(tmpdir(), "agentyard-order-"));
  t.after(() => rmSync(data, { recursive: true, force: true }));
  const seen: string[] = [];
  const asked = [calls(["touch", { file: "a", mark: 1 }], ["touch", { file: "a", mark: 2 }]), says("done")];
  await using model = await modelServer(asked);
  const stuck = touching(seen, ({ signal }) => new Promise((resolve) => signal.addEventListener("abort", resolve)));
  const id = "order";
  {
    await using yard = await startYard({ model, data, tools: [stuck] });
    await must(yard.client.call("createConversation", { body: { id } }));
    await send(yard, id);
    await until("the first call has begun", () => seen.length === 1);
  }
  seen.length = 0;
  await using yard = await startYard({ model, data, tools: [touching(seen)] });
  const { answer } = await yard.whenAtRest(id);
  assert.deepEqual([answer, seen], ["done", ["+a1", "-a1", "+a2", "-a2"]]);
});

type Touch = { readonly mark: number; readonly signal: AbortSignal };

/** Notes when it begins and ends; calls with the same `file` are to be kept apart. */
function touching(seen: string[], meanwhile: (touch: Touch) => Promise<unknown> = async () => {}): Tool {
  return defineTool({
    name: "touch",
    description: "Touches a file. For tests.",
    class: "idempotent",
    input: z.object({ file: z.string(), mark: z.number(), asks: z.boolean().optional() }),
    order: ({ file }) => file,
    ask: ({ asks }) => (asks ? { kind: "approval", reason: "it touches", risk: "medium" } : undefined),
    async run({ file, mark }, { signal }) {
      seen.push(`+${file}${mark}`);
      await meanwhile({ mark, signal });
      if (signal.aborted) await new Promise(() => {});
      seen.push(`-${file}${mark}`);
      return ok({ text: `touched ${file}${mark}` });
    },
  });
}

async function send(yard: TestYard, id: string): Promise<void> {
  await must(yard.client.call("sendMessage", { params: { id }, body: { text: "go", mode: "queue" } }));
}

test("calls that a server gives the same id are told apart by everything they leave behind: in the next step, in the next turn, and of another agent [L5][A2][Z4]", async () => {
  const keys: string[] = [];
  const note = defineTool({
    ...{ name: "note", description: "Notes. For tests.", class: "idempotent", input: z.object({}) },
    async run(_, { key, memory }) {
      keys.push(key);
      await memory.add(`fact ${keys.length}`);
      return ok({ text: "noted" });
    },
  });
  const same = (name: string, input: object = {}): Answer => ({
    calls: [{ id: "call", name, arguments: JSON.stringify(input) }],
  });
  let worked = 0;
  await using model = await modelServer((request) => {
    if (firstOf(request).startsWith("part"))
      return lastOf(request).role === "user" ? same("note") : says(report("done"));
    worked += 1;
    return (
      [same("note"), same("note"), same("delegate_task", { task: "part 1" }), says("one"), same("note")][worked - 1] ??
      says("two")
    );
  });
  await using yard = await startYard({ model, tools: [note] });
  const { conversation } = await yard.ask("go");
  const { answer, events } = await yard.ask("once more", { conversation });
  const [spawned] = all(events, "agent.spawned");
  const root = `${conversation}/`;
  assert.equal(answer, "two");
  assert.deepEqual(keys, [
    ...[`${root}1/1/call`, `${root}1/2/call`, `${root}${spawned?.id}/1/1/call`, `${root}2/1/call`],
  ]);
  const { items } = await must(yard.client.call("listMemory"));
  assert.deepEqual(
    items.map(({ fact }) => fact),
    ["fact 1", "fact 2", "fact 3", "fact 4"],
  );
});

/** What the result of a call may have in a window of 8,192 tokens. */
const capBytes = 8_000;

const window = { MODEL_BASIC_CONTEXT_WINDOW: "8192" };

const texts: Readonly<Record<string, (size: number) => string>> = {
  a: (size) => "a".repeat(size),
  lines: (size) => Array.from({ length: size / 10 }, (_, n) => `line ${n}`.padEnd(9, ".")).join("\n"),
  han: (size) => "汉字，第一行\n".repeat(size / 14),
  emoji: (size) => "🙂".repeat(size / 4),
};

function sayer(isOutside: boolean) {
  return defineTool({
    name: "say",
    description: "Says much. For tests.",
    class: "pure",
    isOutside,
    input: z.object({ what: z.string(), size: z.number() }),
    run: ({ what, size }) => ok({ text: texts[what]?.(size) ?? "" }),
  });
}

const folderOf = (yard: TestYard, id: string) => join(yard.data, "workspace", id);

for (const [what, size] of [
  ["a", 0],
  ["a", capBytes],
] as const) {
  test(`a result of ${size} bytes is told as it is, and no file is made [Z4]`, async () => {
    await using model = await modelServer([calls(["say", { what, size }]), says("done")]);
    await using yard = await startYard({ model, env: window, tools: [sayer(false)] });
    const { conversation, events } = await yard.ask("go");
    const [{ text, file, blob } = { text: "?", file: "?", blob: "?" }] = all(events, "call.finished");
    assert.deepEqual(
      { text, file, blob },
      { text: size === 0 ? "(done, nothing to show)" : "a".repeat(size), file: undefined, blob: undefined },
    );
    assert.equal(existsSync(join(folderOf(yard, conversation), "temp/results")), false);
  });
}

for (const [what, size, isOutside] of [
  ["a", capBytes + 1, false],
  ["lines", 10 * capBytes, true],
  ["a", 5_000_000, false],
  ["han", 10 * capBytes, false],
  ["emoji", 10 * capBytes, true],
] as const) {
  test(`${size} bytes of ${what}${isOutside ? " from outside" : ""} go to a file, and the call that is named returns what follows [Z4]`, async () => {
    await using model = await modelServer((request) => next(request, ["say", { what, size }]));
    await using yard = await startYard({ model, env: window, tools: [sayer(isOutside)] });
    const { conversation, events } = await yard.ask("go");
    const [cut, read] = all(events, "call.finished");
    assert.deepEqual([cut?.file, cut?.blob], ["temp/results/1-1-say.txt", undefined]);
    const whole = texts[what]?.(size) ?? "";
    assert.equal(readFileSync(join(folderOf(yard, conversation), cut?.file ?? ""), "utf8"), whole);
    assert.ok(weight(cut?.text ?? "") <= capBytes + 1, `${weight(cut?.text ?? "")} bytes are told`);
    const [head = "", tail = ""] = withoutMarks(cut?.text ?? "").split(/\n\[\.\.\. .* \.\.\.\]\n/);
    assert.ok(
      whole.startsWith(head) &&
        whole.trimEnd().endsWith(tail.trimEnd()) &&
        head.length > tail.length &&
        weight(tail) > 2_000,
    );
    assert.equal(cut?.text.isWellFormed(), true);
    assert.equal(cut?.untrusted, isOutside ? true : undefined);
    const following = withoutMarks(read?.text ?? "")
      .replace(/\n\[more: .*\]$/, "")
      .split("\n")
      .slice(1)
      .join("\n");
    assert.ok(following.length > 0 && whole.slice(head.length).startsWith(following), following.slice(0, 80));
    assert.ok(!read?.file, "what is read on fits by itself");
  });
}

test("results of one answer and of later turns have files of their own; undo leaves them and what it gives back alone [Z4][W12]", async () => {
  const long: [string, object] = ["say", { what: "a", size: 50_000 }];
  await using model = await modelServer((request) => (stepOf(request) === 0 ? calls(long, long) : says("done")));
  await using yard = await startYard({ model, env: window, tools: [sayer(false)] });
  const { conversation } = await yard.ask("go");
  const { events } = await yard.ask("again", { conversation });
  assert.deepEqual(
    all(events, "call.finished")
      .map(({ file }) => file)
      .toSorted(),
    [
      "temp/results/1-1-say-2.txt",
      "temp/results/1-1-say.txt",
      "temp/results/2-1-say-2.txt",
      "temp/results/2-1-say.txt",
    ],
  );
  assert.deepEqual(all(events, "file.changed"), [], "nobody did anything to the files");
  const { restored, left } = await undo(yard, conversation);
  assert.deepEqual({ restored, left }, { restored: [], left: [] });
  assert.equal(existsSync(join(folderOf(yard, conversation), "temp/results/2-1-say.txt")), true);
});

test("long results of two workers have files of their own, each with what its worker was told [Z4][A2]", async () => {
  await using model = await modelServer((request) => {
    const [what = ""] = firstOf(request).split(" ");
    if (lastOf(request).role === "tool") return says(report("done"));
    if (what in texts) return calls(["say", { what, size: 50_000 }]);
    return calls(["delegate_task", { task: "a it" }], ["delegate_task", { task: "lines it" }]);
  });
  await using yard = await startYard({ model, env: window, tools: [sayer(false)] });
  const { conversation, events } = await yard.ask("go");
  const workers = all(events, "call.finished").filter(({ agent }) => agent !== undefined);
  const kept = workers.map(({ text, file = "" }) => {
    const whole = readFileSync(join(folderOf(yard, conversation), file), "utf8");
    return [text.slice(0, 6), [whole.slice(0, 6), whole.length]];
  });
  assert.deepEqual(Object.fromEntries(kept), { aaaaaa: ["aaaaaa", 50_000], "line 0": ["line 0", 49_999] });
});

test("where a file cannot be written the result is kept with the log, and no file is promised [Z4]", async () => {
  await using model = await modelServer([calls(["say", { what: "a", size: 50_000 }]), says("done")]);
  const env = { ...window, AGENTYARD_WORKSPACE_BYTES_MAX: "1000" };
  await using yard = await startYard({ model, env, tools: [sayer(false)] });
  const { events } = await yard.ask("go");
  const [result] = all(events, "call.finished");
  assert.deepEqual([result?.outcome, result?.file, typeof result?.blob], ["ok", undefined, "string"]);
  assert.match(result?.text ?? "", /bytes left out here; to see them, ask for a smaller part/);
});

/** Does exactly what the line in the result says. */
function next(request: AskedRequest, first: [string, object]) {
  if (stepOf(request) === 0) return calls(first);
  if (stepOf(request) > 1) return says("done");
  const said = String(request.body.messages.at(-1)?.content);
  const [, path, offset, column] = /read on with read_file (\S+) offset=(\d+)(?: column=(\d+))? /.exec(said) ?? [];
  const place = { offset: Number(offset), ...(column === undefined ? {} : { column: Number(column) }) };
  return calls(["read_file", { path, ...place }]);
}

/** As the limit counts: a Han character is a whole token. */
function weight(text: string): number {
  return Array.from(text).reduce((sum, sign) => sum + (Buffer.byteLength(sign) === 3 ? 4 : Buffer.byteLength(sign)), 0);
}
