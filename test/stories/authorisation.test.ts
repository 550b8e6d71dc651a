import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { z } from "zod";
import { systemIds } from "../../src/base/ids.ts";
import type { App } from "../../src/http/http.ts";
import type { Route, Scope } from "../../src/protocol/route.ts";
import { type RouteName, routes } from "../../src/protocol/routes.ts";
import { openSandbox } from "../../src/sandbox/sandbox.ts";
import { wordsFor } from "../../src/words/words.ts";
import { until } from "../world/events.ts";
import type { Schema } from "../world/json-schema.ts";
import { calls, type ModelServer, modelServer, says, stepOf } from "../world/model-server.ts";
import { playedProvider } from "../world/played-provider.ts";
import { effectTool } from "../world/tools.ts";
import { must, startYard, type TestYard } from "../world/yard.ts";

// A request that fits for every row of the route table, made from its schemas: a new route needs no line here.

/** Values by the name of their field, and of the fields that need not be there those that are wanted. */
type Wanted = Readonly<Record<string, unknown>>;

/** The smallest value that fits, with what is wanted in it. */
function sampleOf(schema: z.ZodType, wanted: Wanted): unknown {
  const root = schemaOf(schema);
  return sample(root, wanted, root.$defs ?? {});
}

function hasField(schema: z.ZodType, name: string): boolean {
  return name in (schemaOf(schema).properties ?? {});
}

function schemaOf(schema: z.ZodType): Schema {
  return JSON.parse(JSON.stringify(z.toJSONSchema(schema, { io: "input" })));
}

function sample(schema: Schema, wanted: Wanted, definitions: Readonly<Record<string, Schema>>): unknown {
  const { type, properties = {}, required = [], items, minItems = 0 } = schema;
  const named = schema.$ref?.split("/").at(-1);
  if (named !== undefined) return sample(definitions[named] ?? {}, wanted, definitions);
  if (schema.const !== undefined) return schema.const;
  if (schema.enum !== undefined) return schema.enum[0];
  const [choice] = schema.anyOf ?? schema.oneOf ?? schema.allOf ?? [];
  if (choice !== undefined) return sample(choice, wanted, definitions);
  switch (typeof type === "string" ? type : type?.[0]) {
    case "object": {
      const isWanted = (name: string) => name in wanted && mayBe(properties[name] ?? {}, wanted[name]);
      const names = Object.keys(properties).filter((name) => required.includes(name) || isWanted(name));
      return Object.fromEntries(
        names.map((name) => [
          name,
          isWanted(name) ? wanted[name] : sample(properties[name] ?? {}, wanted, definitions),
        ]),
      );
    }
    case "array":
      return Array.from({ length: minItems }, () => sample(items ?? {}, wanted, definitions));
    case "integer":
    case "number":
      return schema.minimum ?? (schema.exclusiveMinimum ?? 0) + 1;
    case "boolean":
      return false;
    case "null":
      return null;
    default:
      return "x";
  }
}

/** Two routes may use one name for a text and for an object. */
function mayBe({ type, anyOf = [], oneOf = [] }: Schema, value: unknown): boolean {
  const choices = [...anyOf, ...oneOf];
  if (typeof value !== "string") return true;
  if (type !== undefined) return [type].flat().includes("string");
  return choices.length === 0 || choices.some((choice) => mayBe(choice, value));
}

/** A route's path with its parameters filled in; each must be named. */
function pathOf({ path, query }: Route, params: Readonly<Record<string, string>>, wanted: Wanted): string {
  const filled = path.replaceAll(/\{(\w+)\}/g, (_, name: string) => {
    const value = params[name];
    if (value === undefined) throw new Error(`nobody says what {${name}} of ${path} is`);
    return encodeURIComponent(value);
  });
  const asked = z.record(z.string(), z.unknown()).parse(sampleOf(query, wanted) ?? {});
  const search = new URLSearchParams(Object.entries(asked).map(([name, value]) => [name, String(value)]));
  return search.size === 0 ? filled : `${filled}?${search}`;
}

/** Stands in everything that is Ann's. */
const mark = "annsown7351";
/** What a body or a query says where it may or must. */
const usual: Wanted = {
  code: "at once",
  path: "uploads/a.txt",
  text: "hello",
  query: "hello",
  messages: [{ role: "user", content: "hello" }],
  model: "general",
  title: "t",
  name: "n",
  user: "ann",
  password: "a good password",
  stream: false,
  data: JSON.stringify({ openapi: "3.1.0", servers: [{ url: "http://127.0.0.1:1" }], paths: { "/a": { get: {} } } }),
  sync_timeout: 5,
  wait_seconds: 1,
};

type Asking = {
  readonly key?: string;
  readonly params: Readonly<Record<string, string>>;
  readonly wanted?: Wanted;
  readonly headers?: Readonly<Record<string, string>>;
};

/** Calls a route as its schemas say, from outside. A stream is opened and left. */
async function ask(app: App, route: Route, { key, params, wanted = {}, headers = {} }: Asking) {
  const all = { ...usual, ...wanted };
  const sent = new Headers({ host: "127.0.0.1:7420", ...tus, ...headers });
  if (params.conversation !== undefined) sent.set("x-conversation-id", params.conversation);
  if (key !== undefined) sent.set("authorization", `Bearer ${key}`);
  const { method } = route;
  sent.set("content-type", typeOf(route));
  const request = new Request(`http://127.0.0.1:7420${pathOf(route, params, all)}`, {
    method,
    headers: sent,
    ...(!["GET", "DELETE", "OPTIONS"].includes(method) && { body: bodyFor(route, all) }),
  });
  const response = await app.fetch(request, { door: "tcp", address: "127.0.0.1" });
  const isStream = response.headers.get("content-type")?.startsWith("text/event-stream") === true;
  if (isStream) await response.body?.cancel();
  return { status: response.status, text: isStream ? "" : await response.text(), headers: response.headers };
}

const tus = {
  "tus-resumable": "1.0.0",
  "upload-length": String(mark.length),
  "upload-offset": "0",
  "upload-metadata": `filename ${btoa("t.txt")}`,
};

function bodyFor(route: Route, wanted: Wanted): string {
  if (route.takesBytes === true) return mark;
  return route.takesForm === true ? form : JSON.stringify(sampleOf(route.body, wanted) ?? {});
}

const part = 'content-disposition: form-data; name="file"; filename="a.txt"';
const form = ["--b", part, "", "x", "--b--", ""].join("\r\n");

function typeOf(route: Route): string {
  if (route.takesForm === true) return "multipart/form-data; boundary=b";
  return route.takesBytes === true ? "application/offset+octet-stream" : "application/json";
}

// Every row of the route table × who calls. The requests are made from the schemas: a route that is added is in it.

const names = Object.keys(routes).filter((name): name is RouteName => Object.hasOwn(routes, name));
/** Last come those that make something under an id from the body: it is the caller's own from then on. */
const table = names
  .map((name): readonly [name: RouteName, route: Route] => [name, routes[name]])
  .toSorted(([, a], [, b]) => Number(makesNamed(a)) - Number(makesNamed(b)));

function makesNamed({ creates, body }: Route): boolean {
  return creates === true && hasField(body, "conversation_id");
}

/** Of nobody: everybody may see them. */
const shared: readonly RouteName[] = ["getTemplate", "getOpenAiModel", "getMarketAgent", "describeUploads"];

/** Things that the owner finds under their id; where only the id is wrong, nothing is proved by a 404. */
/** Of tool boxes all but what names tools in its body. */
const found =
  /tool-box\/\{box_id\}(?!\/tools\/batch)|\{(message|decision|rule|trash|key|memory|checkpoint|upload)\}|\/v1\/responses\/\{id\}/;
const everything = "{box_id} {message} {decision} {rule} {trash} {key} {memory} {upload} /v1/responses/{id}";

let model: ModelServer;
let yard: TestYard;
let keys: Keys;
let hers: Hers;

before(async () => {
  const provider = playedProvider();
  const ids = systemIds;
  model = await modelServer((request) => {
    const asked = String(request.body.messages.findLast(({ role }) => role === "user")?.content);
    const mark = /pay (\w+)/.exec(asked)?.[1];
    return mark === undefined || stepOf(request) > 0 ? says("Hello.") : calls(["pay", { mark: mark }]);
  });
  yard = await startYard({
    model,
    tools: [effectTool("pay", "unsafe", "/dev/null", { asks: true })],
    openSandbox: ({ config, storage, clock, logger }) =>
      openSandbox({ provider, storage, clock, ids, logger, words: wordsFor("en"), settings: config.sandbox }),
    env: { AGENTYARD_REQUESTS_PER_MINUTE_MAX: "100000", AGENTYARD_SIGN_INS_PER_MINUTE_MAX: "1000" },
  });
  keys = await makeKeys(yard);
  hers = await furnish(yard.app, keys, { path: everything });
});
after(async () => {
  await yard[Symbol.asyncDispose]();
  await model.close();
});

test("without a key nothing opens but what is open to all [C6][S7]", async () => {
  const seen = await each(async (name, route) => {
    const { status, text } = await ask(yard.app, route, { params: hers.params(name, route) });
    const isRefused = status === 401 && !text.includes("sign_in_failed");
    return isRefused === (route.scope !== "open") || `${status} ${text}`;
  });
  assert.deepEqual(seen, []);
  const open = table.filter(([, { scope }]) => scope === "open").map(([name]) => name);
  assert.deepEqual(open, ["health", "alive", "ready", "signIn"], "whoever opens another one to all says so here");
});

test("whatever else is bound needs a key as well, but for the pages that everybody may see [C6]", async () => {
  const pages = ["/", "/docs", "/docs/page.js", "/docs/page.css", "/openapi.json", "/api/v1/openapi.json"];
  const signIn = ["/sign-in", "/sign-in/oidc", "/sign-in/oidc/callback"];
  const opened = new Set<string>();
  for (const { method, path } of yard.app.routes) {
    const at = `http://127.0.0.1:7420${path.replaceAll(/:\w+(\{[^}]*\})?/g, "x").replaceAll("*", "x")}`;
    const request = new Request(at, { method: method === "ALL" ? "GET" : method, headers: { host: "127.0.0.1:7420" } });
    const response = await yard.app.fetch(request, { door: "tcp", address: "127.0.0.1" });
    await response.body?.cancel();
    if (response.status !== 401) opened.add(path);
  }
  const open = table.filter(([, { scope }]) => scope === "open").map(([, { path }]) => path);
  assert.deepEqual(
    [...opened].filter((path) => ![...pages, ...signIn, ...open].includes(path)),
    [],
  );
});

test("a key for something else opens nothing [C6]", async () => {
  const seen = await each(async (name, route) => {
    const { scope } = route;
    if (scope === "open" || scope === "any") return true;
    const { status, text } = await ask(yard.app, route, { key: keys.without[scope], params: hers.params(name, route) });
    return status === 403 && text.includes("scope_missing") ? true : `${status} ${text}`;
  });
  assert.deepEqual(seen, []);
});

test("what is somebody else's is not there, and nothing is told about it [C6][S7][Q1]", async () => {
  const before = await hers.look();
  const seen = await each(async (name, route) => {
    const params = hers.params(name, route);
    const isAdmins = route.scope === "admin";
    const { status, text } = await ask(yard.app, route, {
      key: keys.bob,
      params,
      wanted: { conversation_id: hers.conversation },
    });
    if (text.includes(mark)) return `tells ${text}`;
    // Under an id that is somebody's, whoever makes something gets a thing of their own.
    const isInBody = hasField(route.body, "conversation_id") && !makesNamed(route);
    const isHers = isInBody || namedIn(route, params).some((thing) => hers.things.has(thing));
    const expected = isAdmins ? [403] : isHers && !shared.includes(name) ? [404] : [];
    if (expected.length > 0) return expected.includes(status) ? true : `${status} ${text.slice(0, 300)}`;
    const isFine = status < 500 && (route.scope === "open" || ![401, 403].includes(status));
    return isFine || `${status} ${text.slice(0, 300)}`;
  });
  assert.deepEqual(seen, []);
  assert.deepEqual(await hers.look(), before, "and all of it is as it was");
});

test("whoever else is named is not there, in a header as in a body [S7][C6]", async () => {
  const seen = await each(async (name, route) => {
    if (route.scope === "open" || route.scope === "admin") return true;
    const params = hers.params(name, route);
    const inHeader = await ask(yard.app, route, { key: keys.bob, params, headers: { "x-account-id": "ann" } });
    if (inHeader.status !== 404) return `header: ${inHeader.status} ${inHeader.text}`;
    if (!hasField(route.body, "user_id")) return true;
    const inBody = await ask(yard.app, route, { key: keys.bob, params, wanted: { user_id: "ann" } });
    return inBody.status === 404 ? true : `body: ${inBody.status} ${inBody.text.slice(0, 300)}`;
  });
  assert.deepEqual(seen, []);
});

test("whoever has the right key comes in [C6][S7]", async () => {
  const notHers = ["sign_in_required", "scope_missing", "forbidden_origin", "page_forged", "user_unknown"];
  const refusals = new RegExp(`"(${[...notHers, "conversation_not_found"].join("|")})"`);
  const seen = await each(async (name, route) => {
    // Each finds everything there, whatever the one before did.
    const isForAdmins = route.scope === "admin" || route.path.includes("{user}");
    if (isForAdmins) await must(yard.client.call("addUser", { body: { id: `for-${name}` } }));
    const isLook = route.method === "GET" && !isForAdmins;
    const own = isLook ? hers : await furnish(yard.app, keys, { path: route.path, user: `for-${name}` });
    const params = { ...own.params(name, route), user: `for-${name}` };
    const { status, text } = await ask(yard.app, route, {
      key: isForAdmins ? keys.root : keys.ann,
      params,
      wanted: { conversation_id: own.conversation },
    });
    if (status >= 400 && refusals.test(text)) return `${status} ${text.slice(0, 300)}`;
    const isHers = status < 300 || text.includes('"conversation_busy"');
    if (found.test(route.path) && !isHers) return `it is theirs, and ${status} ${text.slice(0, 300)}`;
    return status < 500 || status === 503 ? true : `${status} ${text.slice(0, 300)}`;
  });
  assert.deepEqual(seen, []);
});

/** What the path of a route says. */
function namedIn({ path }: Route, params: Readonly<Record<string, string>>): string[] {
  return [...path.matchAll(/\{(\w+)\}/g)].map(([, name = ""]) => params[name] ?? "");
}

/** Those that did not do what they should, and what they did. */
async function each(check: (name: RouteName, route: Route) => Promise<boolean | string>): Promise<string[]> {
  const seen: string[] = [];
  for (const [name, route] of table) {
    const result = await check(name, route);
    if (result !== true) seen.push(`${name}: ${result}`);
  }
  return seen;
}

type Keys = {
  readonly root: string;
  readonly ann: string;
  readonly bob: string;
  /** Ann's, for all but this. */
  readonly without: Readonly<Record<Scope, string>>;
};

async function makeKeys({ client }: TestYard): Promise<Keys> {
  for (const id of ["root", "ann", "bob"]) await must(client.call("addUser", { body: { id } }));
  const make = async (user: string, scopes: Scope[]) =>
    (await must(client.call("addKey", { params: { user }, body: { scopes } }))).key ?? "";
  const [root, ann, bob] = [
    await make("root", ["admin"]),
    await make("ann", ["chat", "files"]),
    await make("bob", ["chat", "files"]),
  ];
  return {
    root,
    ann,
    bob,
    without: { chat: await make("ann", ["files"]), files: await make("ann", ["chat"]), admin: ann },
  };
}

type Hers = {
  readonly things: ReadonlySet<string>;
  readonly conversation: string;
  params(name: RouteName, route: Route): Record<string, string>;
  /** All that is hers, as she sees it. */
  look(): Promise<string>;
};

let furnished = 0;

/** Of the MCP servers, which are the installation's. */
const ofServers = { server: "none", prompt: "none" };

/** One of everything that belongs to Ann; what takes time or is limited only where the path is about it. */
async function furnish(
  app: App,
  { ann: key, root }: Keys,
  { path, user = "ann" }: { path: string; user?: string },
): Promise<Hers> {
  furnished += 1;
  const conversation = `c-${furnished}`;
  const call: Calling = async (name, params, wanted = {}, by = key) => {
    const { status, text, headers } = await ask(app, routes[name], { key: by, params, wanted });
    assert.ok(status < 300, `${name}: ${status} ${text}`);
    return { ...(text.startsWith("{") ? JSON.parse(text) : {}), location: headers.get("location") };
  };
  const trash = path.includes("{trash}") ? await throwAway(call, `${conversation}-old`) : "";
  await call("createConversation", {}, { id: conversation, title: mark });
  await call("uploadFile", { id: conversation, name: "a.txt" });
  const { checkpoint } = await call("saveCheckpoint", { id: conversation }, { name: mark });
  const fact = { fact: `${mark} ${furnished}` };
  const { id: memory = "" } = path.includes("{memory}") ? await call("addMemory", {}, fact) : {};
  await ask(app, routes.createSession, { key, params: {} });
  const { execution_id: execution } = await call("execute", { id: "sess-ann" }, { conversation_id: conversation });
  const { location } = path.includes("{upload}") ? await call("createUpload", { id: "sess-ann", conversation }) : {};
  const isAsked = /\{(message|decision|rule)\}/.test(path);
  const asked = isAsked ? await beAsked(call, conversation) : { rule: "", decision: "", message: "" };
  const isKey = path.includes("{key}");
  const { id: keyId = "" } = isKey ? await call("addKey", { user }, { name: mark, scopes: ["chat"] }, root) : {};
  const isResponse = path.includes("/v1/responses/");
  const { id: response = "" } = isResponse ? await call("createResponse", {}, { input: mark, store: true }) : {};
  const { box, tool } = path.includes("{box_id}") ? await makeBox(call, `${mark} ${furnished}`) : { box: "", tool: "" };
  const upload = String(location).split("/").at(-1) ?? "";
  const things = { conversation, memory, execution, upload, session: "sess-ann", trash, response, box, tool, ...asked };
  const others = { checkpoint: String(checkpoint), user: "ann", key: keyId };
  const named = { ...things, ...others, name: "a.txt", path: "a.txt", service: "agent-app", app_key: "app" };
  const more = { agent: "nobody", agent_key: "general", version: "v1", skill: "pdf", slot: "code", ...ofServers };
  const ofBox = { model: "general", ...(box === "" ? { tool: "now" } : { box_id: box, tool_id: tool }) };
  return {
    conversation,
    things: new Set(Object.values({ ...things, ...others }).filter((thing) => thing !== "")),
    params: (name, { path }) => ({ ...named, ...more, ...ofBox, id: idIn(name, path, things) }),
    async look() {
      const seen = [];
      for (const name of looks) {
        const id = name === "getResponse" ? response : conversation;
        seen.push((await ask(app, routes[name], { key, params: { id }, wanted: { path: "uploads" } })).text);
      }
      seen.push((await ask(app, routes.listKeys, { key: root, params: { user } })).text);
      return seen.join("\n");
    },
  };
}

type Calling = (name: RouteName, params: Record<string, string>, wanted?: Wanted, by?: string) => Promise<Told>;
/** As JSON has it. */
type Told = ReturnType<typeof JSON.parse>;

/** A tool box that is published: its host is one that nobody but an admin may name, so that nothing is called. */
async function makeBox(call: Calling, box_name: string) {
  const { box_id: box, success_ids } = await call("createToolBox", {}, { box_name });
  await call("setToolBoxStatus", { box_id: box }, { status: "published" });
  return { box, tool: success_ids[0] };
}

/** A rule for one thing, a decision about another that nobody has made, and a message that waits behind it. */
async function beAsked(call: Calling, id: string) {
  const pay = async (what: string): Promise<string> => {
    await call("sendMessage", { id }, { text: `pay ${what}`, mode: "queue" });
    let open: { id: string } | undefined;
    await until("she is asked", async () => {
      const { items } = await call("listDecisions", {});
      open = items.find(({ conversation }: Told) => conversation === id);
      return open !== undefined;
    });
    return open?.id ?? "";
  };
  const always = { option: 0, scope: "conversation" };
  await call("decide", { id, decision: await pay("first") }, { verdict: "approve", always });
  const { items } = await call("listRules", {});
  const { id: rule } = items.find(({ conversation }: Told) => conversation === id);
  const decision = await pay("second");
  const { message } = await call("sendMessage", { id }, { text: "and then?", mode: "queue" });
  return { rule, decision, message };
}

/** The files of a conversation of its own, as they lie in the trash. */
async function throwAway(call: Calling, id: string): Promise<string> {
  await call("createConversation", {}, { id, title: mark });
  await call("uploadFile", { id, name: "a.txt" });
  let trash = "";
  await until("a moment has passed", async () => {
    await call("cleanWorkspaces", {}, { days: 0 });
    const { items } = await call("listTrash", {});
    trash = items.find(({ conversation }: Told) => conversation === id)?.id ?? "";
    return trash !== "";
  });
  return trash;
}

const looks = [
  "listConversations",
  "getConversation",
  "listCheckpoints",
  "listFiles",
  "listMemory",
  "readEvents",
  "listRules",
  "listDecisions",
  "listTrash",
  "listToolBoxes",
  "getResponse",
] as const;

/** What `{id}` means, by the path it stands in. */
function idIn(name: RouteName, path: string, things: Readonly<Record<string, string>>): string {
  const { conversation = "", execution = "", session = "", response = "" } = things;
  if (/\/sessions\/\{id\}/.test(path)) return session;
  if (path.startsWith("/api/v1/executions/{id}")) return execution;
  if (/\/conversations?\/(session\/)?\{id\}/.test(path)) return conversation;
  if (name === "getTemplate") return "python-basic";
  return path.startsWith("/v1/responses/") ? response || "resp_none" : "";
}
