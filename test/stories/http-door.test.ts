import assert from "node:assert/strict";
import { once } from "node:events";
import { request } from "node:http";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { after, test } from "node:test";
import { createClient } from "../../src/client/client.ts";
import type { NewEvent } from "../../src/protocol/events.ts";
import { Problem } from "../../src/protocol/resources.ts";
import { bodyBytes, bodyBytesMaxOf, limits } from "../../src/protocol/route.ts";
import { routes } from "../../src/protocol/routes.ts";
import { failureWords, type Language, wordsFor } from "../../src/words/words.ts";
import { all } from "../world/events.ts";
import { onPort, renames, stepStarted } from "../world/http-reading.ts";
import { modelServer, says } from "../world/model-server.ts";
import { writingYard } from "../world/writing-yard.ts";
import { must, startYard } from "../world/yard.ts";

const json = { "content-type": "application/json" };

// One yard for all that only knocks at its door.
const yard = await startYard();
const { app } = yard;
after(() => yard[Symbol.asyncDispose]());

test("a refusal says what happened and what to do next, in the caller's language [P4]", async () => {
  const ask = (language: string) =>
    app.request("/api/v1/conversations/nowhere", {
      headers: { "accept-language": language, "x-request-id": "r-1" },
    });
  const english = await ask("fr, en;q=0.5");
  assert.equal(english.status, 404);
  assert.equal(english.headers.get("content-type"), "application/problem+json");
  assert.equal(english.headers.get("x-request-id"), "r-1");
  assert.deepEqual(Problem.parse(await english.json()), {
    type: "urn:agentyard:failure:conversation_not_found",
    title: "Conversation not found: nowhere.",
    status: 404,
    code: "conversation_not_found",
    detail: "Conversation not found: nowhere. List your conversations and use the id of one of them.",
    params: { id: "nowhere" },
    retryable: false,
    requestId: "r-1",
  });
  for (const language of ["zh-CN,zh;q=0.9,en;q=0.8", "fr;q=0.9, zh-Hans;q=0.2", "en;q=0.1, zh"]) {
    const chinese = Problem.parse(await (await ask(language)).json());
    assert.equal(chinese.detail, "未找到对话：nowhere。请列出您的对话，并使用其中的编号。");
  }
  // Clients of two services name it in a header of their own.
  const headers = { "x-language": "zh-CN", "accept-language": "en" };
  const spoken = ["/api/agent-app/v1/nothing", "/api/agent-operator-integration/v1/nothing", "/api/v1/nothing"].map(
    async (path) => (await app.request(path, { headers })).headers.get("content-language"),
  );
  assert.deepEqual(await Promise.all(spoken), ["zh", "zh", "en"]);
});

test("a request id is taken when it is well-formed, else one is made", async () => {
  const idFor = async (id: string) =>
    (await app.request("/api/v1/health", { headers: { "x-request-id": id } })).headers.get("x-request-id");
  assert.equal(await idFor("abc.DEF_1-2"), "abc.DEF_1-2");
  for (const bad of ["a b", "x".repeat(65), "<script>"]) assert.match(String(await idFor(bad)), /^[0-9a-f-]{36}$/);
});

test("bad bodies are refused by name", async () => {
  const post = async (body: string | Uint8Array<ArrayBuffer>, type = "application/json") => {
    const response = await app.request("/api/v1/conversations", {
      method: "POST",
      body,
      headers: { "content-type": type },
    });
    return response.ok ? response.status : Problem.parse(await response.json()).code;
  };
  assert.equal(await post("{"), "bad_json");
  assert.equal(await post(new Uint8Array([0x22, 0xff, 0x22])), "bad_json");
  assert.equal(await post("{}", "text/plain"), "bad_json");
  assert.equal(await post("{}", "application/jsonp"), "bad_json");
  assert.equal(await post("[]"), "bad_request");
  assert.equal(await post("null"), "bad_request");
  assert.equal(await post(`{"id":"${"x".repeat(65)}"}`), "bad_request");
  assert.equal(await post('{"id":7}'), "bad_request");
  assert.equal(await post('{"id":"a","unknown":{"__proto__":{"title":7}}}', "Application/JSON; charset=utf-8"), 201);
  assert.equal(await post("", "text/plain"), 201, "no body is an empty object");
});

test("a body may be as large as the limit and no larger, whatever its headers say", async () => {
  await using port = await onPort(yard);
  const fill = (size: number) => `{"title":"x"}${" ".repeat(size - 13)}`;
  const post = async (size: number, chunked: boolean) => {
    const body = fill(size);
    const init = chunked ? { body: new Blob([body]).stream(), duplex: "half" as const } : { body };
    const response = await fetch(`${port.url}/api/v1/conversations`, { method: "POST", headers: json, ...init });
    return response.ok ? response.status : Problem.parse(await response.json());
  };
  assert.equal(await post(bodyBytes.usual, true), 201);
  for (const chunked of [true, false]) {
    const problem = await post(bodyBytes.usual + 1, chunked);
    assert.ok(typeof problem === "object");
    assert.deepEqual(
      [problem.status, problem.code, problem.params],
      [413, "body_too_large", { limitBytes: bodyBytes.usual }],
    );
  }
  const announced = { method: "POST", headers: { ...json, "content-length": String(bodyBytes.usual + 1) } };
  const refused = request(`${port.url}/api/v1/conversations`, announced);
  refused.flushHeaders();
  const [answer] = await once(refused, "response");
  assert.equal(answer.statusCode, 413, "before any of it is sent");
  refused.on("error", () => {}).destroy();
  const inProcess = await yard.client.call("createConversation", { body: { title: "x".repeat(bodyBytes.usual) } });
  assert.equal(inProcess.ok ? "" : inProcess.failure.code, "body_too_large");
});

test("what somebody wrote may be long, and what nobody has signed in for is short [C6]", async () => {
  await yard.start("long");
  const post = async (path: string, sent: string, size: number) => {
    const body = sent + " ".repeat(size - sent.length);
    const answer = await app.request(path, { method: "POST", headers: json, body });
    return answer.status === 413 ? Problem.parse(await answer.json()).params : answer.status;
  };
  const say = (size: number) => post("/api/v1/conversations/long/messages", '{"text":"x"}', size);
  const { open, large } = bodyBytes;
  assert.deepEqual([await say(large), await say(large + 1)], [202, { limitBytes: large }]);
  const signIn = (size: number) => post("/api/v1/sign-in", '{"user":"a","password":"b"}', size);
  assert.deepEqual([await signIn(open), await signIn(open + 1)], [401, { limitBytes: open }]);
  const long = Object.entries(routes).filter(([, route]) => bodyBytesMaxOf(route) === large);
  assert.deepEqual(long.map(([name]) => name).sort(), [
    ...["addBoxTools", "apiChatCompletion", "chatCompletion", "createChatCompletion", "createResponse"],
    ...["createToolBox", "debugCompletion", "debugTool", "decide", "execute", "executeSync", "invokeTool"],
    ...["plainChatCompletion", "sayAgain", "sendMessage"],
  ]);
});

test("titles may be as long as the limit and no longer", async () => {
  const { client } = yard;
  const title = "界".repeat(limits.titleCharactersMax);
  assert.equal((await must(client.call("createConversation", { body: { title } }))).title, title);
  assert.equal(await codeOf(client.call("createConversation", { body: { title: `${title}界` } })), "bad_request");
});

test("no browser takes an answer for anything else than it says it is [C6]", async () => {
  for (const path of ["/api/v1/conversations", "/api/v1/nothing", "/sign-in", "/docs", "/metrics", "/openapi.json"]) {
    const answer = await app.request(path);
    assert.equal(answer.headers.get("x-content-type-options"), "nosniff", path);
    await answer.body?.cancel();
  }
});

test("an unknown address is 404, a known one under another method is 405 and says which it takes", async () => {
  const unknown = await app.request("/api/v1/nothing");
  assert.deepEqual([unknown.status, Problem.parse(await unknown.json()).params], [404, { path: "/api/v1/nothing" }]);
  const wrong = await app.request("/api/v1/conversations/c", { method: "PUT" });
  assert.deepEqual([wrong.status, wrong.headers.get("allow")], [405, "GET, HEAD, PATCH, DELETE"]);
  assert.equal(Problem.parse(await wrong.json()).title, "This route does not take PUT.");
  assert.equal((await app.request("/api/v1/openapi.json", { method: "POST" })).status, 405);
  assert.equal((await app.request("/api/v1/health", { method: "HEAD" })).status, 200);
});

test("our own mistake is a 500 with an id, and its details go to the log file only [Q1]", async () => {
  const broken = () => Promise.reject(new Error("secret path /srv/x"));
  await using yard = await startYard({ wrapStorage: (storage) => ({ ...storage, listConversations: broken }) });
  const listed = await yard.client.call("listConversations");
  assert.ok(!listed.ok);
  const { code, params, requestId, detail } = listed.failure;
  assert.deepEqual([code, params], ["internal", { id: requestId }]);
  assert.doesNotMatch(detail, /secret/);
  const sources = join(import.meta.dirname, "..", "..");
  assert.ok(!JSON.stringify(listed.failure).includes(sources), "nor is it told where our sources lie");
  const [fault, ...others] = await yard.faults();
  assert.ok(fault?.startsWith(`request ${requestId} failed at GET /api/v1/conversations: Error: secret path`));
  assert.deepEqual(others, []);
});

test("a page of another site cannot reach the server, by address or by a name of its own [C6]", async () => {
  await using yard = await startYard({ server: { trustedHosts: ["yard.example"] } });
  await using port = await onPort(yard);
  const statusWith = (headers: Record<string, string>) => statusOver(port.url, headers);
  const { host } = new URL(port.url);
  const allowed: Record<string, string>[] = [
    {},
    { host: "localhost:7420" },
    { host: "[::1]:7420" },
    { host: "127.8.9.1" },
    { host: "yard.example" },
    { origin: `http://${host}`, "sec-fetch-site": "same-origin" },
    { "sec-fetch-site": "none" },
  ];
  const refused: Record<string, string>[] = [
    { host: "evil.example" },
    { host: "localhost.evil.example" },
    { host: "127.0.0.1.evil.example" },
    { host: "0.0.0.0" },
    { host: "192.168.1.4:7420" },
    { origin: "http://evil.example" },
    { origin: "null" },
    { origin: `http://${host}.evil.example` },
    { origin: "http://localhost:3000" },
    { "sec-fetch-site": "cross-site" },
    { "sec-fetch-site": "same-site" },
  ];
  const named = await problemOver(port.url, { host: "yard.lan:7420" });
  assert.deepEqual(
    [named.params, named.detail],
    [
      { host: "yard.lan" },
      "This server does not go by the name “yard.lan”. If that is its name, ask the operator of this server to add it to `server.trusted_hosts`; otherwise call it by its address in numbers.",
    ],
  );
  assert.match((await problemOver(port.url, { origin: "http://evil.example" })).detail, /server\.allowed_origins/);
  for (const headers of allowed) assert.equal(await statusWith(headers), 200, JSON.stringify(headers));
  for (const headers of refused) assert.equal(await statusWith(headers), 403, JSON.stringify(headers));
  const unnamedDoor = await yard.app.fetch(new Request("http://evil.example/api/v1/health"));
  assert.equal(Problem.parse(await unnamedDoor.json()).code, "forbidden_origin", "the strict rules hold by default");
});

test("a message carries its files and the language of who sends it [P4][F3]", async () => {
  await using model = await modelServer([says("好")]);
  await using yard = await startYard({ model });
  await yard.start("c");
  const client = createClient({ fetch: yard.fetch, language: "zh" });
  await must(client.upload("c", "a.csv", Buffer.from("1,2\n")));
  await must(client.call("sendMessage", { params: { id: "c" }, body: { text: "看看", files: ["uploads/a.csv"] } }));
  const [message] = all((await yard.whenAtRest("c")).events, "message.user");
  assert.match(message?.text ?? "", /^看看\n\nuploads\/a\.csv 的内容：\n<data .*\n1,2\n/);
  assert.match(model.asked[0]?.text ?? "", /uploads\/a\.csv 的内容：/);
});

test("a server that does not answer, or not in our words, is a failure as well", async () => {
  const nobody = createClient({ fetch, baseUrl: "http://127.0.0.1:1" });
  const call = await nobody.call("health");
  assert.ok(!call.ok);
  assert.deepEqual([call.failure.code, call.failure.retryable], ["network", true]);
  for (const answer of [new Response("<html>", { status: 502 }), new Response("{}"), new Response("<html>")]) {
    const stranger = createClient({ fetch: async () => answer });
    assert.equal(await codeOf(stranger.call("health")), "answer_unreadable");
  }
  const broken = createClient({ fetch: () => Promise.reject(new TypeError("a mistake of ours")) });
  await assert.rejects(broken.call("health"), /a mistake of ours/);
});

/** fetch does not let a test choose these headers. */
async function problemOver(url: string, headers: Record<string, string>): Promise<Problem> {
  return Problem.parse(JSON.parse((await answerOver(url, headers)).body));
}

async function statusOver(url: string, headers: Record<string, string>): Promise<number | undefined> {
  return (await answerOver(url, headers)).status;
}

type Answer = { readonly status: number | undefined; readonly body: string };

function answerOver(url: string, headers: Record<string, string>): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const outgoing = request(`${url}/api/v1/health`, { headers, agent: false }, (incoming) => {
      text(incoming).then((body) => resolve({ status: incoming.statusCode, body }), reject);
    });
    outgoing.on("error", reject);
    outgoing.end();
  });
}

async function codeOf(result: ReturnType<typeof yard.client.call>): Promise<string | undefined> {
  const settled = await result;
  return settled.ok ? undefined : settled.failure.code;
}

test("the events of one agent are those that mean something to it, from the one that made it on [A1][C7]", async () => {
  await using yard = await writingYard();
  const row = await yard.start("c");
  const spawned: NewEvent = {
    type: "agent.spawned",
    id: "task-a",
    mode: "task",
    role: "r",
    name: "amber",
    brief: "look",
  };
  const other: NewEvent = { ...spawned, id: "task-b", name: "blue" };
  await yard.append(
    row,
    ...renames(1),
    spawned,
    other,
    stepStarted(1, { agent: "task-b" }),
    stepStarted(1, { agent: "task-a" }),
  );
  const read = async (query: { agent?: string; after?: number; limit?: number }) => {
    const page = await must(yard.client.call("readEvents", { params: { id: "c" }, query }));
    return [page.items.map(({ seq }) => seq), page.next];
  };
  assert.deepEqual(await read({}), [[1, 2, 3, 4, 5], null]);
  assert.deepEqual(await read({ agent: "task-a" }), [[2, 5], null]);
  assert.deepEqual(await read({ agent: "task-a", limit: 4 }), [[2], 4], "a page is one of all events");
  assert.deepEqual(await read({ agent: "task-a", after: 4, limit: 4 }), [[5], null]);
});

test("whoever lists tools or servers, or makes a session, sees what was just written into the settings [T1][G1]", async () => {
  let looked = 0;
  const reload = async () => {
    looked += 1;
    return undefined;
  };
  await using yard = await startYard({ reload });
  const { client } = yard;
  const lookedFor = async (call: () => Promise<unknown>) => {
    const before = looked;
    await call();
    return looked - before;
  };
  assert.equal(await lookedFor(async () => must(client.call("listTools", {}))), 1);
  assert.equal(await lookedFor(async () => must(client.call("listMcpServers", {}))), 1);
  assert.equal(await lookedFor(async () => client.call("createSession", { body: {} })), 1);
  assert.equal(await lookedFor(async () => must(client.call("health", {}))), 0);
});

after(() => yard[Symbol.asyncDispose]());
await yard.start("c");

test("a field that is missing is said to be missing, and a wrong type is named in the caller's language [P4]", async () => {
  const send = async (language: string, sent: object) => {
    const headers = { ...json, "accept-language": language };
    const body = JSON.stringify(sent);
    const response = await yard.app.request("/api/v1/conversations/c/messages", { method: "POST", headers, body });
    return Problem.parse(await response.json()).params.what;
  };
  assert.deepEqual(
    [await send("en", {}), await send("zh", {}), await send("en", { text: 5 }), await send("zh", { text: 5 })],
    ["body.text: missing", "body.text: 缺少", "body.text: must be a text", "body.text: 应为文本"],
  );
});

test("a place in a stream that nobody gave out is refused in words, not with a pattern [P4][C3]", async () => {
  const response = await yard.app.request("/api/v1/conversations/c/stream?after=zzz");
  const { detail } = Problem.parse(await response.json());
  const what = "The request does not fit: query.after: does not have the form that is needed.";
  const next = "Send an id that you received with an event of this stream, as it was, or leave it out.";
  assert.deepEqual([response.status, detail], [400, `${what} ${next}`]);
});

test("a failure that only a newer version knows is told by its name, with what to do, in both languages [P4]", () => {
  const told = (language: Language) => failureWords(wordsFor(language), { code: "of_later", params: {} });
  assert.deepEqual(told("en"), [
    "This failed: of_later.",
    "Update this AgentYard: a newer one says so, and has the words for it.",
  ]);
  assert.deepEqual(told("zh"), ["失败：of_later。", "请更新 AgentYard：这是较新的版本写下的，它有相应的说明。"]);
  assert.equal(failureWords(wordsFor("en"), { code: "toString", params: {} })[0], "This failed: toString.");
});

test("the same system user in the terminal is told its commands still [P4][U1]", async () => {
  const response = await yard.app.request("/api/v1/conversations/nowhere", {}, { door: "socket" });
  assert.equal(
    Problem.parse(await response.json()).detail,
    "Conversation not found: nowhere. List them with /sessions.",
  );
});
