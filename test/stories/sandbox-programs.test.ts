import assert from "node:assert/strict";
import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { setImmediate } from "node:timers/promises";
import { z } from "zod";
import { type Clock, systemClock } from "../../src/base/clock.ts";
import { ok } from "../../src/base/result.ts";
import { defaultLimits } from "../../src/loop/loop.ts";
import { localOwner, OwnerId } from "../../src/protocol/ids.ts";
import type { ProgramPlace, ProgramReport, RunningProgram, Sandbox } from "../../src/sandbox/sandbox.ts";
import { defineTool, type Tool, type ToolContext } from "../../src/tools/tools.ts";
import { callOver } from "../world/callers.ts";
import { all, until } from "../world/events.ts";
import { folderWith } from "../world/folder.ts";
import { calls, modelServer, says } from "../world/model-server.ts";
import { noSandbox } from "../world/sandbox.ts";
import { newConversation } from "../world/undo.ts";
import { must, startYard } from "../world/yard.ts";

// When a sandbox is made ready for a conversation, what its programs leave in the ledger, and when an agent with programs has ended.

/** So much happens meanwhile that whoever did not wait would be done. */
async function aWhile(): Promise<void> {
  for (let count = 0; count < 40; count += 1) await setImmediate();
}

test("a sandbox is begun with the conversation and its messages, with Python where data is to be worked on, and ended with it [X1]", async () => {
  const asked: string[] = [];
  const openSandbox = () => ({
    ...noSandbox(),
    prewarm: ({ agent }: ProgramPlace, language?: string) =>
      void asked.push(`prewarm ${agent} ${language ?? ""}`.trim()),
    reset: async ({ agent }: ProgramPlace) => void asked.push(`reset ${agent}`),
    async endTurn() {
      asked.push("end of turn");
      return [];
    },
    leave: async () => void asked.push("leave"),
  });
  await using model = await modelServer([
    ...[
      says("hello"),
      says("selected"),
      says("a table"),
      calls(["execute_code", { code: "1" }]),
      says("run"),
      says("again"),
    ],
  ]);
  await using yard = await startYard({ model, openSandbox });
  const id = await newConversation(yard);
  await yard.ask("hi", { conversation: id });
  await must(yard.client.upload(id, "a.csv", Buffer.from("x\n1\n")));
  const selected = { text: "look", mode: "queue", selected: ["a.csv"] } as const;
  await must(yard.engine.send(await must(yard.log.find(localOwner, id)), selected));
  await yard.whenAtRest(id);
  const body = { text: "look", mode: "queue" as const, files: ["uploads/a.csv"] };
  await must(yard.client.call("sendMessage", { params: { id }, body }));
  await yard.whenAtRest(id);
  await yard.ask("compute", { conversation: id });
  await yard.ask("and now?", { conversation: id });
  await must(yard.client.call("resetConversation", { params: { id } }));
  await must(yard.client.call("deleteConversation", { params: { id } }));
  const expected = [
    ...["prewarm root", "prewarm root", "prewarm root python", "prewarm root python", "prewarm root", "end of turn"],
    ...["prewarm root python", "reset root", "leave"],
  ];
  // Who removes the files makes sure once more that nobody works in them.
  assert.deepEqual(asked.slice(0, expected.length), expected);
});

/** A sandbox that notes for which conversations it is made ready. */
function warming() {
  const warmed: (number | undefined)[] = [];
  const prewarm = ({ conversation }: ProgramPlace) => void warmed.push(conversation);
  return { warmed, openSandbox: () => ({ ...noSandbox(), prewarm }) };
}

test("a conversation that a chat client opens has its sandbox made ready, and is said to stay so for ten minutes [X1][C4]", async () => {
  const { warmed, openSandbox } = warming();
  await using yard = await startYard({ openSandbox });
  const { number } = await yard.start("c1", OwnerId.parse("ann"));
  warmed.length = 0;
  const way = "PUT /api/agent-app/v1/conversation/session/c1";
  const { status, text } = await callOver(yard.app, way, { "x-account-id": "ann", body: {} });
  assert.deepEqual([status, JSON.parse(text)], [200, { conversation_session_id: "c1", ttl: 600 }]);
  await until("it is made ready", () => warmed.length > 0);
  assert.deepEqual(warmed, [number]);
});

test("a tool call of the sandbox's box runs for as long as it says, else the box, else a minute, and is waited for a minute more [T4][X1]", async () => {
  const wanted: { readonly timeoutMs: number; readonly language: string }[] = [];
  const none = noSandbox();
  const submit: Sandbox["executions"]["submit"] = async ({ owner }, { language, timeoutMs }) => {
    wanted.push({ language, timeoutMs });
    const id = { id: "e1", owner, session: "sess-ann", conversationId: undefined, status: "running" } as const;
    const asked = { language, code: "1", codeCutBytes: 0, timeoutMs, createdAt: 1, startedAt: 2, endedAt: undefined };
    return ok({ ...id, ...asked, failure: undefined, wasCutOff: false, report: undefined, artifacts: [] });
  };
  await using yard = await startYard({ openSandbox: () => ({ ...none, executions: { ...none.executions, submit } }) });
  const run = async (body: object) => {
    const way = "POST /api/agent-operator-integration/v1/tool-box/sandbox/proxy/execute_code";
    const { status, text } = await callOver(yard.app, way, { "x-account-id": "ann", body });
    const { status_code: code, error } = JSON.parse(text);
    const [program] = wanted.splice(0);
    return [status, code, program?.timeoutMs, program?.language, /(\d+) s/.exec(error)?.[1]];
  };
  assert.deepEqual(await run({ body: { code: "1" } }), [200, 408, 60_000, "python", "120"]);
  assert.deepEqual(await run({ body: { code: "1", language: "bash" }, timeout: 7 }), [200, 408, 7_000, "bash", "67"]);
  assert.deepEqual(await run({ body: { code: "1", timeout: 5 }, timeout: 7 }), [200, 408, 5_000, "python", "65"]);
  const others = await run({ body: { code: "1", session_id: "sess-bob" } });
  assert.deepEqual(others.slice(0, 3), [200, 404, undefined], "whose session it is follows from who calls");
});

test("a conversation is deleted before its programs have ended; its files go when they have [S6]", async () => {
  const ended = Promise.withResolvers<void>();
  await using yard = await startYard({ openSandbox: () => ({ ...noSandbox(), leave: () => ended.promise }) });
  const { id } = await must(yard.client.call("createConversation", { body: {} }));
  await must(yard.client.upload(id, "a.csv", Buffer.from("x\n")));
  const folder = join(yard.data, "workspace", id);
  await must(yard.client.call("deleteConversation", { params: { id } }));
  const gone = await yard.client.call("getConversation", { params: { id } });
  assert.deepEqual(
    [!gone.ok && gone.failure.code, readdirSync(join(folder, "uploads"))],
    ["conversation_not_found", ["a.csv"]],
  );
  ended.resolve();
  await until("its files are gone", () => !existsSync(folder));
});

const after = { bytes: 3, mode: 0o644, hash: "made" };
const quiet = { text: "", cutBytes: 0, path: undefined };

const ended: ProgramReport = {
  ...{ how: "done", exitCode: 0, signal: undefined, stdout: quiet, stderr: quiet, value: undefined },
  ...{ returned: undefined, figures: [], startedAt: 0, endedAt: 0 },
  metrics: { durationMs: 1, cpuMs: 1, memoryPeakBytes: 1, readBytes: 0, writtenBytes: 0 },
  changes: [{ path: "outputs/made.txt", before: undefined, after, lost: undefined }],
};

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

test("what the programs of a call did to files is in the ledger, also where the call broke down [W12][X1]", async () => {
  const broken = running(async () => {
    throw new Error("afterwards");
  });
  const { changed, code } = await ledgerOf(broken, playing({ endsAtOnce: true }));
  assert.deepEqual([changed, code], [told, "tool_crashed"]);
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
