import assert from "node:assert/strict";
import { test } from "node:test";
import { openDatabase } from "../../test/world/database.ts";
import { systemIds } from "../base/ids.ts";
import { ConversationId, localOwner, OwnerId } from "../protocol/ids.ts";
import { isOwnSession } from "../protocol/session-names.ts";
import { callerNamed, callerOf, languageWanted, type Named, type NamedBy, requestIdOf } from "./caller.ts";

const [ann, bob] = [OwnerId.parse("ann"), OwnerId.parse("bob@example.com")];

type Naming = Omit<Named, "caller"> & Partial<Pick<Named, "caller">>;
const isAnn = { caller: { signedIn: ann } };

const callers: [what: string, named: Naming, caller: string][] = [
  ["nobody", {}, "local"],
  ["the body before everything", { userId: "ann", actsAs: bob, owners: [bob] }, "ann"],
  ["the header before the conversation", { actsAs: bob, owners: [ann] }, "bob@example.com"],
  ["the id inside a session's id", { sessionId: "sb-session-ann", owners: [bob] }, "ann"],
  ["the id inside the other spelling", { sessionId: "sess-bob@example.com" }, "bob@example.com"],
  ["an id with dashes in it", { sessionId: "sb-session-a-b-c" }, "a-b-c"],
  ["the session of anybody, which names nobody", { sessionId: "sess-agent-default" }, "local"],
  ["the session of anybody, of a caller with a name", { sessionId: "sess-agent-default", actsAs: ann }, "ann"],
  ["a session with a name of its own", { sessionId: "mine", actsAs: ann }, "ann"],
  ["the public service's own ids", { sessionId: "sess_20250101_0a1b2c3d" }, "local"],
  ["a conversation that one user has", { sessionId: "sess-agent-default", owners: [ann] }, "ann"],
  ["a conversation that two users have", { owners: [ann, bob] }, "local"],
  ["a session of nobody who can be", { sessionId: "sess-not a user" }, "local"],
  ["the same user twice", { userId: "ann", sessionId: "sess-ann" }, "ann"],
  ["another user's session", { userId: "ann", sessionId: "sb-session-bob" }, "session_not_found"],
  ["another user's session", { actsAs: bob, sessionId: "sess-ann" }, "session_not_found"],
  ["a user id with a blank", { userId: "a b" }, "bad_request"],
  ["a user id of 49 characters", { userId: "x".repeat(49) }, "bad_request"],
  ["an empty user id", { userId: "", actsAs: ann }, "bad_request"],
  ["who is signed in, and nobody named", isAnn, "ann"],
  ["who is signed in, whoever has the conversation", { ...isAnn, owners: [bob] }, "ann"],
  ["who is signed in, by every name", { ...isAnn, userId: "ann", actsAs: ann, sessionId: "sess-ann" }, "ann"],
  ["who is signed in, in the session of anybody", { ...isAnn, sessionId: "sess-agent-default" }, "ann"],
  ["another user in the body of who is signed in", { ...isAnn, userId: "bob" }, "user_unknown"],
  ["another user than who is signed in", { ...isAnn, actsAs: bob }, "user_unknown"],
  ["another user's session of who is signed in", { ...isAnn, sessionId: "sess-bob" }, "session_not_found"],
];

test("who is calling is the first that a request names, and nobody reaches another user's session [S7]", () => {
  const told = callers.map(([what, named]) => {
    const caller = callerNamed({ caller: { signedIn: undefined }, ...named });
    return [what, named, caller.ok ? caller.value : caller.failure.code];
  });
  assert.deepEqual(told, callers);
});

test("a session has its own id and three other names, and only for its own user [S1][S7]", () => {
  const session = { id: "mine" };
  const ids = ["mine", "sb-session-ann", "sess-ann", "sess-agent-default", "sess-bob", "sb-session-local", "yours", ""];
  const own = (owner: OwnerId) => ids.filter((id) => isOwnSession(owner, id, owner === ann ? session : undefined));
  assert.deepEqual(own(ann), ["mine", "sb-session-ann", "sess-ann", "sess-agent-default"]);
  assert.deepEqual(own(localOwner), ["sess-agent-default", "sb-session-local"]);
});

test("of the languages that a caller takes the best liked one of ours is spoken, and none that they refuse [P4]", () => {
  const headers = {
    "": "en",
    fr: "en",
    "zh-CN": "zh",
    ZH: "zh",
    "zh;q=0.5, en;q=0.8": "en",
    "en;q=0.5, fr, zh;q=0.8": "zh",
    "zh;q=0, fr": "en",
    "en;q=0.9,zh": "zh",
  };
  assert.deepEqual(Object.fromEntries(Object.keys(headers).map((header) => [header, languageWanted(header)])), headers);
  assert.equal(languageWanted(undefined), "en");
});

test("a conversation names its user where it is one's alone, and nobody where two have one of that name [S7]", async (t) => {
  const storage = openDatabase(t);
  const make = async (owner: OwnerId, id: string) =>
    assert.ok((await storage.createConversation({ owner, id: ConversationId.parse(id), at: 0, events: [] })).ok);
  await make(ann, "of-ann");
  for (const owner of [ann, bob]) await make(owner, "of-both");
  const caller = async (conversationId: string, more: Partial<NamedBy> = {}) => {
    const found = await callerOf({ storage }, { caller: { signedIn: undefined }, conversationId, ...more });
    return found.ok ? found.value : found.failure.code;
  };
  assert.deepEqual(
    [await caller("of-ann"), await caller("of-both"), await caller("of-nobody"), await caller("no id at all")],
    ["ann", "local", "local", "local"],
  );
  assert.equal(await caller("of-ann", { actsAs: bob }), bob);
  assert.equal(await caller("of-ann", { executionId: "none" }), "ann");
});

test("an execution names its user, unless the conversation beside it is another one's [S7]", async () => {
  const owners = { "of-ann": [ann], "of-bob": [bob] };
  const storage = {
    ownersOfConversation: async (id: string) =>
      Object.entries(owners).flatMap(([known, of]) => (known === id ? of : [])),
    ownerOfExecution: async (id: string) => (id === "ran" ? ann : undefined),
  };
  const caller = async (executionId: string, conversationId?: string) => {
    const found = await callerOf({ storage }, { caller: { signedIn: undefined }, executionId, conversationId });
    return found.ok ? found.value : found.failure.code;
  };
  assert.deepEqual(
    [await caller("ran"), await caller("none"), await caller("ran", "of-bob")],
    ["ann", "local", "local"],
  );
});

test("an id that a caller gives its request is kept up to 64 characters, and one is made where there is none [C7]", () => {
  const ids = { ...systemIds, uuid: () => "made" };
  const given = ["x".repeat(64), "x".repeat(65), "", undefined];
  assert.deepEqual(
    given.map((id) => requestIdOf(id, ids)),
    ["x".repeat(64), "made", "made", "made"],
  );
});
