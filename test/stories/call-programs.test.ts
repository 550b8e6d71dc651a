import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { z } from "zod";
import { type Clock, systemClock } from "../../src/base/clock.ts";
import { ok } from "../../src/base/result.ts";
import { defaultLimits } from "../../src/loop/loop.ts";
import type { ProgramReport, RunningProgram, Sandbox } from "../../src/sandbox/sandbox.ts";
import { defineTool, type Tool, type ToolContext } from "../../src/tools/tools.ts";
import { all, until } from "../world/events.ts";
import { folderWith } from "../world/folder.ts";
import { calls, modelServer, says } from "../world/model-server.ts";
import { noSandbox } from "../world/sandbox.ts";
import { must, startYard } from "../world/yard.ts";

const after = { bytes: 3, mode: 0o644, hash: "made" };
const quiet = { text: "", cutBytes: 0, path: undefined };
const ended: ProgramReport = {
  ...{ how: "done", exitCode: 0, signal: undefined, stdout: quiet, stderr: quiet, value: undefined },
  ...{ returned: undefined, figures: [], startedAt: 0, endedAt: 0 },
  metrics: { durationMs: 1, cpuMs: 1, memoryPeakBytes: 1, readBytes: 0, writtenBytes: 0 },
  changes: [{ path: "outputs/made.txt", before: undefined, after, lost: undefined }],
};

/** So much happens meanwhile that whoever did not wait would be done. */
async function aWhile(): Promise<void> {
  for (let count = 0; count < 40; count += 1) await new Promise((resolve) => setImmediate(resolve));
}

/** Programs that change a file and end when they are told to, or at once. */
function playing({ endsAtOnce }: { endsAtOnce: boolean }): Sandbox {
  return {
    ...noSandbox(),
    async run(_, { signal }) {
      const program: RunningProgram = {
        ...{ id: "p", kill() {}, output: (async function* () {})() },
        report: new Promise((resolve) => {
          if (endsAtOnce) resolve(ended);
          else
            signal?.addEventListener("abort", () => void aWhile().then(() => resolve({ ...ended, how: "cancelled" })));
        }),
      };
      return ok(program);
    },
  };
}

/** A tool that runs a program, and then does this. */
const running = (then: (context: ToolContext) => Promise<never>, timeoutMs?: number) =>
  defineTool({
    ...{ name: "work", description: "Runs a program. For tests.", class: "unsafe", input: z.object({}) },
    ...(timeoutMs === undefined ? {} : { timeoutMsOf: () => timeoutMs }),
    async run(_, context) {
      await context.sandbox.run({ language: "bash", code: "true", timeoutMs: 1_000 });
      return then(context);
    },
  });

const { stopGraceMs } = defaultLimits;
const never = () => new Promise<never>(() => {});

async function ledgerOf(tool: Tool, sandbox: Sandbox, clock: Clock = systemClock) {
  await using model = await modelServer([calls(["work", {}]), says("sorry")]);
  await using yard = await startYard({ model, tools: [tool], clock, approves: true, openSandbox: () => sandbox });
  const { events } = await yard.ask("go");
  const [result] = all(events, "call.finished");
  const changed = all(events, "file.changed").map(({ path, program, call }) => [path, program, call === result?.call]);
  return { changed, code: result?.failure?.code, params: result?.failure?.params };
}

const told = [["outputs/made.txt", true, true]];

test("what the programs of a call did to files is in the ledger, also where the call broke down, or said what nobody can read [W12][X1]", async () => {
  const broken = running(async () => {
    throw new Error("afterwards");
  });
  const { changed, code } = await ledgerOf(broken, playing({ endsAtOnce: true }));
  assert.deepEqual([changed, code], [told, "tool_crashed"]);
  const odd: Tool = Object.assign(
    running(never),
    // A tool of somebody else's need not keep to our types.
    {
      open: () =>
        ok({
          ask: undefined,
          async run({ sandbox }: ToolContext) {
            await sandbox.run({ language: "bash", code: "true", timeoutMs: 1_000 });
            return ok({ text: 5 });
          },
        }),
    },
  );
  const unread = await ledgerOf(odd, playing({ endsAtOnce: true }));
  assert.deepEqual([unread.changed, unread.code], [told, "tool_crashed"]);
});

test("a call that takes longer than its own arguments allow is stopped with its program, whose end is waited for and told [W12][L5]", async () => {
  const timeoutMs = 234_567;
  let timeIsUp = () => {};
  const clock: Clock = {
    ...systemClock,
    after(ms, action) {
      if (ms === timeoutMs) timeIsUp = action;
      return systemClock.after(ms, action);
    },
    // The tool has no last words.
    wait: async (ms, signal) => (ms === stopGraceMs ? "elapsed" : systemClock.wait(ms, signal)),
  };
  const slow = running(async () => {
    timeIsUp();
    return never();
  }, timeoutMs);
  assert.deepEqual(await ledgerOf(slow, playing({ endsAtOnce: false }), clock), {
    ...{ changed: told, code: "tool_timeout", params: { tool: "work", seconds: 234.567 } },
  });
});

test("what a program did until its server ended is in the ledger at the next start, where its call is told to be unsure [W12][L2][X1]", async (t: TestContext) => {
  const data = folderWith(t, {});
  await using model = await modelServer([calls(["work", {}]), says("I look at it.")]);
  const tools = [running(never)];
  const options = { model, data, tools, approves: true, isOneProcess: true } as const;
  const one = await startYard({ ...options, openSandbox: () => playing({ endsAtOnce: false }) });
  const { id } = await one.start("c");
  await must(one.client.call("sendMessage", { params: { id }, body: { text: "go", mode: "queue" } }));
  await until("it runs", async () => all(await one.events(id), "call.started").length === 1);
  await one[Symbol.asyncDispose]();
  await using two = await startYard(options);
  const { events, answer } = await two.whenAtRest(id);
  assert.equal(answer, "I look at it.");
  const [result] = all(events, "call.finished");
  assert.deepEqual(
    all(events, "file.changed").map(({ path, program, call }) => [path, program, call === result?.call]),
    told,
  );
  assert.deepEqual([result?.outcome, result?.failure?.code], ["unknown", "tool_interrupted"]);
});
