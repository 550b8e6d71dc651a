import assert from "node:assert/strict";
import { test } from "node:test";
import { until } from "../world/events.ts";
import { cannotStart } from "./sandbox-guests.ts";
import { openGround, report } from "./sandbox-service-place.ts";
import { alice, bob, unwrap } from "./storage-place.ts";

const real = { skip: cannotStart };

test(
  "an execution's record tells what became of it, with its files and figures, also after a restart [X1][X2]",
  real,
  async (t) => {
    const ground = await openGround(t);
    const place = await ground.place("c1");
    const code =
      "def handler(event):\n    print(event['n'])\n    open('outputs/r.csv', 'w').write('a,b')\n    return 0";
    const wanted = { language: "python", code, timeoutMs: 20_000, event: '{"n": 7}', conversationId: "c1" } as const;
    const pending = unwrap(await ground.sandbox.executions.submit(place, wanted));
    assert.deepEqual([pending.status, pending.endedAt, pending.session], ["pending", undefined, "sb-session-alice"]);
    const record = await ground.sandbox.executions.wait(alice, pending.id, new AbortController().signal);
    assert.deepEqual(
      [
        record?.status,
        record?.failure,
        record?.report?.returned,
        record?.report?.stdout.text,
        record?.report?.exitCode,
      ],
      ["completed", undefined, "0", "7\n", 0],
    );
    assert.deepEqual(
      record?.artifacts.map(({ path, bytes, type, hash }) => [path, bytes, type, hash?.length]),
      [["outputs/r.csv", 3, "text/csv", 64]],
    );
    assert.equal(await ground.sandbox.executions.find(bob, pending.id), undefined);
    const next = await ground.restart("closed");
    assert.deepEqual(await next.sandbox.executions.find(alice, pending.id), record);
    assert.deepEqual(await next.sandbox.executions.list(alice, { limit: 10, offset: 0 }), {
      items: [record],
      total: 1,
    });
  },
);

test("each way to end has its word in the record: failed, timeout, cancelled [X2]", real, async (t) => {
  const ground = await openGround(t);
  const place = await ground.place("c1");
  const { executions } = ground.sandbox;
  const submit = async (code: string, timeoutMs = 20_000) =>
    unwrap(await executions.submit(place, { language: "bash", code, timeoutMs, conversationId: "c1" })).id;
  const ends = async (id: string) => {
    const record = await executions.wait(alice, id, new AbortController().signal);
    return [record?.status, record?.report?.how, record?.report?.stdout.text];
  };
  assert.deepEqual(await ends(await submit("echo a; exit 3")), ["failed", "done", "a\n"]);
  // On a busy machine bash would take all of a short time to begin.
  const overTime = async (timeoutMs: number): Promise<unknown[]> => {
    const [status, how, said] = await ends(await submit("echo b; sleep 100", timeoutMs));
    return said === "" && timeoutMs < 10_000 ? overTime(2 * timeoutMs) : [status, how, said];
  };
  assert.deepEqual(await overTime(300), ["timeout", "timeout", "b\n"]);
  const long = await submit("echo c; sleep 100");
  for await (const _ of executions.follow(alice, long) ?? []) break;
  assert.equal(await executions.wait(alice, long, AbortSignal.timeout(50)), undefined);
  assert.deepEqual([await executions.cancel(bob, long), await executions.cancel(alice, long)], [false, true]);
  assert.deepEqual(await ends(long), ["cancelled", "cancelled", "c\n"]);
  assert.equal(await executions.cancel(alice, long), false);
});

test("two who follow an execution hear it from its beginning, the one who came late too [X2]", real, async (t) => {
  const ground = await openGround(t);
  const place = await ground.place("c1");
  const { executions } = ground.sandbox;
  const code = "echo one; until [ -e temp/go ]; do sleep 0.01; done; echo two >&2";
  const { id } = unwrap(
    await executions.submit(place, { language: "bash", code, timeoutMs: 20_000, conversationId: undefined }),
  );
  const heard = async () => {
    const all: string[] = [];
    for await (const { stream, text } of executions.follow(alice, id) ?? []) all.push(`${stream} ${text}`);
    return all;
  };
  const early = heard();
  for await (const _ of executions.follow(alice, id) ?? []) break;
  const late = heard();
  unwrap((await place.workspace?.write("temp/go", "")) ?? stop());
  const all = ["stdout one\n", "stderr two\n"];
  assert.deepEqual([await early, await late, await heard()], [all, all, all]);
  assert.equal(executions.follow(bob, id), undefined);
});

test(
  "what a killed server left open is crashed after the restart, and the session goes on [X2][S1]",
  real,
  async (t) => {
    const ground = await openGround(t);
    const place = await ground.place("c1");
    const wanted = { language: "bash", code: "echo on; sleep 100", timeoutMs: 60_000, conversationId: "c1" } as const;
    const { id } = unwrap(await ground.sandbox.executions.submit(place, wanted));
    for await (const _ of ground.sandbox.executions.follow(alice, id) ?? []) break;
    await until("it is written that it runs", async () =>
      ((await ground.storage.findExecution(alice, id))?.body ?? "").includes('"running"'),
    );
    const next = await ground.restart("killed");
    const record = await next.sandbox.executions.find(alice, id);
    assert.deepEqual([record?.status, record?.wasCutOff, record?.endedAt === undefined], ["crashed", true, false]);
    assert.equal((await report(next, await next.place("c1"), "bash", "echo again")).stdout.text, "again\n");
    assert.equal((await next.sandbox.sessions.find(alice))?.generation, 1);
  },
);

function stop(): never {
  throw new Error("the place has a workspace");
}
