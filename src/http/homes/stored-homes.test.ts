import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { openDatabase } from "../../../test/world/database.ts";
import { failed, ok } from "../../base/result.ts";
import { makeFailure } from "../../protocol/failure.ts";
import { ConversationId, OwnerId } from "../../protocol/ids.ts";
import type { RouteName } from "../../protocol/routes.ts";
import { routeHomes } from "./route-homes.ts";

// Where that is at home of which something was stored before.

const [ann, bob] = [OwnerId.parse("ann"), OwnerId.parse("bob")];
type Sent = { readonly [part in "params" | "query" | "body" | "headers"]?: object };

/** Bob asks, about what is mostly Ann's, though both have a conversation of one name: an upload, a program that ran, what lies in her trash. */
async function yardOf(t: TestContext) {
  const storage = openDatabase(t);
  const make = async (owner: OwnerId) => {
    const made = await storage.createConversation({ owner, id: ConversationId.parse("c"), at: 0, events: [] });
    assert.ok(made.ok);
    return `c:${made.value.number}`;
  };
  const [home, homeOfBobs] = [await make(ann), await make(bob)];
  const conversations: Record<string, string> = { there: "c", gone: "gone" };
  const unknown = failed(makeFailure("upload_not_found", { id: "none" }));
  const parts = {
    storage: { ...storage, ownerOfExecution: async (id: string) => (id in conversations ? ann : undefined) },
    sandbox: { executions: { find: async (_: OwnerId, id: string) => ({ conversationId: conversations[id] }) } },
    workspaces: {
      incoming: {
        find: async (id: string) =>
          id in conversations ? ok({ owner: ann, conversationId: conversations[id] }) : unknown,
      },
      trash: async (owner: OwnerId) => (owner === ann ? [{ id: "0123456789", conversation: "c" }] : []),
    },
  };
  const homeOf = async (name: RouteName, sent: Sent, owner = bob): Promise<unknown> => {
    const { params = {}, query = {}, body = {}, headers = {} } = sent;
    const asked = { owner, actsAs: undefined, caller: { signedIn: undefined } };
    const header = (one: string) => Object(headers)[one];
    const call = { ...asked, params: { id: "sess-agent-default", path: "a.txt", ...params }, query, body, header };
    return Reflect.apply(routeHomes[name], undefined, [parts, call]);
  };
  return { home, homeOfBobs, homeOf };
}

test("an upload and a program that ran are at home where their conversation is, else where their user is [N1][S3][X4]", async (t) => {
  const { home, homeOf } = await yardOf(t);
  for (const name of ["uploadState", "continueUpload", "abandonUpload"] as const) {
    const homes = ["there", "gone", "none"].map((upload) => homeOf(name, { params: { upload } }));
    assert.deepEqual(await Promise.all(homes), [home, "u:ann", undefined], name);
  }
  for (const name of ["executionStatus", "executionResult", "followExecution", "cancelExecution"] as const) {
    const homes = ["there", "gone", "none"].map((id) => homeOf(name, { params: { id } }));
    assert.deepEqual(await Promise.all(homes), [home, "u:ann", undefined], name);
  }
});

test("what is taken out of the trash goes where its conversation is, also by the beginning of its id, and only for its user [N1][W10]", async (t) => {
  const { home, homeOf } = await yardOf(t);
  const asked = (trash: string, owner: OwnerId) => homeOf("restoreTrash", { params: { trash } }, owner);
  assert.deepEqual(
    [await asked("0123456789", ann), await asked("0123", ann), await asked("9", ann), await asked("0123", bob)],
    [home, home, undefined, undefined],
  );
});

test("who is named in the body of a call, or by the name of a session, is whose home is asked [N1][S7]", async (t) => {
  const { home, homeOfBobs, homeOf } = await yardOf(t);
  const named = { body: { user_id: "ann", conversation_id: "c" } };
  const inPath = { params: { id: "c" }, body: { user_id: "ann" } };
  const ways: readonly (readonly [RouteName, Sent, home: string])[] = [
    ["chatCompletion", named, home],
    ["openChatConversation", inPath, home],
    ["resetSession", named, home],
    ["execute", named, home],
    ["execute", { ...named, body: { user_id: "bob", conversation_id: "c" } }, homeOfBobs],
    ["createSession", { body: { user_id: "ann" } }, "u:ann"],
    ["createSession", { body: { id: "sess-ann" } }, "u:ann"],
    ["getSession", { params: { id: "sess-ann" } }, "u:ann"],
    ["listExecutions", { params: { id: "sess-ann" } }, "u:ann"],
    ["putSandboxFile", { params: { id: "sess-ann", path: "a.txt" } }, "u:ann"],
  ];
  for (const [name, sent, where] of ways) assert.equal(await homeOf(name, sent), where, JSON.stringify([name, sent]));
  const unfit = { body: { user_id: "a b", conversation_id: "c" } };
  assert.equal(await homeOf("chatCompletion", unfit), undefined, "who is nobody is told so wherever they are");
  const astray = { body: { user_id: "ann", working_directory: "/etc" } };
  assert.equal(await homeOf("execute", astray), undefined, "and so is who works where nobody does");
});

test("of several conversations that the call of a tool names, that in its body counts, then that in its path [N1][T4]", async (t) => {
  const { home, homeOf } = await yardOf(t);
  const params = { box_id: "sandbox" };
  const [own, other] = [{ conversation_id: "c" }, { conversation_id: "another" }];
  const called = (body: object) => homeOf("invokeTool", { params, body }, ann);
  assert.deepEqual(
    [await called({ query: other, path: other, body: own }), await called({ query: other, path: own })],
    [home, home],
  );
});
