import assert from "node:assert/strict";
import { test } from "node:test";
import { setImmediate as settle } from "node:timers/promises";
import { manualClock } from "../../../test/world/manual-clock.ts";
import { systemIds } from "../../base/ids.ts";
import { failed, ok } from "../../base/result.ts";
import type { Operators } from "../../operators/operators.ts";
import { failure, makeFailure } from "../../protocol/failure.ts";
import { OwnerId } from "../../protocol/ids.ts";
import { asked, partsWith } from "./handling.testing.ts";
import { operatorHandlers } from "./operators.ts";

const ann = OwnerId.parse("ann");
const caller = { signedIn: ann, scopes: ["chat"] } as const;
const none = { ...{ path: {}, query: {}, header: {} }, cookie: {}, body: undefined };
type Invoke = Operators["invoke"];
const answer = {
  status: 200,
  headers: {},
  type: "text/plain",
  content: { kind: "text", text: "yes" },
  durationMs: 3,
  isCut: false,
} as const;

function calling(invoke: Invoke) {
  const clock = manualClock();
  const seen: Parameters<Invoke>[] = [];
  const { invokeTool, debugTool } = operatorHandlers(
    partsWith({
      ...{ clock, ids: systemIds },
      operators: {
        invoke(...asked) {
          seen.push(asked);
          return invoke(...asked);
        },
      },
    }),
  );
  const call = (body: object = {}, query: object = {}, box = "b") => ({
    ...{
      caller,
      owner: ann,
      params: { box_id: box, tool_id: "t" },
      body,
      query: { mode: "sync", stream: false, ...query },
    },
  });
  return {
    ...{ clock, seen },
    invoke: (...of: Parameters<typeof call>) => invokeTool(asked("invokeTool", call(...of))),
    debug: (...of: Parameters<typeof call>) => debugTool(asked("debugTool", call(...of))),
  };
}

test("a call of a tool is waited for as long as its caller says, half a minute otherwise, and never more than two [T1]", async () => {
  const waited = async (body: object, ms: number) => {
    const calls = calling(async (_, __, signal) => {
      if (!signal.aborted) await new Promise((resolve) => signal.addEventListener("abort", resolve));
      return failure("model_network", { model: "m", server: "s", said: "too slow" });
    });
    let told: unknown;
    const over = calls.invoke(body).then((one) => {
      told = one;
    });
    await settle();
    calls.clock.move(ms - 1);
    await settle();
    assert.equal(told, undefined, `${ms} ms are not over`);
    calls.clock.move(1);
    await over;
    const { duration_ms, status_code } = Object(Object(told).value);
    return [duration_ms, status_code, calls.clock.timers()];
  };
  assert.deepEqual(await waited({}, 30_000), [30_000, 502, 0]);
  assert.deepEqual(await waited({ timeout: 5 }, 5_000), [5_000, 502, 0]);
  assert.deepEqual(await waited({ timeout: 500 }, 120_000), [120_000, 502, 0]);
  const quick = calling(async () => ok(answer));
  assert.equal((await quick.invoke()).ok, true);
  assert.equal(quick.clock.timers(), 0, "nothing waits for a call that is over");
});

test("a tool is called with what the caller gave, and tried out only by who asked for that [T1]", async () => {
  const calls = calling(async () => ok(answer));
  await calls.invoke();
  const given = { path: { a: 1 }, query: { b: 2 }, header: { c: "3" }, body: [4] };
  await calls.debug(given);
  assert.deepEqual(
    calls.seen.map(([owner, wanted]) => [owner, wanted]),
    [
      ["ann", { box: "b", tool: "t", envelope: none, isTrial: false }],
      ["ann", { box: "b", tool: "t", envelope: { ...given, cookie: {} }, isTrial: true }],
    ],
  );
});

test("what is wrong with the call itself is refused, and what the service did is told as its answer [T1][P4]", async () => {
  const reasons = [
    makeFailure("toolbox_not_found", { id: "b" }),
    makeFailure("secret_too_long", { limitBytes: 1 }),
    makeFailure("bad_request", { what: "body" }),
    makeFailure("model_network", { model: "m", server: "s", said: "gone" }),
  ];
  const told = [];
  for (const reason of reasons) {
    const one = await calling(async () => failed(reason)).invoke();
    told.push(one.ok ? "told" : one.failure.code);
  }
  assert.deepEqual(told, ["toolbox_not_found", "secret_too_long", "bad_request", "told"]);
  const calls = calling(async () => ok(answer));
  const no = failure("parameter_unsupported", { parameter: "mode", hint: "sync_only" });
  assert.deepEqual(
    [await calls.invoke({}, { stream: true }), await calls.debug({}, { mode: "async" }), calls.seen.length],
    [no, no, 0],
  );
});

test("the sandbox's own box is nobody's to change, and nothing that is asked for it reaches another [T1][S7]", async () => {
  const untouched = operatorHandlers(partsWith({ operators: {}, ids: systemIds, clock: manualClock() }));
  const at = { caller, owner: ann, params: { box_id: "sandbox", tool_id: "t" } };
  const refused = failure("toolbox_of_another", { id: "sandbox" });
  assert.deepEqual(
    [
      await untouched.changeToolBox(asked("changeToolBox", at)),
      await untouched.deleteToolBox(asked("deleteToolBox", at)),
      await untouched.setToolBoxStatus(asked("setToolBoxStatus", at)),
      await untouched.addBoxTools(asked("addBoxTools", { ...at, body: { data: "{}" } })),
      await untouched.setBoxToolStatus(asked("setBoxToolStatus", at)),
      await untouched.deleteBoxTools(asked("deleteBoxTools", { ...at, body: { tool_ids: ["t"] } })),
    ],
    Array(6).fill(refused),
  );
  const missing = makeFailure("toolbox_tool_not_found", { id: "t" });
  const looked = await untouched.getBoxTool(asked("getBoxTool", at));
  const called = await untouched.invokeTool(
    asked("invokeTool", { ...at, body: {}, query: { mode: "sync", stream: false } }),
  );
  assert.deepEqual(
    [looked, called].map((one) => !one.ok && one.failure),
    [missing, missing],
  );
});

test("what is told of who may use a box is what was said of it, and silence is no wish [T1][S7]", async () => {
  const wanted: unknown[] = [];
  const { createToolBox, changeToolBox } = operatorHandlers(
    partsWith({
      ids: systemIds,
      operators: {
        async create(actor, _, given, tools) {
          wanted.push([actor, given.permitted, given.server, tools]);
          return ok({ tools: [], failures: [], renamed: [] });
        },
        async change(actor, id, given) {
          wanted.push([actor, id, given.permitted, given.name]);
          return failure("toolbox_not_found", { id });
        },
      },
    }),
  );
  const make = (body: object, scopes: readonly ("chat" | "admin")[] = ["chat"]) =>
    createToolBox(asked("createToolBox", { owner: ann, caller: { ...caller, scopes }, body }));
  await make({ box_svc_url: "", permitted_all: null, permitted_users: null });
  await make({ box_svc_url: "http://a", permitted_users: ["bob"], data: "{}" }, ["admin"]);
  await make({ permitted_all: true });
  await changeToolBox(
    asked("changeToolBox", {
      owner: ann,
      caller,
      params: { box_id: "b" },
      body: { permitted_all: false, box_name: "n" },
    }),
  );
  const [plain, admin] = [
    { owner: ann, isAdmin: false },
    { owner: ann, isAdmin: true },
  ];
  assert.deepEqual(wanted, [
    [plain, undefined, undefined, undefined],
    [admin, { all: false, users: ["bob"] }, "http://a", { from: { document: "{}" } }],
    [plain, { all: true, users: [] }, undefined, undefined],
    [plain, "b", { all: false, users: [] }, "n"],
  ]);
  const functions = await make({ metadata_type: "function" });
  assert.deepEqual(functions, failure("parameter_unsupported", { parameter: "metadata_type", hint: "openapi_only" }));
});
