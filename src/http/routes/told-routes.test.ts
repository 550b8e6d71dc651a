import assert from "node:assert/strict";
import { test } from "node:test";
import { systemIds } from "../../base/ids.ts";
import { failed, ok } from "../../base/result.ts";
import { failure, makeFailure } from "../../protocol/failure.ts";
import { OwnerId } from "../../protocol/ids.ts";
import type { ConversationRow } from "../../storage/storage.ts";
import type { Tries } from "../tries.ts";
import { agentHandlers } from "./agents.ts";
import { backupHandlers } from "./backup.ts";
import { conversationHandlers } from "./conversations.ts";
import { asked, noted, partsWith } from "./handling.testing.ts";
import { modelHandlers } from "./models.ts";
import { signInHandlers } from "./sign-in.ts";
import { userHandlers } from "./users.ts";
import { workspaceHandlers } from "./workspaces.ts";

// What small routes tell of what they were given.

const ann = OwnerId.parse("ann");
const row = (id: string) => ({ id, number: 7, owner: ann, title: `of ${id}` }) as ConversationRow;
const full = failure("storage_full", {});

test("a conversation is found by its id, or by the beginning of it where that is asked for, and told anew after it was emptied [S6]", async () => {
  const done: unknown[] = [];
  let reset: unknown = ok(undefined);
  const { getConversation, resetConversation, branchConversation } = conversationHandlers(
    partsWith({
      ids: { ...systemIds, uuid: () => "made" },
      log: {
        find: async (_, id) => noted(done, ["find", id], ok(row(id))),
        findByPrefix: async (_, id) => noted(done, ["prefix", id], ok(row(`${id}-whole`))),
      },
      engine: {
        reset: async ({ id }) => noted(done, ["reset", id], reset),
        branch: async ({ id }, at, to) =>
          noted(done, ["branch", id, at, to], ok({ conversation: row("b"), leftOut: ["big.bin"] })),
      },
    }),
  );
  const at = { owner: ann, params: { id: "c" } };
  const get = async (prefix: boolean) => {
    const answer = await getConversation(asked("getConversation", { ...at, query: { prefix } }));
    return [answer.ok && answer.value.title, ...done.splice(0)];
  };
  assert.deepEqual(await get(false), ["of c", ["find", "c"]]);
  assert.deepEqual(await get(true), ["of c-whole", ["prefix", "c"]]);
  assert.equal((await resetConversation(asked("resetConversation", at))).ok, true);
  const find = ["find", "c"];
  assert.deepEqual(done.splice(0), [find, ["reset", "c"], find]);
  reset = full;
  assert.deepEqual(await resetConversation(asked("resetConversation", at)), full);
  done.length = 0;
  const branch = await branchConversation(asked("branchConversation", { ...at, body: { at: 5 } }));
  assert.deepEqual(branch.ok && [branch.value.title, branch.value.filesLeftOut], ["of b", ["big.bin"]]);
  assert.deepEqual(done.at(-1), ["branch", "c", 5, "made"]);
});

test("agents are listed with the tools they have, and all of them where nothing says which [A1]", async () => {
  const role = { id: "a", name: "A", description: "Does.", prompt: "p", tools: ["read_file"], slot: "code" };
  const general = { ...role, id: "general", tools: undefined, slot: undefined };
  const { listAgents } = agentHandlers(partsWith({ engine: { agents: () => [general, role] } }));
  const shown = { name: "A", description: "Does." };
  assert.deepEqual(
    await listAgents(asked("listAgents", {})),
    ok({
      items: [
        { ...shown, id: "general", tools: null, slot: null },
        { ...shown, id: "a", tools: ["read_file"], slot: "code" },
      ],
    }),
  );
});

test("a model is told as it is after it was entered or taken out, what is wrong in words, and no slot that nobody knows [P4]", async () => {
  const done: unknown[] = [];
  let answer: unknown = ok(undefined);
  let broken: unknown;
  const { getModel, enterModel, removeModel } = modelHandlers(
    partsWith({
      entering: {
        describe: (slot) => noted(done, ["describe", slot], { slot, model: "m", broken }),
        enter: async (slot, body) => noted(done, ["enter", slot, body], answer),
        remove: async (slot) => noted(done, ["remove", slot], answer),
      },
    }),
  );
  const ask = async (slot: string) => [
    await getModel(asked("getModel", { params: { slot } })),
    await enterModel(asked("enterModel", { params: { slot }, body: { model: "x" } })),
    await removeModel(asked("removeModel", { params: { slot } })),
  ];
  const told = ok({ slot: "code", model: "m", broken: null });
  assert.deepEqual(await ask("code"), [told, told, told]);
  const describe = ["describe", "code"];
  const entered = ["enter", "code", { model: "x" }];
  assert.deepEqual(done.splice(0), [describe, entered, describe, ["remove", "code"], describe]);
  answer = full;
  broken = makeFailure("storage_full", {});
  const [got, ...refused] = await ask("code");
  assert.match(String(got?.ok && got.value.broken), /\w/);
  assert.deepEqual(refused, [full, full]);
  done.length = 0;
  const refusals = await ask("x".repeat(99));
  const codes = refusals.map((one) => !one.ok && [one.failure.code, Object(one.failure.params).slot]);
  assert.deepEqual([codes, done], [Array(3).fill(["slot_unknown", "x".repeat(80)]), []]);
});

test("who calls is told who they are, what they may do and how they showed it; whoever need not be known is nobody [C6]", async () => {
  const { getMe } = signInHandlers(partsWith({ users: { find: async (id) => ({ id }) } }), {} as Tries);
  const me = async (caller: object) => getMe(asked("getMe", { caller: Object(caller) }));
  const scopes = ["chat"];
  const byKey = await me({ signedIn: ann, scopes, by: "key" });
  assert.deepEqual(byKey, ok({ user: { id: "ann" }, scopes, by: "key" }));
  assert.deepEqual(await me({ signedIn: undefined, scopes }), ok({ user: null, scopes, by: null }));
});

test("a link to sign in is told with its path and its end, a backup is named by its day, and what came back from the trash with what is beside it [C6][W10]", async () => {
  const made = { user: { id: ann }, token: "tok", endsAt: 5 };
  const { makeSignInLink } = userHandlers(
    partsWith({ users: { makeLink: async (id) => (id === "ann" ? ok(made) : failure("user_unknown", { id })) } }),
    {} as Tries,
  );
  const link = (user: string) => makeSignInLink(asked("makeSignInLink", { params: { user } }));
  assert.deepEqual(await link("ann"), ok({ user: { id: "ann" }, path: "/sign-in?link=tok", endsAt: 5 }));
  assert.deepEqual(await link("bob"), failure("user_unknown", { id: "bob" }));
  const wanted: unknown[] = [];
  const { backup } = backupHandlers(
    partsWith({
      ...{ version: "1.2.3", clock: { now: () => Date.UTC(2026, 1, 3, 23, 59) } },
      workspaces: { archive: (of) => noted(wanted, of, "chunks") },
    }),
  );
  const archive = async (key: boolean) => {
    const answer = await backup(asked("backup", { query: { key } }));
    assert.ok(answer.ok && "archive" in answer.value);
    const { name, type, chunks } = answer.value.archive;
    return [name, type, chunks(), Object(wanted.pop()).withKey];
  };
  assert.deepEqual(await archive(true), ["agentyard-2026-02-03.tar", "application/x-tar", "chunks", true]);
  assert.deepEqual((await archive(false)).at(-1), false);
  let restored: unknown = ok({ conversation: "c", beside: ["a (2).txt"] });
  const { restoreTrash, listTrash } = workspaceHandlers(
    partsWith({
      workspaces: {
        restore: async (...of) => noted(wanted, of, restored),
        trash: async (owner) => [{ id: "t", owner }],
      },
    }),
  );
  const call = { owner: ann, params: { trash: "t" } };
  assert.deepEqual(await restoreTrash(asked("restoreTrash", call)), ok({ conversation: "c", beside: ["a (2).txt"] }));
  assert.deepEqual(wanted, [[ann, "t"]]);
  restored = failed(makeFailure("storage_full", {}));
  assert.equal((await restoreTrash(asked("restoreTrash", call))).ok, false);
  assert.deepEqual(await listTrash(asked("listTrash", { owner: ann })), ok({ items: [{ id: "t", owner: "ann" }] }));
});
