import assert from "node:assert/strict";
import { test } from "node:test";
import { ok } from "../base/result.ts";
import { failure } from "../protocol/failure.ts";
import { ensureSession, type SessionPort, type SessionSeen } from "./ensure-session.ts";

type Seen = Awaited<ReturnType<SessionPort["get"]>>;

const asked = { sessionId: "sb-session-amy", user: "amy", agent: "writer", domain: "bd_public" };
const facts = { session_id: "sb-session-amy", user_id: "amy", agent_id: "writer", business_domain_id: "bd_public" };
const missing: Seen = failure("session_not_found", { id: "sb-session-amy" });
const broken: Seen = failure("network", { said: "refused" });
const exists: Seen = failure("session_exists", { id: "sb-session-amy" });
const is = (status: SessionSeen["status"], id?: string): Seen => ok({ status, id });

test("a session that runs is used again [S2][O1]", async () => {
  const { port, calls, ...world } = platform({ gets: [is("running")] });
  assert.deepEqual(await ensureSession(port, world.options), ok("sb-session-amy"));
  assert.deepEqual(calls, ["get sb-session-amy"]);
  assert.deepEqual(world.lines, ["info reuse existing session: sb-session-amy"]);
  assert.deepEqual(world.spans, [{ name: "EnsureSandboxSession", ...facts, action: "reuse_existing", ended: true }]);
});

test("a missing session is made and waited for until it runs [S2][O1]", async () => {
  const gets = [missing, is("pending"), broken, is("running")];
  const { port, calls, ...world } = platform({ gets, creates: [is("pending")] });
  assert.deepEqual(await ensureSession(port, world.options), ok("sb-session-amy"));
  assert.deepEqual(calls, [
    ...["get sb-session-amy", "create sb-session-amy", "get sb-session-amy", "wait 500"],
    ...["get sb-session-amy", "wait 500", "get sb-session-amy"],
  ]);
  assert.deepEqual(world.lines, [
    "info create new sandbox session: sb-session-amy",
    "warn get session failed: network (attempt 2)",
    "info sandbox session ready: sb-session-amy (attempts: 3)",
  ]);
  assert.equal(world.spans[0]?.action, "create_new");
});

test("the id that the platform gives the new session counts from there on [S2]", async () => {
  const { port, calls, options } = platform({ gets: [missing, is("running")], creates: [is("pending", "sess-77")] });
  assert.deepEqual(await ensureSession(port, options), ok("sess-77"));
  assert.deepEqual(calls, ["get sb-session-amy", "create sb-session-amy", "get sess-77"]);
});

test("a look that fails is no reason to give up: a session is made [S2][O1]", async () => {
  const { port, spans, options } = platform({ gets: [broken, is("running")], creates: [is("running")] });
  assert.deepEqual(await ensureSession(port, options), ok("sb-session-amy"));
  assert.equal(spans[0]?.action, "recover_from_error");
});

for (const status of ["error", "stopped", "pending"] as const)
  test(`a session in the state ${status} is made anew [S2][O1]`, async () => {
    const { port, spans, options } = platform({ gets: [is(status), is("running")], creates: [is("pending")] });
    assert.deepEqual(await ensureSession(port, options), ok("sb-session-amy"));
    assert.equal(spans[0]?.action, "recreate");
  });

test("whoever comes second waits for the session that the first one makes [S2]", async () => {
  const { port, lines, options } = platform({ gets: [missing, is("pending"), is("running")], creates: [exists] });
  assert.deepEqual(await ensureSession(port, options), ok("sb-session-amy"));
  assert.deepEqual(lines.at(-1), "info sandbox session ready: sb-session-amy (attempts: 2)");
});

test("three chats at once end in one session [S2]", async () => {
  const states: SessionSeen["status"][] = [];
  let looks = 0;
  const port: SessionPort = {
    async get() {
      await nextTick();
      looks += 1;
      if (states.length === 0) return missing;
      return is(looks > 8 ? "running" : "pending");
    },
    async create() {
      await nextTick();
      if (states.length > 0) return exists;
      states.push("pending");
      return is("pending");
    },
  };
  const { options } = platform({ gets: [] });
  const ensured = await Promise.all([1, 2, 3].map(() => ensureSession(port, options)));
  assert.deepEqual(ensured, [ok("sb-session-amy"), ok("sb-session-amy"), ok("sb-session-amy")]);
  assert.equal(states.length, 1);
});

test("a session that cannot be made is a failure of its own [S2][O1]", async () => {
  const { port, spans, options } = platform({ gets: [missing], creates: [broken] });
  assert.deepEqual(await ensureSession(port, options), failure("sandbox_session_create_failed", {}));
  assert.deepEqual(spans, [
    {
      ...{ name: "EnsureSandboxSession", ...facts, action: "create_new", ended: true },
      failed: "sandbox_session_create_failed",
    },
  ]);
});

for (const status of ["error", "stopped"] as const)
  test(`a new session that comes to the state ${status} is not waited for [S2]`, async () => {
    const { port, calls, options } = platform({ gets: [missing, is(status)], creates: [is("pending")] });
    assert.deepEqual(await ensureSession(port, options), failure("sandbox_session_create_failed", {}));
    assert.equal(calls.length, 3);
  });

test("after thirty looks a session that is not ready is given up [S2]", async () => {
  const { port, calls, options } = platform({ gets: [missing], otherwise: is("pending"), creates: [is("pending")] });
  assert.deepEqual(await ensureSession(port, options), failure("sandbox_session_not_ready", {}));
  assert.equal(calls.filter((call) => call.startsWith("get")).length, 31);
  assert.equal(calls.filter((call) => call === "wait 500").length, 29);
});

test("nobody waits on for a caller who is gone [S2]", async () => {
  const gone = AbortSignal.abort();
  const { port, calls, options } = platform({ gets: [missing], otherwise: is("pending"), creates: [is("pending")] });
  assert.deepEqual(await ensureSession(port, { ...options, signal: gone }), failure("sandbox_session_not_ready", {}));
  assert.equal(calls.length, 4);
});

/** A platform whose answers the test has written down. */
function platform({ gets, otherwise = missing, creates = [] }: { gets: Seen[]; otherwise?: Seen; creates?: Seen[] }) {
  const calls: string[] = [];
  const lines: string[] = [];
  const spans: Record<string, unknown>[] = [];
  const port: SessionPort = {
    async get(id) {
      calls.push(`get ${id}`);
      return gets.shift() ?? otherwise;
    },
    async create(id) {
      calls.push(`create ${id}`);
      return creates.shift() ?? broken;
    },
  };
  const write = (level: string) => (message: string, fields?: object) => {
    const known: Readonly<Record<string, unknown>> = { ...fields };
    lines.push(`${level} ${message.replace(/\{(\w+)\}/g, (_, name: string) => String(known[name]))}`);
  };
  const options = {
    ...asked,
    ...{ retriesMax: 30, retryIntervalMs: 500 },
    logger: { info: write("info"), warn: write("warn"), error: write("error") },
    clock: {
      async wait(ms: number, signal?: AbortSignal) {
        calls.push(`wait ${ms}`);
        await nextTick();
        return signal?.aborted ? ("aborted" as const) : ("elapsed" as const);
      },
    },
    tracer: {
      start(name: string, given?: object) {
        const span: Record<string, unknown> = { name, ...given };
        spans.push(span);
        return {
          place: undefined,
          rename: () => undefined,
          set: (more: object) => void Object.assign(span, more),
          fail: (kind: string) => void Object.assign(span, { failed: kind }),
          end: () => void Object.assign(span, { ended: true }),
        };
      },
    },
  };
  return { port, calls, lines, spans, options };
}

function nextTick(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
