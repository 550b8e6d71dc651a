import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { Hono } from "hono";
import { z } from "zod";
import { openDatabase } from "../../../test/world/database.ts";
import { gather } from "../../../test/world/file-doors.ts";
import { failed, ok } from "../../base/result.ts";
import { makeFailure } from "../../protocol/failure.ts";
import { ConversationId, localOwner, OwnerId } from "../../protocol/ids.ts";
import { type RouteName, routes } from "../../protocol/routes.ts";
import type { Storage } from "../../storage/storage.ts";
import { noBytes } from "../bytes.ts";
import type { Env } from "../door.ts";
import { callId, responseId } from "../openai/ids.ts";
import { keepForm } from "./form-home.ts";
import { routeHomes } from "./route-homes.ts";
import { openElsewhere } from "./serve-elsewhere.ts";

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

const fileBytesMax = 1_000;
/** The file and half a MiB for what stands beside it. */
const bytesMax = fileBytesMax + 512 * 1024;
const formType = "multipart/form-data; boundary=x";

/** As browsers send it: the file first, and then what it is for. */
function formOf(fields: Readonly<Record<string, string>>): string {
  const named = Object.entries(fields).map(([name, value]) => `name="${name}"\r\n\r\n${value}`);
  const parts = ['name="file"; filename="a.txt"\r\n\r\n12345', ...named];
  return `${parts.map((part) => `--x\r\ncontent-disposition: form-data; ${part}\r\n`).join("")}--x--\r\n`;
}

async function keeping(t: TestContext) {
  const storage = openDatabase(t);
  const home = await conversationOf(storage, ann);
  const place = { closed: 0, spooled: [] as unknown[] };
  const spool = async (source: AsyncIterable<Uint8Array>, options: object) => {
    place.spooled.push(options);
    const kept = await gather(source);
    async function* chunks() {
      yield kept;
    }
    return ok({ chunks, bytes: kept.length, close: () => (place.closed += 1) });
  };
  const parts = { storage, workspaces: { spool }, sandboxSettings: () => ({ uploads: { fileBytesMax } }) };
  const keep = (body: string, { announced, query = {}, id = "sess-ann" }: Asking = {}) => {
    async function* chunks() {
      yield Buffer.from(body);
    }
    const header = (name: string) => (name === "content-type" ? formType : undefined);
    const asked = { caller: { signedIn: undefined }, actsAs: undefined, params: { id }, query, header };
    return keepForm(Object(parts), Object({ ...asked, bytes: { chunks: chunks(), announced } }));
  };
  return { home, place, keep };
}

type Asking = { readonly announced?: number; readonly query?: object; readonly id?: string };

test("a form that names its conversation behind its file goes there, whole and with its length [N1][S3]", async (t) => {
  const { home, place, keep } = await keeping(t);
  const form = formOf({ conversation_id: "c" });
  const kept = await keep(form);
  assert.ok(kept.ok && kept.value !== undefined);
  const { key, bytes } = kept.value;
  const sent = (await gather(bytes.chunks)).toString();
  assert.deepEqual([key, bytes.announced, sent, place.closed], [home, form.length, form, 0]);
  const [limit] = place.spooled;
  assert.deepEqual(Object(limit).limit.bytes, bytesMax);
  const byPath = await keep(formOf({ path: "c/outputs" }));
  const unnamed = await keep(formOf({}));
  const broken = await keep("no form at all");
  assert.deepEqual(
    [byPath, unnamed, broken].map((one) => one.ok && one.value?.key),
    [home, "u:ann", "u:ann"],
  );
});

test("a form that says it is too long is not kept, and one as long as may be is [N1][F4]", async (t) => {
  const { place, keep } = await keeping(t);
  const form = formOf({ conversation_id: "c" });
  assert.deepEqual(await keep(form, { announced: bytesMax + 1 }), ok(undefined));
  assert.equal(place.spooled.length, 0);
  const kept = await keep(form, { announced: bytesMax });
  assert.ok(kept.ok && kept.value !== undefined);
});

// Where that is at home of which something was stored before.

const bob = OwnerId.parse("bob");

/** Bob asks, about what is mostly Ann's, though both have a conversation of one name: an upload, a program that ran, what lies in her trash. */
async function yardOf(t: TestContext) {
  const storage = openDatabase(t);
  const [home, homeOfBobs] = [await conversationOf(storage, ann), await conversationOf(storage, bob)];
  const conversations: Record<string, string> = { there: "c", gone: "gone" };
  const unknown = failed(makeFailure("upload_not_found", { id: "none" }));
  const parts = {
    storage: {
      ...storage,
      ownerOfExecution: async (id: string) => (id in conversations ? ann : undefined),
    },
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

test("who waits here is told when another server may have had what they wait for, and who comes after that waits anew [N1][L6]", async (t) => {
  const storage = openDatabase(t);
  await conversationOf(storage, ann);
  let back = () => {};
  const onBack = (listener: () => void) => {
    back = listener;
    return () => {};
  };
  const elsewhere = openElsewhere(Object({ storage }), async () => undefined, { onBack });
  const doubtedOf = async (name: RouteName) => {
    const asked = { owner: ann, actsAs: ann, caller: { signedIn: undefined }, bytes: noBytes, header: () => undefined };
    const call = { ...asked, params: { id: "c" }, query: {}, body: {} };
    const app = new Hono<Env>();
    const found = Promise.withResolvers<Awaited<ReturnType<typeof elsewhere>>>();
    app.get("/", async (c) => {
      found.resolve(await Reflect.apply(elsewhere, undefined, [c, name, { call }]));
      return c.body(null);
    });
    await app.request("/");
    const left = await found.promise;
    return left.ok && "bytes" in left.value ? left.value.doubted : assert.fail("it is done here");
  };
  const [before, homeless] = [await doubtedOf("followEvents"), await doubtedOf("listConversations")];
  assert.deepEqual([before?.aborted, homeless], [false, undefined]);
  back();
  const after = await doubtedOf("followEvents");
  assert.deepEqual([before?.aborted, after?.aborted], [true, false]);
  back();
  assert.equal(after?.aborted, true);
});
