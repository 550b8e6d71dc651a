import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { z } from "zod";
import { ok } from "../../src/base/result.ts";
import { defineTool } from "../../src/tools/tools.ts";
import { withoutMarks } from "../../src/words/words.ts";
import { firstOf, lastOf, report } from "../world/company.ts";
import { all } from "../world/events.ts";
import { type AskedRequest, calls, modelServer, says, stepOf } from "../world/model-server.ts";
import { undo } from "../world/undo.ts";
import { startYard, type TestYard } from "../world/yard.ts";

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
  ["a", 1],
  ["a", capBytes - 1],
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

for (const isOutside of [false, true])
  for (const [what, size] of [
    ["a", capBytes + 1],
    ["lines", 10 * capBytes],
    ["a", 5_000_000],
    ["han", 10 * capBytes],
    ["emoji", 10 * capBytes],
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
