import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { callOver } from "../../../test/world/callers.ts";
import { until } from "../../../test/world/events.ts";
import { type Play, playedProvider, sandboxOver } from "../../../test/world/played-provider.ts";
import { startYard, type TestYardOptions } from "../../../test/world/yard.ts";
import { systemClock } from "../../base/clock.ts";
import { failure } from "../../protocol/failure.ts";
import type { Execution } from "../../sandbox/provider.ts";
import { executionLimits } from "../../sandbox/sandbox.ts";

type Timer = { readonly ms: number; readonly fire: () => void; isOpen: boolean };

/**
 * A server whose programs are played, and Ann, who calls. `ran`: the programs, as they came to their guest. `timers`: what
 * waits for the clock, which the test may let pass at once.
 */
async function playedPrograms({ play, ...options }: TestYardOptions & { readonly play?: Play } = {}) {
  const ran: Execution[] = [];
  const timers: Timer[] = [];
  const provider = playedProvider((execution) => {
    ran.push(execution);
    return play?.(execution) ?? { code: 0 };
  });
  const clock = {
    ...systemClock,
    after(ms: number, action: () => void) {
      const timer: Timer = { ms, fire: action, isOpen: true };
      timers.push(timer);
      const cancel = systemClock.after(ms, action);
      return () => {
        timer.isOpen = false;
        cancel();
      };
    },
  };
  const yard = await startYard({ ...sandboxOver(provider), clock, ...options });
  return {
    ...{ yard, provider, ran, timers },
    async call(way: string, body?: object, headers: Readonly<Record<string, string>> = {}) {
      const sent = body === undefined ? {} : { body };
      const answer = await callOver(yard.app, way, { "x-account-id": "ann", ...headers, ...sent });
      return { ...answer, body: answer.text === "" ? {} : JSON.parse(answer.text) };
    },
    [Symbol.asyncDispose]: yard[Symbol.asyncDispose],
  };
}

/** What befalls the storage, and how many events it was given at once. */
const met = { isFull: false, noted: [] as number[] };
const ends: (() => void)[] = [];
let looks = 0;
let door: Awaited<ReturnType<typeof playedPrograms>>;
before(async () => {
  const env = { AGENTYARD_SANDBOX_EXECUTIONS_PER_USER_MAX: "2", AGENTYARD_SANDBOX_WAIT_SECONDS_MAX: "0" };
  door = await playedPrograms({
    env,
    async reload() {
      looks += 1;
      return undefined;
    },
    wrapStorage: (real) => ({
      ...real,
      append(batch) {
        const changes = batch.events.filter(({ type }) => type === "file.changed").length;
        if (changes > 0) met.noted.push(changes);
        return changes > 0 && met.isFull ? Promise.resolve(failure("storage_full", {})) : real.append(batch);
      },
    }),
    async play({ id, code }) {
      const [what, count = 0] = code.split(" ");
      const { folder } = door.provider.guests.find(({ running }) => running.has(id))?.wanted.workspace ?? {};
      if (what === "write")
        for (let at = 0; at < Number(count); at += 1) writeFileSync(join(folder ?? "", "outputs", `${at}`), code);
      if (what === "stay") await new Promise<void>((resolve) => ends.push(resolve));
      return { code: 0 };
    },
  });
});
after(async () => {
  for (const end of ends) end();
  await door[Symbol.asyncDispose]();
});

const path = "/api/v1/executions/sessions/sess-ann";
const run = (body: object, headers = {}) => door.call(`POST ${path}/execute`, { code: "1", ...body }, headers);
const over = (id: string) =>
  until("it is over", async () => (await door.call(`GET /api/v1/executions/${id}/status`)).body.completed_at !== null);
/** Lets all programs end that stay, and waits for it. */
async function endAll(...ids: string[]) {
  for (const end of ends.splice(0)) end();
  for (const id of ids) await over(id);
}

test("whoever waits for a program does so for as long as they said, and no clock goes on after it [X2][Q2]", async () => {
  const { call, timers } = door;
  const wait = (code: string) => call(`POST ${path}/execute-sync?sync_timeout=77`, { code, timeout: 5 });
  const own = () => timers.filter(({ ms }) => ms === 77_000);
  assert.deepEqual([(await wait("1")).body.status, own().map(({ isOpen }) => isOpen)], ["completed", [false]]);
  const waiting = wait("stay");
  await until("it runs", () => ends.length > 0);
  own()[1]?.fire();
  const { status, code, body } = await waiting;
  const { id, ...params } = body.params;
  assert.deepEqual([status, code, params], [408, "execution_running", { seconds: 77, why: "slow" }]);
  await endAll(id);
});

test("a program is run as its caller said, in the conversation they named, with settings as they are now [X1][X2]", async () => {
  const { ran, provider } = door;
  const heard = async (body: object) => {
    ran.length = 0;
    const before = looks;
    const answer = await run(body);
    assert.deepEqual([answer.status, looks - before], [201, 1]);
    await over(answer.body.execution_id);
    const { language, timeoutMs, env, event, folder, agent } = ran[0] ?? assert.fail();
    return { language, timeoutMs, env, event, folder, agent };
  };
  const usual = { env: {}, event: undefined, folder: undefined, agent: "root" };
  const shell = { language: "shell", timeout: 7, event: { a: 1 } };
  assert.deepEqual(await heard(shell), { ...usual, language: "bash", timeoutMs: 7_000 });
  assert.equal(provider.guests.at(-1)?.wanted.workspace, undefined);
  const script = { language: "javascript", timeout: 5, conversation_id: "c", env_vars: { A: "b" } };
  assert.deepEqual(await heard(script), {
    ...{ ...usual, language: "javascript", timeoutMs: 5_000, env: { A: "b" }, event: "{}" },
  });
  assert.equal(provider.guests.at(-1)?.wanted.workspace?.inside, "/workspace/c");
  const room = executionLimits.eventBytesMax - '{"a":""}'.length;
  const sized = async (a: string) => {
    const { status, code, body } = await run({ event: { a } });
    if (status === 201) await over(body.execution_id);
    return code || status;
  };
  assert.deepEqual([await sized("x".repeat(room)), await sized("x".repeat(room + 1))], [201, "bad_request"]);
  assert.equal(await sized("世".repeat(room / 2)), "bad_request", "bytes are counted, not characters");
});

test("all that a program did to files is noted, so much at a time; where that fails the log file says so [W12][X2]", async () => {
  const write = async (count: number) => {
    met.noted.length = 0;
    const { body } = await run({ code: `write ${count}`, conversation_id: "noted" });
    await over(body.execution_id);
    return met.noted;
  };
  assert.deepEqual(await write(501), [500, 1]);
  met.isFull = true;
  assert.deepEqual(await write(502), [500]);
  met.isFull = false;
  const lines = (await door.yard.logged()).filter(({ message }) => message.includes("were not noted"));
  assert.equal(lines.length, 1);
  assert.match(lines[0]?.message ?? "", /changes of files by an execution were not noted: storage_full/);
});

test("a place among those who follow is not taken by a reader who has gone before anything was sent [X2][Q2]", async () => {
  const { body } = await run({ code: "stay" });
  await until("it runs", () => ends.length === 1);
  const gone = new AbortController();
  const follow = (signal: AbortSignal) => {
    const headers = { host: "127.0.0.1:7420", "x-account-id": "ann" };
    const request = new Request(`http://127.0.0.1:7420/api/v1/executions/${body.execution_id}/stream`, {
      headers,
      signal,
    });
    return door.yard.app.fetch(request, { door: "tcp", address: "127.0.0.1" });
  };
  const left = AbortSignal.abort();
  for (let times = 0; times < 20; times += 1) await follow(left);
  const statuses: number[] = [];
  for (let times = 0; times < 21; times += 1) statuses.push((await follow(gone.signal)).status);
  assert.deepEqual(statuses, [...Array<number>(20).fill(200), 429]);
  gone.abort();
  await endAll(body.execution_id);
});

/** The sandbox's tool, called so: what it answers, and the program as it came to the guest. */
async function callTool(body: object, tool = "execute_code") {
  door.ran.length = 0;
  door.timers.length = 0;
  const path = `/api/agent-operator-integration/v1/tool-box/sandbox/proxy/${tool}`;
  const { status, code, body: told } = await door.call(`POST ${path}`, body);
  return { status, code: told.details?.code ?? code, told, program: door.ran[0] };
}

test("what the sandbox's tool is given counts in the body first, then in the path, and whose session it is follows from who calls [T4][S7]", async () => {
  const given = { query: { code: "q" }, path: { code: "p" }, body: { code: "b", language: "shell" } };
  const heard = async (body: object) => {
    const { told, program } = await callTool(body);
    return [program?.code, program?.language, program?.event, told.body.conversation_id, told.body.session_id];
  };
  const [none, session] = [null, "sb-session-ann"];
  assert.deepEqual(await heard(given), ["b", "bash", undefined, none, session]);
  assert.deepEqual(await heard({ ...given, body: null }), ["p", "python", "{}", none, session]);
  assert.deepEqual(await heard({ query: { code: "q", conversation_id: "d" } }), ["q", "python", "{}", "d", session]);
  assert.equal(door.provider.guests.at(-1)?.wanted.workspace?.inside, "/workspace/d");
  assert.deepEqual(await heard({ body: { code: "b", event: { a: 1 } } }), ["b", "python", '{"a":1}', none, session]);
  const { told, program } = await callTool({ body: { code: "b", session_id: "sess-bob" } });
  assert.deepEqual([told.status_code, told.body, program], [404, null, undefined]);
});

test("what is no tool of the sandbox or no code is refused, and code for which there is no room is told as its answer [T4][P4]", async () => {
  const refused = async (...given: Parameters<typeof callTool>) => {
    const { status, code, program } = await callTool(...given);
    return [status, code, program];
  };
  assert.deepEqual(await refused({ body: { code: "1" } }, "other"), [404, "toolbox_tool_not_found", undefined]);
  assert.deepEqual(await refused({ body: {} }), [400, "bad_request", undefined]);
  assert.deepEqual(await refused({ body: { code: "1", timeout: 3_601 } }), [400, "bad_request", undefined]);
  const shell = await run({ code: "stay", language: "shell" });
  const staying = [shell, await run({ code: "stay" })].map(({ body }) => body.execution_id);
  await until("they run", () => ends.length === 2);
  const { status, told } = await callTool({ body: { code: "1" } });
  assert.deepEqual([status, told.status_code, told.body], [200, 429, null]);
  assert.match(told.error, /^As many of your programs are running as may: 2\. /);
  await endAll(...staying);
});
