import assert from "node:assert/strict";
import { test } from "node:test";
import { z } from "zod";
import { type Clock, systemClock } from "../../src/base/clock.ts";
import { ok } from "../../src/base/result.ts";
import { defaultLimits } from "../../src/loop/loop.ts";
import { failure } from "../../src/protocol/failure.ts";
import { defineTool, type Tool, type ToolContext } from "../../src/tools/tools.ts";
import { all, until } from "../world/events.ts";
import { calls, modelServer, says } from "../world/model-server.ts";
import { filesOf, newConversation, place, puts, roughTools, undo } from "../world/undo.ts";
import { must, startYard, type TestYard } from "../world/yard.ts";

type Work = (context: ToolContext) => Promise<unknown>;

/** Does its work and then never ends, whatever happens around it. */
function deafAfter(work: Work): Tool {
  return defineTool({
    ...{ name: "work", description: "Works and never ends. For tests.", input: z.object({}) },
    async run(_, context) {
      await work(context);
      return new Promise(() => {});
    },
  });
}

test("a tool that was stopped changes nothing any more, and what it did before is in the ledger and can be undone [L6][W12]", async () => {
  let goOn = () => {};
  const stopped = new Promise<void>((resolve) => {
    goOn = resolve;
  });
  const late: unknown[] = [];
  const tool = deafAfter(async ({ workspace }) => {
    await workspace.write("outputs/before.txt", "before the stop", { key: "1" });
    await stopped;
    late.push(await workspace.write("outputs/late.txt", "after the stop"));
    late.push(await workspace.remove("outputs/old.txt"));
    late.push(await workspace.restore("outputs/before.txt", undefined));
    late.push(await workspace.empty("outputs"));
  });
  await using model = await modelServer([calls(["work", {}])]);
  await using yard = await startYard({ model, tools: [tool] });
  const id = await newConversation(yard);
  place(yard, id, "old.txt", "old");
  const ended = yard.ask("go", { conversation: id });
  await until("it has written", () => "before.txt" in filesOf(yard, id));
  await must(yard.client.call("cancelTurn", { params: { id } }));
  await ended;
  goOn();
  await until("it has tried", () => late.length === 4);
  const refusal = (path: string) => failure("write_failed", { path, why: "broken_off" });
  assert.deepEqual(late, ["outputs/late.txt", "outputs/old.txt", "outputs/before.txt", "outputs"].map(refusal));
  assert.deepEqual(filesOf(yard, id), { "before.txt": "644 before the stop", "old.txt": "644 old" });
  assert.deepEqual(await ledgerOf(yard, id), ["work cancelled: outputs/before.txt"]);
  assert.deepEqual((await undo(yard, id)).restored, [{ path: "outputs/before.txt", now: "removed" }]);
  assert.deepEqual(filesOf(yard, id), { "old.txt": "644 old" });
});

test("a change that was under way when the user stopped is waited for and recorded [L6][W12]", async () => {
  let goOn = () => {};
  const isSlow = new Promise<void>((resolve) => {
    goOn = resolve;
  });
  // The disk is ready only after the moment that a stopped tool is given.
  const clock: Clock = {
    ...systemClock,
    async wait(ms, signal) {
      const end = await systemClock.wait(ms, signal);
      if (ms === stopGraceMs) goOn();
      return end;
    },
  };
  await using model = await modelServer([calls(puts("outputs/a.txt", "new"))]);
  await using yard = await startYard({ model, tools: roughTools, clock });
  slowDown(yard, isSlow);
  const id = await newConversation(yard);
  place(yard, id, "a.txt", "old");
  const ended = yard.ask("go", { conversation: id });
  await until("it is written", () => filesOf(yard, id)["a.txt"] === "644 new");
  await must(yard.client.call("cancelTurn", { params: { id } }));
  assert.equal((await ended).outcome, "cancelled");
  assert.deepEqual(await ledgerOf(yard, id), ["put cancelled: outputs/a.txt"]);
  assert.deepEqual((await undo(yard, id)).restored, [{ path: "outputs/a.txt", now: "as_before" }]);
});

test("what a tool had written before it took too long is in the ledger and can be undone [W12]", async () => {
  let timeIsUp = () => {};
  const clock: Clock = {
    ...systemClock,
    after(ms, action) {
      if (ms !== timeoutMs) return systemClock.after(ms, action);
      timeIsUp = action;
      return () => {};
    },
  };
  const tool = deafAfter(async (context) => {
    await writeOne(context);
    timeIsUp();
  });
  await undoesOne({ ...tool, timeoutMs }, "tool_timeout", clock);
});

test("what a tool had written before it broke down is in the ledger and can be undone [W12]", async () => {
  const tool = deafAfter(async (context) => {
    await writeOne(context);
    throw new Error("afterwards");
  });
  await undoesOne(tool, "tool_crashed");
});

async function undoesOne(tool: Tool, code: string, clock = systemClock): Promise<void> {
  await using model = await modelServer([calls(["work", {}]), says("sorry")]);
  await using yard = await startYard({ model, tools: [tool], clock });
  const { conversation, outcome, events } = await yard.ask("go");
  assert.deepEqual([outcome, all(events, "call.finished")[0]?.failure?.code], ["done", code]);
  assert.deepEqual(await ledgerOf(yard, conversation), ["work error: outputs/a.txt"]);
  assert.deepEqual((await undo(yard, conversation)).restored, [{ path: "outputs/a.txt", now: "removed" }]);
  assert.deepEqual(filesOf(yard, conversation), {});
}

test("a tool that forgets to tell what it changed is found out [W12]", async () => {
  const forgetful = defineTool({
    ...{ name: "work", description: "Writes and says nothing of it. For tests.", input: z.object({}) },
    async run(_, { workspace }) {
      await workspace.write("outputs/a.txt", "a", { key: "a" });
      await workspace.write("outputs/a.txt", "a", { key: "same again" });
      return ok({ text: "nothing happened" });
    },
  });
  await using model = await modelServer([calls(["work", {}]), says("done")]);
  await using yard = await startYard({ model, tools: [forgetful] });
  const { conversation } = await yard.ask("go");
  assert.deepEqual(await ledgerOf(yard, conversation), ["work ok: outputs/a.txt"]);
});

const { stopGraceMs } = defaultLimits;
/** Of this one tool only. */
const timeoutMs = 123_456;

async function writeOne({ workspace, key }: ToolContext): Promise<void> {
  await workspace.write("outputs/a.txt", "a", { key });
}

/** Every write is made at once, but its end is told only then. */
function slowDown({ workspaces }: TestYard, until: Promise<void>): void {
  const { ofAgent } = workspaces;
  workspaces.ofAgent = async (...given) => {
    const found = await ofAgent(...given);
    if (!found.ok) return found;
    const files = found.value;
    return ok({
      ...files,
      write: async (...written) => files.write(...written).then((done) => until.then(() => done)),
    });
  };
}

/** Each change by a tool, with its call and how that ended. */
async function ledgerOf(yard: TestYard, id: string): Promise<string[]> {
  const events = await yard.events(id);
  const asked = all(events, "message.assistant").flatMap(({ calls = [] }) => calls);
  const ends = all(events, "call.finished");
  return all(events, "file.changed").map(({ call, path, by }) => {
    assert.equal(by, "tool");
    const outcome = ends.find((end) => end.call === call)?.outcome;
    return `${asked.find((one) => one.id === call)?.name} ${outcome}: ${path}`;
  });
}
