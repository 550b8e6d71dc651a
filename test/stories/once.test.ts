import assert from "node:assert/strict";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { ok } from "../../src/base/result.ts";
import { createClient, type Fetch } from "../../src/client/client.ts";
import { Problem } from "../../src/protocol/resources.ts";
import type { Storage } from "../../src/storage/storage.ts";
import { type CreatingCall, creatingCalls, creatingRoutes } from "../world/creating-calls.ts";
import { manualClock } from "../world/manual-clock.ts";
import { type AskedRequest, calls, modelServer, says, stepOf } from "../world/model-server.ts";
import { cannotRunCode } from "../world/sandbox.ts";
import { effectTool } from "../world/tools.ts";
import { must, startYard, type TestYard } from "../world/yard.ts";

type Answered = {
  readonly status: number;
  readonly body: string;
  readonly isReplayed: boolean;
  /** How it is to be read, and where what was made is. */
  readonly told: readonly (string | null)[];
};
const tellingHeaders = ["content-type", "content-language", "location"];

test("every creating route has its case here [C6]", () => {
  assert.deepEqual(Object.keys(creatingCalls).toSorted(), creatingRoutes.toSorted());
});

test("whatever is created under a key is created once: asked ten times at once, again after a restart, and when the answer was lost in a crash [C6][L2]", {
  skip: cannotRunCode,
  timeout: 120_000,
}, async (t) => {
  const data = await folder(t);
  await using model = await modelServer(script);
  const settings = {
    data,
    model,
    runsCode: true,
    tools: [effectTool("pay", "unsafe", join(data, "marks"), { asks: true })],
  };
  const subjects = new Map<string, { call: CreatingCall; first: Answered }>();
  {
    await using yard = await startYard({ ...settings, wrapStorage: losingAnswers });
    for (const name of creatingRoutes)
      for (const how of ["ten", "lost"]) {
        const tag = `${how}-${name}`.slice(0, 48);
        const call = await creatingCalls[name]?.({ yard, model, tag });
        assert.ok(call !== undefined, name);
        const asked = how === "ten" ? await atOnce(yard, call, tag) : [await send(yard, call, tag)];
        const [first] = asked.filter(({ isReplayed }) => !isReplayed);
        assert.ok(first !== undefined && isExpected(call, first), `${tag}: ${JSON.stringify(asked[0])}`);
        for (const again of asked) assert.deepEqual(bodyOf(call, again), bodyOf(call, first), tag);
        assert.equal(asked.filter(({ isReplayed }) => isReplayed).length, asked.length - 1, tag);
        assert.equal((await call.things(yard)).length, made(call), tag);
        subjects.set(tag, { call, first });
      }
  }
  await using yard = await startYard(settings);
  for (const [tag, { call, first }] of subjects) {
    const isLost = tag.startsWith("lost");
    const again = await send(yard, call, tag);
    assert.equal(again.isReplayed, !isLost, tag);
    assert.equal(again.status, (isLost ? call.lostAs : undefined) ?? first.status, `${tag}: ${again.body}`);
    if (!isLost) assert.deepEqual(bodyOf(call, again), bodyOf(call, first), tag);
    assert.equal((await call.things(yard)).length, made(call), tag);
  }
});

test("a stream under a key is told again from its beginning, to all who ask at once, and the model is asked once [C3][C6]", async () => {
  await using model = await modelServer(() => says("once upon a time"));
  await using yard = await startYard({ model });
  const chat = { query: "tell", conversation_id: "told", stream: true, inc_stream: true };
  const asked: [path: string, body: object][] = [
    ["/api/agent-app/v1/app/general/chat/completion", chat],
    ["/v1/chat/completions", { model: "general", stream: true, messages: [{ role: "user", content: "tell" }] }],
    ["/v1/responses", { model: "general", stream: true, input: "tell" }],
  ];
  for (const [index, [path, body]] of asked.entries()) {
    const call: CreatingCall = { method: "POST", path, body, things: async () => [] };
    const streams = [...(await atOnce(yard, call, `k${index}`)), await send(yard, call, `k${index}`)];
    assert.equal(model.asked.length, index + 1, path);
    for (const { status, body: text } of streams) {
      assert.equal(status, 200, text);
      assert.match(text.replaceAll(/[^a-z ]/g, ""), /once.*upon.*a.*time/, path);
    }
  }
});

test("a key belongs to one call and to one user, and one that is no key is refused [C6]", async () => {
  await using yard = await startYard();
  const ask = (headers: Record<string, string>, title = "a") => {
    const path = "/api/v1/conversations";
    return send(yard, { method: "POST", path, body: { title }, headers, things: async () => [] }, "k");
  };
  const codes = async (answers: Promise<Answered>[]) =>
    (await Promise.all(answers)).map(({ status, body }) => [status, JSON.parse(body).code]);
  const first = await ask({});
  const others = [ask({}, "b"), ask({ "x-account-id": "ann" }), ask({ "idempotency-key": "a b" })];
  const more = [ask({ "idempotency-key": "" }), ask({ "idempotency-key": "x".repeat(256) })];
  assert.deepEqual(await codes([...others, ...more]), [
    [422, "key_used_otherwise"],
    [201, undefined],
    [400, "key_unfit"],
    [400, "key_unfit"],
    [400, "key_unfit"],
  ]);
  assert.deepEqual(await ask({}), { ...first, isReplayed: true });
});

test("another file under the key of an upload is refused, however it comes [C6]", async () => {
  await using yard = await startYard();
  const { id } = await must(yard.client.call("createConversation", { body: {} }));
  const path = `/api/v1/conversations/${id}/files/uploads/a.txt`;
  const put = (text: string): CreatingCall => {
    return { method: "PUT", path, body: new TextEncoder().encode(text), things: async () => [] };
  };
  const form = (text: string): CreatingCall => {
    const body = () => {
      const data = new FormData();
      data.set("conversation_id", id);
      data.set("file", new Blob([text]), "b.txt");
      return data;
    };
    return { method: "POST", path: "/api/v1/sessions/sess-local/files/upload", body, things: async () => [] };
  };
  for (const upload of [put, form]) {
    const key = upload.name;
    const statuses = [];
    for (const text of ["one", "one", "two"]) statuses.push((await send(yard, upload(text), key)).status);
    assert.deepEqual(statuses, [upload === put ? 201 : 200, upload === put ? 201 : 200, 422]);
  }
});

test("a repeat that comes while the first call still runs is told to come again for its answer [C6]", async () => {
  const { promise: isBegun, resolve: begin } = Promise.withResolvers<void>();
  const { promise: isLet, resolve: letGo } = Promise.withResolvers<void>();
  const slow = (storage: Storage): Storage => ({
    ...storage,
    async createConversation(...made) {
      begin();
      await isLet;
      return storage.createConversation(...made);
    },
  });
  // Whoever waits has waited long enough at once.
  await using yard = await startYard({ wrapStorage: slow, clock: manualClock() });
  const create = () =>
    yard.fetch("http://localhost/api/v1/conversations", {
      ...{ method: "POST", body: "{}" },
      headers: { "content-type": "application/json", "idempotency-key": "k" },
    });
  const first = create();
  await isBegun;
  const second = await create();
  const { code, detail } = Problem.parse(await second.json());
  assert.deepEqual([second.status, second.headers.get("retry-after"), code], [409, "5", "key_in_use"]);
  assert.equal(detail, "A request under this Idempotency-Key is still running. Ask again in 5 s for its answer.");
  letGo();
  const made = await (await first).text();
  const third = await create();
  assert.deepEqual([third.headers.get("idempotency-replayed"), await third.text()], ["true", made]);
});

function made({ makesNothing }: CreatingCall): number {
  return makesNothing === true ? 0 : 1;
}

function isExpected({ makesNothing }: CreatingCall, { status }: Answered): boolean {
  return status < 300 || (makesNothing === true && status < 500);
}

function bodyOf({ secret }: CreatingCall, { status, body, told }: Answered): unknown {
  const value = body === "" ? {} : JSON.parse(body);
  return { status, told, ...value, ...(secret !== undefined && { [secret]: undefined }) };
}

async function atOnce(yard: TestYard, call: CreatingCall, key: string): Promise<Answered[]> {
  return Promise.all(Array.from({ length: 10 }, () => send(yard, call, key)));
}

async function send(yard: TestYard, call: CreatingCall, key: string): Promise<Answered> {
  const { method, path, headers = {}, body } = call;
  const content =
    body === undefined
      ? {}
      : body instanceof Uint8Array
        ? { body, headers: { "content-type": "application/octet-stream" } }
        : typeof body === "function"
          ? await encoded(body())
          : { body: JSON.stringify(body), headers: { "content-type": "application/json" } };
  const sent = { "idempotency-key": key, ...content.headers, ...headers };
  const response = await yard.fetch(`http://localhost${path}`, { method, ...content, headers: sent });
  const isReplayed = response.headers.get("idempotency-replayed") === "true";
  const told = tellingHeaders.map((name) => response.headers.get(name));
  return { status: response.status, body: await response.text(), isReplayed, told };
}

async function encoded(form: FormData) {
  const request = new Request("http://localhost", { method: "POST", body: form });
  const headers = { "content-type": request.headers.get("content-type") ?? "" };
  return { body: new Uint8Array(await request.arrayBuffer()), headers };
}

/** As if the process had died after the work and before its answer was written down. */
function losingAnswers(storage: Storage): Storage {
  return {
    ...storage,
    endOnce: async (owner, key, answer) =>
      key.startsWith("lost") ? ok(undefined) : storage.endOnce(owner, key, answer),
  };
}

function script(request: AskedRequest) {
  const last = request.body.messages.findLast(({ role }) => role === "user");
  const wantsToPay = JSON.stringify(last?.content ?? "").includes("pay ");
  return wantsToPay && stepOf(request) === 0 ? calls(["pay", { mark: "m" }]) : says("done");
}

async function folder(t: TestContext): Promise<string> {
  const data = await mkdtemp(join(tmpdir(), "agentyard-once-"));
  t.after(() => rm(data, { recursive: true, force: true }));
  return data;
}

test("a file without an ending whose answer was lost in a crash is there once, under the free name that it took [C6][L2]", async () => {
  await using yard = await startYard({ wrapStorage: losingAnswers });
  const { id } = await must(yard.client.call("createConversation", { body: {} }));
  for (const name of ["notes", "Makefile"]) {
    await must(yard.client.upload(id, name, Buffer.from("first")));
    const path = `/api/v1/conversations/${id}/files/uploads/${name}?keep=true`;
    const call: CreatingCall = { method: "PUT", path, body: Buffer.from("second"), things: async () => [] };
    for (const what of ["first", "again"]) {
      const { status, body, isReplayed } = await send(yard, call, `lost-${name}`);
      assert.deepEqual([status, JSON.parse(body).name, isReplayed], [201, `${name} (2)`, false], what);
    }
  }
  const { items } = await must(yard.client.call("listFiles", { params: { id }, query: { path: "uploads" } }));
  assert.deepEqual(
    items.map(({ name }) => name),
    ["Makefile", "Makefile (2)", "notes", "notes (2)"],
  );
});

test("a key that was forgotten after a day is like a new one: another conversation is made under it [C6]", async () => {
  await using yard = await startForgettingYard();
  const first = await send(yard, creating, "k");
  yard.clock.move(25 * 3_600_000);
  const other = await send(yard, creating, "another");
  assert.deepEqual(await yard.forgot(), ok(undefined));
  const anew = await send(yard, creating, "k");
  const made = [first, other, anew];
  assert.deepEqual(
    made.map(({ status, isReplayed }) => [status, isReplayed]),
    made.map(() => [201, false]),
    anew.body,
  );
  const { items } = await must(yard.client.call("listConversations", {}));
  assert.deepEqual(items.map(({ id }) => id).toSorted(), made.map(({ body }) => JSON.parse(body).id).toSorted());
});

const creating: CreatingCall = { method: "POST", path: "/api/v1/conversations", body: {}, things: async () => [] };

/** A yard whose time is moved by hand. `forgot`: what came of looking for old keys, which no call waits for. */
async function startForgettingYard() {
  const clock = manualClock();
  let dropping: ReturnType<Storage["dropOnceBefore"]> | undefined;
  const wrapStorage = (storage: Storage): Storage => ({
    ...storage,
    dropOnceBefore: (at) => (dropping = storage.dropOnceBefore(at)),
  });
  return { ...(await startYard({ wrapStorage, clock })), clock, forgot: async () => dropping };
}

test("a creating call whose answer is lost on the way is sent again under its key, and done once [C6][C7]", async () => {
  await using yard = await startYard();
  const keys: (string | undefined)[] = [];
  const fetch: Fetch = async (url, init) => {
    keys.push(init.headers["idempotency-key"]);
    const response = await yard.fetch(url, init);
    if (keys.length % 2 === 1) throw new TypeError("fetch failed");
    return response;
  };
  const fresh = ["key-1", "key-2"];
  const client = createClient({ fetch, clock: manualClock(), newKey: () => fresh.shift() ?? "none" });
  const { id } = await must(client.call("createConversation", { body: { title: "once" } }));
  assert.equal((await must(client.upload(id, "a.txt", Buffer.from("text"), { keep: true }))).name, "a.txt");
  assert.deepEqual(keys, ["key-1", "key-1", "key-2", "key-2"]);
  const { items } = await must(yard.client.call("listConversations"));
  assert.deepEqual(
    items.map(({ title }) => title),
    ["once"],
  );
  const files = await must(yard.client.call("listFiles", { params: { id }, query: { path: "uploads" } }));
  assert.deepEqual(
    files.items.map(({ path }) => path),
    ["uploads/a.txt"],
  );

  const looked = await client.call("listConversations", {});
  assert.equal(!looked.ok && looked.failure.code, "network", "what makes nothing is not repeated by itself");
});
