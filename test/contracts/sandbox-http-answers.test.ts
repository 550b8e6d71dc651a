// Runs alone: its server is started before all tests and closed after them.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { SandboxExecution } from "../../src/protocol/sandbox-resources.ts";
import { cannotRunCode } from "../world/sandbox.ts";
import { type Door, openDoor, until } from "./sandbox-http.ts";

// What callers of the sandbox's routes are told when something is not as they thought, in their own language.

let door: Door;
const options = { skip: cannotRunCode };
const narrow = {
  AGENTYARD_SANDBOX_EXECUTIONS_PER_USER_MAX: "1",
  AGENTYARD_SANDBOX_WAIT_SECONDS_MAX: "0.3",
  AGENTYARD_SANDBOX_EXECUTION_SECONDS_MAX: "7200",
};
before(async () => {
  if (cannotRunCode === false) door = await openDoor({ env: narrow });
});
after(() => door?.[Symbol.asyncDispose]());

const chinese = { headers: { "accept-language": "zh" } };
const pathOf = (user: string) => `/executions/sessions/sess-${user}`;
const status = async (id: unknown, sent = {}) =>
  SandboxExecution.parse((await door.get(`/executions/${id}/status`, sent)).body);

async function startSleeper(user: string): Promise<unknown> {
  const sleeper = { code: "print('on', flush=True); import time; time.sleep(600)", timeout: 900 };
  const { execution_id: id } = (await door.post(`${pathOf(user)}/execute`, sleeper)).body;
  await until(async () => (await status(id)).stdout === "on\n");
  return id;
}

test(
  "no room after waiting is told as that, with when to come again, and not as a program's failure [X2][X4]",
  options,
  async () => {
    const running = await startSleeper("late");
    const refused = await door.post(`${pathOf("late")}/execute-sync`, { code: "1", language: "shell" });
    const params = { kind: "running", limit: 1, setting: "sandbox.executions_per_user_max", retryAfterSeconds: 2 };
    assert.deepEqual(
      [refused.status, refused.headers.get("retry-after"), refused.body.code, refused.body.params],
      [429, "2", "sandbox_busy", params],
    );
    const { status: how, exit_code, failure, error_message } = await status(refused.body.execution_id, chinese);
    assert.deepEqual([how, exit_code, failure], ["failed", -1, { code: "sandbox_busy", params, retryable: true }]);
    assert.match(String(error_message), /^您正在运行的程序已达上限 1 个。请在 2 秒后重试/);
    await door.post(`/executions/${running}/cancel`);
  },
);

test("a running execution shows what it has said so far, and its end in every language [X2][P5]", options, async () => {
  const id = await startSleeper("live");
  const { status: how, stdout, completed_at } = await status(id);
  assert.deepEqual([how, stdout, completed_at], ["running", "on\n", null]);
  await door.post(`/executions/${id}/cancel`);
  assert.deepEqual(
    [(await status(id)).error_message, (await status(id, chinese)).error_message],
    ["The program was stopped.", "程序已停止。"],
  );
});

test("a program may run for as long as the setting says, more than an hour too [X1][X4]", options, async () => {
  const ran = await Promise.all([7200, 80_000].map((timeout) => door.run("1", { timeout }, `sess-t${timeout}`)));
  assert.deepEqual(
    ran.map(({ timeout }) => timeout),
    [7200, 7200],
  );
});

test(
  "whatever a program calls handler is called with the event, and code of any shape costs no time [X2]",
  options,
  async () => {
    const cases: readonly (readonly [code: string, event: object | undefined, value: unknown])[] = [
      ["handler = lambda event: 5", undefined, 5],
      ["async def handler(event):\n    return event['a']", { a: 6 }, 6],
      ["def handler():\n    return 7", undefined, 7],
      ["x = 1", undefined, null],
    ];
    for (const [code, event, value] of cases) {
      const ran = await door.run(code, { event }, "sess-called");
      assert.deepEqual([ran.status, ran.return_value, ran.stderr], ["completed", value, ""], code);
    }
    const script = { language: "javascript" };
    const thrown = await door.run("function handler(event) { throw new RangeError('no'); }", script, "sess-called");
    assert.deepEqual([thrown.status, thrown.error_message], ["failed", "RangeError: no"]);
    const strange = await door.run(`def handler(a${" ".repeat(120_000)}`, {}, "sess-called");
    assert.match(String(strange.error_message), /^SyntaxError/);
  },
);

test("ids that do not fit are refused with what does [X2][P5]", options, async () => {
  const odd = await door.post(`${pathOf("ids")}/execute`, { code: "1", conversation_id: "a/b" });
  assert.deepEqual([odd.status, odd.body.params], [400, { what: "conversation_id", rule: "conversation_id" }]);
  assert.match(String(odd.body.detail), /does not fit: conversation_id\. It has 1 to 64 letters/);
  const user = await door.post("/sessions", { user_id: "a b" }, chinese);
  assert.match(String(user.body.detail), /body\.user_id。它由 1 至 48 个字母/);
});

test("who asks for another's session, or for a second one, is told what a user has [S1][S7][P5]", options, async () => {
  const other = await door.post("/sessions", { user_id: "alice", config: { session_id: "sb-session-bob" } });
  assert.deepEqual(
    [other.status, other.body.code, other.body.title],
    [400, "session_of_another", "The id sb-session-bob names the sandbox session of another user than alice."],
  );
  await door.post("/sessions", { user_id: "carol", id: "mine" });
  const again = await door.post("/sessions", { user_id: "carol", id: "mine" });
  assert.equal(again.body.title, "There is a sandbox session mine already.");
  const second = await door.post("/sessions", { user_id: "carol", id: "more" });
  assert.deepEqual([second.status, second.body.params], [409, { id: "mine", asked: "more" }]);
  assert.match(String(second.body.detail), /^A user has one sandbox session, and yours is mine.*x-account-id\.$/);
});
