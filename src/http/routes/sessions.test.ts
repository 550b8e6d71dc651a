import assert from "node:assert/strict";
import { test } from "node:test";
import { ok } from "../../base/result.ts";
import { failure, makeFailure } from "../../protocol/failure.ts";
import { OwnerId } from "../../protocol/ids.ts";
import type { Session, Sessions } from "../../sandbox/sandbox.ts";
import type { ConversationRow } from "../../storage/storage.ts";
import { asked, notedLater, partsWith } from "./handling.testing.ts";
import { sessionHandlers } from "./sessions.ts";

const ann = OwnerId.parse("ann");
const caller = { signedIn: ann, scopes: ["chat", "files"] } as const;
const session = {
  ...{ id: "s1", owner: ann, status: "running", dialect: "seed", createdAt: 1_000, updatedAt: 1_000, usedAt: 1_000 },
  ...{ ttlMs: 1_000, generation: 1, executionTimeoutMs: 1_000, env: {}, degraded: [] },
  uploads: { fileBytesMax: 1024, filesMax: 1, types: [] },
  limits: { cpus: 1, memoryBytes: 1024 ** 3, fileBytesMax: 1024 ** 3, processesMax: 1 },
} as unknown as Session;

/** Sessions that the test plays, and what was done in which order. */
function playing(sessions: Partial<Sessions>, more: Parameters<typeof partsWith>[0] = {}) {
  const done: unknown[] = [];
  const handlers = sessionHandlers(
    partsWith({
      freshen: () => notedLater(done, "fresh"),
      log: { find: async (_, id) => (id === "gone" ? failure("conversation_not_found", { id }) : ok(rowOf(id))) },
      workspaces: { ofConversation: ({ id }) => ({ name: id }) },
      ...more,
      sandbox: {
        sessions: {
          find: async () => session,
          async create(owner, wanted) {
            done.push(["create", owner, wanted.dialect]);
            return ok(session);
          },
          async stop(owner, how) {
            done.push(["stop", owner, how]);
            return ok(undefined);
          },
          ...sessions,
        },
        packages: {
          refusal: () => undefined,
          async install(owner) {
            done.push(["install", owner]);
            return ok({ ...session, id: "with packages" });
          },
        },
        reset: (place) => notedLater(done, ["reset", place]),
        ...more.sandbox,
      },
    }),
  );
  return { ...handlers, done };
}

const rowOf = (id: string) => ({ id, number: 7, owner: ann }) as ConversationRow;

type Create = Parameters<ReturnType<typeof sessionHandlers>["createSession"]>[0];

test("a session that is there already is told as an earlier try's, as the one that is wanted, or beside the refusal [S1][C6]", async () => {
  const exists = failure("session_exists", { id: "s1" });
  const { createSession } = playing({ create: async () => exists });
  const create = async (of: { once?: Create["once"]; if_exists?: "return" | "fail" }) => {
    const { once, if_exists = "fail" } = of;
    const answer = await createSession(asked("createSession", { caller, body: {}, query: { if_exists }, once }));
    return answer.ok
      ? ["ok", answer.status, answer.value.id]
      : [answer.failure.code, Object(answer.beside?.session).id];
  };
  assert.deepEqual(await create({}), ["session_exists", "s1"]);
  assert.deepEqual(await create({ once: { seed: "s", isRetry: false } }), ["session_exists", "s1"]);
  assert.deepEqual(await create({ once: { seed: "s", isRetry: true } }), ["ok", undefined, "s1"]);
  assert.deepEqual(await create({ if_exists: "return" }), ["ok", 200, "s1"]);
  const full = playing({ create: async () => failure("storage_full", {}) });
  const refused = await full.createSession(
    asked("createSession", { caller, body: {}, query: { if_exists: "return" } }),
  );
  assert.deepEqual(refused, failure("storage_full", {}), "there may be one, and that is not the reason");
});

test("a session is made with the settings as they are, and its packages come with it or it goes again [S1][X2]", async () => {
  const wanted = (fails: boolean) =>
    asked("createSession", {
      ...{ caller, query: { if_exists: "fail" as const } },
      body: {
        ...{ dependencies: [{ name: "six" }], install_timeout: 5, allow_version_conflicts: false },
        fail_on_dependency_error: fails,
      },
    });
  const plain = playing({});
  await plain.createSession(asked("createSession", { caller, body: {}, query: { if_exists: "fail" } }));
  assert.deepEqual(plain.done, ["fresh", ["create", "ann", "seed"]]);
  const well = playing({});
  const made = await well.createSession(wanted(true));
  assert.equal(made.ok && made.value.id, "with packages");
  assert.deepEqual(well.done, ["fresh", ["create", "ann", "seed"], ["install", "ann"]]);
  const no = failure("packages_not_configured", { setting: "s" });
  const broken = (refusal: typeof no | undefined) =>
    playing({}, { sandbox: { packages: { refusal: () => refusal, install: async () => no } } });
  const before = broken(no);
  assert.deepEqual([await before.createSession(wanted(true)), before.done], [no, ["fresh"]], "nothing was made for it");
  const later = broken(undefined);
  assert.deepEqual(
    [await later.createSession(wanted(true)), later.done],
    [no, ["fresh", ["create", "ann", "seed"], ["stop", "ann", { forget: true }]]],
  );
  const goesOn = broken(no);
  const without = await goesOn.createSession(wanted(false));
  assert.deepEqual(
    [without.ok && [without.value.id, without.value.dependency_install_status], goesOn.done],
    [
      ["s1", "failed"],
      ["fresh", ["create", "ann", "seed"]],
    ],
  );
});

test("a list of sessions has those with the state and the template that were asked for, in either way to say it [S1]", async () => {
  const all = [
    { ...session, id: "a" },
    { ...session, id: "b", dialect: "public", status: "stopped" } as const,
    { ...session, id: "c", dialect: "public", templateId: "other" } as const,
  ];
  const { listSessions } = playing({ list: async () => all });
  const list = async (query: object) => {
    const answer = await listSessions(
      asked("listSessions", { caller, owner: ann, query: { limit: 50, offset: 0, ...query } }),
    );
    return answer.ok && [answer.value.items.map(({ id }) => id).join(""), answer.value.total, answer.value.has_more];
  };
  assert.deepEqual(await list({}), ["abc", 3, false]);
  assert.deepEqual(
    [await list({ status: "terminated" }), await list({ status: "stopped" })],
    [
      ["b", 1, false],
      ["b", 1, false],
    ],
  );
  assert.deepEqual(
    [await list({ template_id: "other" }), await list({ template_id: "python-basic" })],
    [
      ["c", 1, false],
      ["ab", 2, false],
    ],
  );
  assert.deepEqual(await list({ template_id: "python-basic", status: "running" }), ["a", 1, false]);
  assert.deepEqual(
    [await list({ limit: 0 }), await list({ limit: 1, offset: 2 }), await list({ limit: 2 })],
    [
      ["a", 3, true],
      ["c", 3, false],
      ["ab", 3, true],
    ],
  );
});

test("what ends a session says how it ended, and a session that is not there cannot end [S1]", async () => {
  const call = { caller, params: { id: "s1" } };
  const playedTo = (stopped: Session | undefined) => playing({ stop: async () => ok(stopped) });
  const told = async (handlers: ReturnType<typeof playing>) => {
    const answer = await handlers.terminateSession(asked("terminateSession", call));
    return answer.ok ? answer.value.status : answer.failure.code;
  };
  assert.equal(await told(playedTo({ ...session, status: "stopped" })), "stopped");
  assert.equal(await told(playedTo(undefined)), "running", "as it was found");
  const [kept, forgotten] = [playing({}), playing({})];
  await kept.terminateSession(asked("terminateSession", call));
  await forgotten.deleteSession(asked("deleteSession", call));
  assert.deepEqual([kept.done, forgotten.done], [[["stop", "ann", undefined]], [["stop", "ann", { forget: true }]]]);
  const none = playing({ find: async () => undefined });
  const missing = await none.terminateSession(asked("terminateSession", { caller, params: { id: "sess-ann" } }));
  assert.deepEqual([missing, none.done], [failure("session_not_found", { id: "sess-ann" }), []]);
});

test("what is reset is the conversation that is named, by whichever of the ways counts first [S1][X2]", async () => {
  const { resetSession, done } = playing({});
  const reset = async (of: { body?: string; query?: string; header?: string; x?: string }) => {
    const headers: Record<string, string | undefined> = { conversation_id: of.header, "x-conversation-id": of.x };
    const answer = await resetSession(
      asked("resetSession", {
        ...{ caller, params: { id: "s1" }, header: (name: string) => headers[name] },
        ...{ body: { conversation_id: of.body }, query: { conversation_id: of.query } },
      }),
    );
    const [what] = done.splice(0);
    return answer.ok ? Object(what)[1] : answer.failure;
  };
  const nowhere = { owner: ann, conversation: undefined, workspace: undefined, agent: "root" };
  assert.deepEqual(await reset({}), nowhere);
  const names = [
    await reset({ body: "b", query: "q", header: "h", x: "x" }),
    await reset({ query: "q", header: "h", x: "x" }),
    await reset({ header: "h", x: "x" }),
    await reset({ x: "x" }),
  ];
  const at = (name: string) => ({ ...nowhere, conversation: 7, workspace: { name } });
  assert.deepEqual(names, [at("b"), at("q"), at("h"), at("x")]);
  assert.deepEqual(await reset({ body: "gone" }), makeFailure("conversation_not_found", { id: "gone" }));
});
