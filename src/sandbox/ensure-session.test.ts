import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { openDatabase } from "../../test/world/database.ts";
import { playedProvider } from "../../test/world/played-provider.ts";
import { testSettings as settings } from "../../test/world/sandbox-settings.ts";
import { systemClock } from "../base/clock.ts";
import { systemIds } from "../base/ids.ts";
import { failed, ok } from "../base/result.ts";
import { failure, makeFailure } from "../protocol/failure.ts";
import { OwnerId } from "../protocol/ids.ts";
import type { Storage } from "../storage/storage.ts";
import { wordsFor } from "../words/words.ts";
import { ensureSession } from "./ensure-session.ts";
import { openSandbox, type Sessions } from "./sandbox.ts";

const amy = OwnerId.parse("amy");
const id = "sb-session-amy";
const about = { session_id: id, user_id: "amy", agent_id: "writer", business_domain_id: "bd_public" };

test("a session that runs is used again, a missing one is made, one that was stopped is revived under its id [S2][O1]", async (t) => {
  const { sessions, ensure, lines, spans } = platform(t);
  const next = async () => [await ensure(), lines.splice(0)[0], spans.splice(0)];
  const told = (line: string, action: string) => [ok(id), line, [{ ...span, action }]];
  assert.deepEqual(await next(), told(`info create new sandbox session: ${id}`, "create_new"));
  assert.deepEqual(await next(), told(`info reuse existing session: ${id}`, "reuse_existing"));
  await sessions.stop(amy);
  assert.deepEqual(await next(), told(`warn session status is stopped, will recreate: ${id}`, "recreate"));
  await sessions.stop(amy, { forget: true });
  await sessions.create(amy, { dialect: "public", id: "sess-77" });
  assert.deepEqual(await ensure(), ok("sess-77"));
  await sessions.stop(amy);
  assert.deepEqual(await ensure(), ok("sess-77"));
});

const span = { name: "EnsureSandboxSession", ...about, ended: true };

test("three chats at once end in one session [S2]", async (t) => {
  const { sessions, ensure, lines } = platform(t);
  assert.deepEqual(await Promise.all([ensure(), ensure(), ensure()]), [ok(id), ok(id), ok(id)]);
  assert.equal((await sessions.find(amy))?.generation, 1);
  assert.equal(lines.filter((line) => line.startsWith("info create new")).length, 1);
  assert.equal(
    lines.filter((line) => line.includes("already exists")).length,
    2,
    "who comes second waits for the first",
  );
});

test("a session that cannot be made is a failure of its own [S2][O1]", async (t) => {
  const full = async () => failed(makeFailure("storage_full", {}));
  const { ensure, lines, spans } = platform(t, (storage) => ({ ...storage, putSession: full }));
  assert.deepEqual(await ensure(), failure("sandbox_session_create_failed", {}));
  assert.equal(lines.at(-1), "error create sandbox session failed: storage_full");
  assert.deepEqual(spans, [{ ...span, action: "create_new", failed: "sandbox_session_create_failed" }]);
});

test("a session that is never there is given up after as many looks as are set, or when its caller is gone [S2]", async (t) => {
  const looksOf = async (set: Partial<typeof settings>, signal?: AbortSignal) => {
    const { sessions, ensure, waits } = platform(t, undefined, { ...settings, ...set });
    const gone: Sessions["find"] = async (owner) => {
      await sessions.stop(owner, { forget: true });
      return sessions.find(owner);
    };
    assert.deepEqual(await ensure({ find: gone }, signal), failure("sandbox_session_not_ready", {}));
    return waits;
  };
  assert.deepEqual(await looksOf({}), Array(29).fill(500));
  assert.deepEqual(await looksOf({ readyRetriesMax: 0 }), []);
  assert.deepEqual(await looksOf({}, AbortSignal.abort()), [500]);
});

/** Sessions in a database of their own; what is waited for, logged and traced is written down. */
function platform(t: TestContext, wrap: (storage: Storage) => Storage = (storage) => storage, set = settings) {
  const storage = wrap(openDatabase(t));
  const [lines, waits, spans]: [string[], number[], Record<string, unknown>[]] = [[], [], []];
  const write = (level: string) => (message: string, fields?: object) => {
    const known: Readonly<Record<string, unknown>> = { ...fields };
    lines.push(`${level} ${message.replace(/\{(\w+)\}/g, (_, name: string) => String(known[name]))}`);
  };
  const done = async () => {};
  const logger = {
    ...{ path: undefined, debug: () => {}, info: write("info"), warn: write("warn"), error: write("error") },
    ...{ flush: done, close: done },
  };
  const sandbox = openSandbox({
    ...{ provider: playedProvider(), storage, clock: systemClock, ids: systemIds, logger },
    ...{ words: wordsFor("en"), settings },
  });
  t.after(() => sandbox.close());
  const { sessions } = sandbox;
  const clock = {
    async wait(ms: number, signal?: AbortSignal) {
      waits.push(ms);
      return signal?.aborted ? ("aborted" as const) : ("elapsed" as const);
    },
  };
  const tracer = {
    start(name: string, given?: object) {
      const one: Record<string, unknown> = { name, ...given };
      spans.push(one);
      return {
        place: undefined,
        rename: () => undefined,
        set: (more: object) => void Object.assign(one, more),
        fail: (kind: string) => void Object.assign(one, { failed: kind }),
        end: () => void Object.assign(one, { ended: true }),
      };
    },
  };
  const asked = { owner: amy, agentId: "writer", businessDomain: "bd_public", settings: set, clock, logger, tracer };
  return {
    ...{ sessions, lines, waits, spans },
    ensure: (changed: Partial<Pick<Sessions, "find">> = {}, signal?: AbortSignal) =>
      ensureSession({ create: sessions.create, find: sessions.find, ...changed }, { ...asked, signal }),
  };
}
