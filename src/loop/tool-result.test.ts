import assert from "node:assert/strict";
import { after, type TestContext, test } from "node:test";
import { z } from "zod";
import { baseModel } from "../../test/world/base-model.ts";
import { manualClock } from "../../test/world/manual-clock.ts";
import { talkOf } from "../../test/world/talk.ts";
import { testWorkspace } from "../../test/world/workspace.ts";
import { systemIds } from "../base/ids.ts";
import { failed, ok } from "../base/result.ts";
import { makeFailure } from "../protocol/failure.ts";
import { defineTool, type ToolOutput } from "../tools/tools.ts";
import { withoutMarks } from "../words/words.ts";
import { openMarks } from "./marks.ts";
import { defaultLimits } from "./parts.ts";
import { keepOne } from "./tenure.testing.ts";
import { resultOf } from "./tool-result.ts";

const models = await baseModel(manualClock(), 16_000);
after(() => models.close());

const image = { mime: "image/png", base64: "AA==" };

/** The result as a model is told it, of a tool of ours or of others, and what was kept of it. */
async function telling(t: TestContext, { hasFiles = true, name = "look" } = {}) {
  const { conversation } = await keepOne(t);
  const { workspace } = await testWorkspace(t);
  const talk = talkOf([{ said: "go", steps: [] }]);
  talk.ask(["look", "look"]);
  const blobs: string[] = [];
  const warned: unknown[] = [];
  const parts = {
    ...{ models, agents: () => [], limits: defaultLimits, marks: openMarks(systemIds) },
    logger: {
      ...{ path: undefined, info() {}, debug() {}, error() {}, flush: async () => {}, close: async () => {} },
      warn: (message: string, facts: unknown) => void warned.push([message, facts]),
    },
    workspaces: {
      ofAgent: async () => (hasFiles ? ok(workspace) : failed(makeFailure("workspace_not_assigned", { agent: "a" }))),
    },
    storage: {
      async putBlob(_: number, data: Uint8Array) {
        blobs.push(Buffer.from(data).toString());
        return ok({ hash: "the-hash" });
      },
    },
  };
  const tell = (output: ToolOutput, { isOutside = false, agent = "", place = 0 } = {}) => {
    const tool = defineTool({
      ...{ name, description: "Looks. For tests.", isOutside, input: z.object({}), run: () => ok({ text: "" }) },
    });
    const call = talk.history.turn?.calls[place]?.call;
    assert.ok(call !== undefined);
    const run = { conversation, history: talk.history, agent: agent === "" ? undefined : agent };
    return resultOf(run, parts, { call, tool, output });
  };
  return { tell, blobs, warned, workspace };
}

test("a result is told in whole characters; one that says nothing says so in our words, and pictures of others make it theirs [R1][M5]", async (t) => {
  const { tell } = await telling(t);
  assert.deepEqual(await tell({ text: "half \ud83d" }), { text: "half \ufffd" });
  const nothing = { text: "(done, nothing to show)" };
  assert.deepEqual(await tell({ text: "" }), nothing);
  assert.deepEqual(await tell({ text: "" }, { isOutside: true }), nothing);
  assert.deepEqual(await tell({ text: "", images: [image] }), { ...nothing, images: [image] });
  assert.deepEqual(await tell({ text: "", images: [image] }, { isOutside: true }), {
    ...{ ...nothing, images: [image], untrusted: true },
  });
  assert.deepEqual(await tell({ text: "", images: [] }, { isOutside: true }), { ...nothing, images: [] });
});

test("what others wrote in a result stands between marks, and only that; blanks are nobody's, and what was seen before makes nothing new untrusted [R1]", async (t) => {
  const { tell } = await telling(t);
  const whole = await tell({ text: "from the web" }, { isOutside: true });
  assert.deepEqual([whole.untrusted, withoutMarks(whole.text)], [true, "from the web"]);
  assert.match(whole.text, /^<data [^>]*source="look"[^>]*>\nfrom the web\n<\/data/);
  const text = "ours: theirs, ours again";
  const theirs = { source: "page", from: 6, to: 12 };
  const part = await tell({ text, outside: [theirs] });
  assert.equal(part.untrusted, true);
  assert.match(part.text, /^ours: <data [^>]*source="page"[^>]*>\ntheirs\n<\/data[^>]*>, ours again$/);
  const seen = await tell({ text, outside: [{ ...theirs, isSeen: true }] });
  assert.deepEqual([seen.untrusted, seen.text === part.text], [undefined, true]);
  assert.deepEqual(await tell({ text: "ours:   ", outside: [{ source: "page", from: 5, to: 8 }] }), {
    text: "ours:   ",
  });
  const ours = await tell({ text, outside: [] }, { isOutside: true });
  assert.deepEqual(ours, { text }, "a tool that says who wrote what is believed");
});

test("a result that is too long has a file of its own, by turn, step, tool, place and agent, which says how to read on; where others wrote a part, all that is left of it is theirs [Z4][R1]", async (t) => {
  const { tell, workspace, blobs, warned } = await telling(t, { name: "mcp.odd/look" });
  const text = `${"line\n".repeat(20_000)}the end`;
  const first = await tell({ text });
  assert.deepEqual(
    [first.file, first.blob, first.untrusted],
    ["temp/results/1-1-mcp_odd_look.txt", undefined, undefined],
  );
  const [, offset = ""] = /read_file temp\/results\/1-1-mcp_odd_look\.txt offset=(\d+)/.exec(first.text) ?? [];
  const head = first.text.slice(0, first.text.indexOf("\n[... "));
  assert.equal(Number(offset), head.split("\n").length);
  assert.match(first.text, /\nthe end$/);
  const kept = await workspace.read(first.file ?? "", { bytesMax: 1_000_000 });
  assert.equal(kept.ok && kept.value.bytes.toString(), text);
  const other = await tell({ text, outside: [{ source: "page", from: 0, to: 4 }] }, { agent: "w1", place: 1 });
  assert.deepEqual([other.file, other.untrusted], ["temp/results/w1-1-1-mcp_odd_look-2.txt", true]);
  assert.match(other.text, /^<data [^>]*source="mcp\.odd\/look".*the end\n<\/data[^>]*>$/s);
  assert.deepEqual([blobs, warned], [[], []]);
});

test("where there is no file for it a long result is kept whole beside the log, and the log file says why [Z4][O1]", async (t) => {
  const { tell, blobs, warned } = await telling(t, { hasFiles: false });
  const text = "x".repeat(100_000);
  const { file, blob, text: told } = await tell({ text });
  assert.deepEqual([file, blob, blobs], [undefined, "the-hash", [text]]);
  assert.ok(told.length < 50_000 && !told.includes("read_file"));
  assert.deepEqual(warned, [["a long result could not be put into a file", { code: "workspace_not_assigned" }]]);
});
