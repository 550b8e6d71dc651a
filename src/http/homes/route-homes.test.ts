import assert from "node:assert/strict";
import { test } from "node:test";
import { z } from "zod";
import { openDatabase } from "../../../test/world/database.ts";
import { ConversationId, localOwner, OwnerId } from "../../protocol/ids.ts";
import { type RouteName, routes } from "../../protocol/routes.ts";
import type { Storage } from "../../storage/storage.ts";
import { callId, responseId } from "../openai/ids.ts";
import { routeHomes } from "./route-homes.ts";

/** Whether somebody who calls it means one conversation, by what the route takes. */
function namesConversation(name: RouteName): boolean {
  const { path, query, body } = routes[name];
  const fields = [query, body].flatMap((part) =>
    Object.keys(z.toJSONSchema(part, { unrepresentable: "any", io: "input" }).properties ?? {}),
  );
  return (
    /\/conversations?\/(session\/)?\{id\}/.test(path) || fields.some((field) => /^conversation(_id)?$/.test(field))
  );
}

/** Whoever asks belongs to nobody else, and names one conversation wherever a route takes its name. */
async function homeOf(storage: Storage, name: RouteName): Promise<unknown> {
  const named = { conversation: "c", conversation_id: "c" };
  const asked = { owner: localOwner, caller: { signedIn: undefined }, header: () => undefined };
  const call = { ...asked, params: { id: "c", path: "a.txt" }, query: named, body: named };
  return Reflect.apply(routeHomes[name], undefined, [{ storage }, call]);
}

const names = Object.keys(routes).filter((name): name is RouteName => Object.hasOwn(routes, name));

async function conversationOf(storage: Storage, owner: OwnerId): Promise<string> {
  const made = await storage.createConversation({ owner, id: ConversationId.parse("c"), at: 0, events: [] });
  assert.ok(made.ok);
  return `c:${made.value.number}`;
}

test("every route that names a conversation is served where that is at home [N1]", async (t) => {
  const storage = openDatabase(t);
  const home = await conversationOf(storage, localOwner);
  const naming = names.filter(namesConversation);
  assert.ok(naming.length > 60, `${naming.length} routes name a conversation`);
  const homes = await Promise.all(naming.map((name) => homeOf(storage, name)));
  assert.deepEqual(
    naming.filter((_, index) => homes[index] !== home),
    [],
  );
});

const ann = OwnerId.parse("ann");

/** Ann asks, and names no more than this. */
async function homeFor(storage: Storage, name: RouteName, sent: Sent = {}): Promise<unknown> {
  const { params = {}, query = {}, body = {}, headers = {} } = sent;
  const asked = { owner: ann, actsAs: ann, caller: { signedIn: undefined } };
  const header = (one: string) => Object(headers)[one];
  const call = { ...asked, params: { id: "sess-ann", path: "a.txt", ...params }, query, body, header };
  return Reflect.apply(routeHomes[name], undefined, [{ storage }, call]);
}

type Sent = { readonly [part in "params" | "query" | "body" | "headers"]?: object };

test("what a user has is served where that user is at home, and what all share by one server [N1]", async (t) => {
  const storage = openDatabase(t);
  // These are found by what was stored of them.
  const stored = ["restoreTrash", "uploadState", "continueUpload", "abandonUpload"];
  const body = { messages: [], input: "" };
  const asked = names.filter((name) => !stored.includes(name));
  const homes = await Promise.all(asked.map((name) => homeFor(storage, name, { body })));
  const at = (home: string) => asked.filter((_, index) => homes[index] === home).sort();
  assert.deepEqual(
    at("u:ann"),
    [
      ...["cleanWorkspaces", "search", "listRules", "listTools", "listSkills", "explainSkill", "listMentions"],
      ...["revokeRule", "installSkillPackages", "listMemory", "addMemory", "changeMemory", "forgetMemory"],
      ...["listMcpServers", "restartMcpServer", "signInToMcpServer", "signOutOfMcpServer", "finishMcpSignIn"],
      ...["comeBackFromMcpSignIn", "listMcpResources", "listMcpPrompts", "fillMcpPrompt", "signOut"],
      ...["createSession", "listSessions", "getSession", "deleteSession", "terminateSession", "resetSession"],
      ...["installDependencies", "execute", "executeSync", "listExecutions", "createUpload", "uploadSandboxFile"],
      ...["putSandboxFile", "listSandboxFiles", "emptySandboxFiles", "readSandboxFile", "removeSandboxFile"],
      ...["getChatConversation", "renameChatConversation", "markChatConversationRead", "deleteChatConversation"],
      "openChatConversation",
    ].sort(),
  );
  assert.deepEqual(
    at("u:*"),
    [
      ...["listModels", "getModel", "enterModel", "removeModel", "createToolBox", "listToolBoxes", "getToolBox"],
      ...["changeToolBox", "deleteToolBox", "setToolBoxStatus", "addBoxTools", "listBoxTools", "setBoxToolStatus"],
      ...["deleteBoxTools", "getBoxTool", "invokeTool", "debugTool", "signIn", "listUsers", "addUser", "removeUser"],
      ...["setPassword", "makeSignInLink", "listKeys", "addKey", "removeKey"],
    ].sort(),
  );
});

test("a conversation is found at its home by whichever field, header or earlier answer names it [N1][X2][C5]", async (t) => {
  const storage = openDatabase(t);
  const home = await conversationOf(storage, ann);
  const uuid = "0a1b2c3d-0000-4000-8000-00000000000a";
  const call = callId({ conversation: "c", decision: "0123456789ab" });
  const before = responseId({ conversation: "c", message: uuid, since: undefined });
  const asked = { role: "assistant", tool_calls: [{ id: call, function: { name: "f", arguments: "{}" } }] };
  const messages = [asked, { role: "tool", tool_call_id: call, content: "42" }];
  const ways: readonly (readonly [RouteName, Sent])[] = [
    ["createChatCompletion", { body: { messages: [] }, headers: { "x-conversation-id": "c" } }],
    ["createChatCompletion", { body: { messages } }],
    ["createResponse", { body: { input: "", conversation: "c" } }],
    ["createResponse", { body: { input: "", conversation: { id: "c" } } }],
    ["createResponse", { body: { input: "" }, headers: { "x-conversation-id": "c" } }],
    ["createResponse", { body: { input: "", previous_response_id: before } }],
    ["createResponse", { body: { input: [{ type: "function_call_output", call_id: call, output: "42" }] } }],
    ["getResponse", { params: { id: before } }],
    ["deleteResponse", { params: { id: before } }],
    ["execute", { body: { event: { conversation_id: "c" } } }],
    ["executeSync", { body: { working_directory: "/workspace/c" } }],
    ["resetSession", { headers: { conversation_id: "c" } }],
    ["resetSession", { headers: { "x-conversation-id": "c" } }],
    ["readSandboxFile", { params: { path: "c/outputs/a.txt" } }],
    ["listSandboxFiles", { query: { path: "c/outputs" } }],
    ["putSandboxFile", { headers: { conversation_id: "c" } }],
    ["emptySandboxFiles", { headers: { "x-conversation-id": "c" } }],
    ["uploadSandboxFile", { query: { path: "c/outputs" } }],
    ["createUpload", { headers: { "upload-metadata": `conversation_id ${btoa("c")}` } }],
    ["invokeTool", { params: { box_id: "sandbox" }, body: { query: { conversation_id: "c" } } }],
    ["invokeTool", { params: { box_id: "sandbox" }, body: { path: { conversation_id: "c" } } }],
    ["debugTool", { params: { box_id: "sandbox" }, body: { body: { conversation_id: "c" } } }],
  ];
  for (const [name, sent] of ways) assert.equal(await homeFor(storage, name, sent), home, JSON.stringify([name, sent]));
  assert.equal(await homeFor(storage, "invokeTool", { params: { box_id: "sandbox" } }), "u:ann");
  assert.equal(await homeFor(storage, "createChatCompletion", { body: { messages: [] } }), undefined);
});
