import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { until } from "../../../test/world/events.ts";
import { playedPrograms } from "./programs.testing.ts";

const env = { AGENTYARD_SANDBOX_EXECUTIONS_PER_USER_MAX: "1", AGENTYARD_SANDBOX_WAITING_MAX: "0" };
const enough = Promise.withResolvers<void>();
let door: Awaited<ReturnType<typeof playedPrograms>>;
before(async () => {
  door = await playedPrograms({
    env,
    async play({ code }) {
      if (code === "stay") await enough.promise;
      return { code: 0 };
    },
  });
});
after(() => door[Symbol.asyncDispose]());

/** The sandbox's tool, called so: what it answers, and the program as it came to the guest. */
async function run(body: object, tool = "execute_code") {
  door.ran.length = 0;
  door.timers.length = 0;
  const path = `/api/agent-operator-integration/v1/tool-box/sandbox/proxy/${tool}`;
  const { status, code, body: told } = await door.call(`POST ${path}`, body);
  return { status, code: told.details?.code ?? code, told, program: door.ran[0] };
}

test("code that the sandbox's tool is given runs for as long as it says, or its call, or a minute, and is waited for a minute more [T4][X2]", async () => {
  const timed = async (body: object) => {
    const { told, program } = await run(body);
    assert.equal(told.status_code, 200);
    const seconds = (program?.timeoutMs ?? 0) / 1_000;
    return [seconds, door.timers.some(({ ms }) => ms === (seconds + 60) * 1_000)];
  };
  assert.deepEqual(await timed({ body: { code: "1" } }), [60, true]);
  assert.deepEqual(await timed({ body: { code: "1" }, timeout: 5 }), [5, true]);
  assert.deepEqual(await timed({ body: { code: "1" }, timeout: 0 }), [60, true]);
  assert.deepEqual(await timed({ body: { code: "1", timeout: 9 }, timeout: 5 }), [9, true]);
});

test("what the sandbox's tool is given counts in the body first, then in the path, and whose session it is follows from who calls [T4][S7]", async () => {
  const given = { query: { code: "q" }, path: { code: "p" }, body: { code: "b", language: "shell" } };
  const heard = async (body: object) => {
    const { told, program } = await run(body);
    return [program?.code, program?.language, program?.event, told.body.conversation_id, told.body.session_id];
  };
  const [none, session] = [null, "sb-session-ann"];
  assert.deepEqual(await heard(given), ["b", "bash", undefined, none, session]);
  assert.deepEqual(await heard({ ...given, body: null }), ["p", "python", "{}", none, session]);
  assert.deepEqual(await heard({ query: { code: "q", conversation_id: "c" } }), ["q", "python", "{}", "c", session]);
  assert.equal(door.provider.guests.at(-1)?.wanted.workspace?.inside, "/workspace/c");
  assert.deepEqual(await heard({ body: { code: "b", event: { a: 1 } } }), ["b", "python", '{"a":1}', none, session]);
  const { told, program } = await run({ body: { code: "b", session_id: "sess-bob" } });
  assert.deepEqual([told.status_code, told.body, program], [404, null, undefined]);
});

test("what is no tool of the sandbox or no code is refused, and code for which there is no room is told as its answer [T4][P4]", async () => {
  const refused = async (...given: Parameters<typeof run>) => {
    const { status, code, program } = await run(...given);
    return [status, code, program];
  };
  assert.deepEqual(await refused({ body: { code: "1" } }, "other"), [404, "toolbox_tool_not_found", undefined]);
  assert.deepEqual(await refused({ body: {} }), [400, "bad_request", undefined]);
  assert.deepEqual(await refused({ body: { code: "1", timeout: 3_601 } }), [400, "bad_request", undefined]);
  const staying = run({ body: { code: "stay" } });
  await until("it runs", () => door.ran.length > 0);
  const { status, told } = await run({ body: { code: "1" } });
  assert.deepEqual([status, told.status_code, told.body], [200, 429, null]);
  assert.match(told.error, /^As many of your programs are running as may: 1\. /);
  enough.resolve();
  assert.equal((await staying).told.status_code, 200);
});
