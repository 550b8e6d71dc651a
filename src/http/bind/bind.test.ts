import assert from "node:assert/strict";
import { test } from "node:test";
import { Hono } from "hono";
import { openDatabase } from "../../../test/world/database.ts";
import { manualClock } from "../../../test/world/manual-clock.ts";
import { noted, partly } from "../../../test/world/partly.ts";
import { failed, ok } from "../../base/result.ts";
import { makeFailure } from "../../protocol/failure.ts";
import { OwnerId } from "../../protocol/ids.ts";
import { noBytes } from "../bytes.ts";
import type { App, Caller, Env } from "../door.ts";
import type { Handlers } from "../handler.ts";
import { refuse } from "../problem.ts";
import { openRate } from "../rate.ts";
import { defaultServerSettings } from "../settings.ts";
import { openTries } from "../tries.ts";
import { bindRoutes, type Elsewhere } from "./bind.ts";

const ann = OwnerId.parse("ann");
const signedIn: Caller = { signedIn: ann, scopes: ["chat"] };
const arrival = { address: "1.2.3.4", isVeiled: false, isFromHere: false, host: "h", scheme: undefined, prefix: "" };

type Bound = {
  readonly handlers: Partial<Record<keyof Handlers, (call: Parameters<Handlers["createConversation"]>[0]) => unknown>>;
  readonly elsewhere?: Elsewhere;
  /** Tries to sign in, of one place in a minute. */
  readonly triesMax?: number;
};

type Sent = {
  readonly body?: object;
  readonly stream?: ReadableStream;
  readonly headers?: Record<string, string>;
  readonly as?: Caller;
};

/** The routes with handlers of the test's behind them. */
function bound(t: Parameters<typeof openDatabase>[0], { handlers, elsewhere, triesMax = 10 }: Bound) {
  const app: App = new Hono<Env>();
  let caller = signedIn;
  app.use(async (c, next) => {
    for (const [name, value] of Object.entries({ requestId: "r", language: "en", dialect: "own", caller, arrival }))
      Reflect.apply(c.set, c, [name, value]);
    return next();
  });
  const clock = manualClock();
  const tries = openTries(openRate(clock), () => ({ ...defaultServerSettings, signInsPerMinuteMax: triesMax }));
  const behind = { storage: openDatabase(t, clock), clock, logger: undefined, tries, elsewhere };
  bindRoutes(app, partly<Handlers>(Object(handlers)), behind);
  app.onError((_, c) => refuse(c, makeFailure("internal", { id: "r" })));
  const ask = async (wanted: string, sent: Sent = {}) => {
    const [method = "", path = ""] = wanted.split(" ");
    caller = sent.as ?? signedIn;
    const json = sent.body === undefined ? {} : { body: JSON.stringify(sent.body) };
    const body = sent.stream === undefined ? json : { body: sent.stream, duplex: "half" as const };
    const type = sent.stream === undefined ? "application/json" : "application/octet-stream";
    const headers = { "content-type": type, ...sent.headers };
    return app.fetch(new Request(`http://h${path}`, { method, headers, ...body }), { door: "tcp", address: "1.2.3.4" });
  };
  const codeOf = async (...of: Parameters<typeof ask>) => JSON.parse((await (await ask(...of)).text()) || "{}").code;
  return { ask, codeOf };
}

const events = "/api/v1/conversations/c/stream";

test("who only asks whether a stream is there gets its headers, and nothing is made for them [C3][Q2]", async (t) => {
  const left: string[] = [];
  const stream = () => new ReadableStream({ cancel: () => void left.push("left") });
  const { ask } = bound(t, { handlers: { followEvents: async () => ok(stream()) } });
  const [looked, read] = [await ask(`HEAD ${events}`), await ask(`GET ${events}`)];
  const told = ({ status, headers }: Response) => [
    status,
    headers.get("content-type"),
    headers.get("x-accel-buffering"),
  ];
  assert.deepEqual(
    [told(looked), told(read)],
    [
      [200, "text/event-stream", "no"],
      [200, "text/event-stream", "no"],
    ],
  );
  assert.deepEqual([looked.body, left], [null, ["left"]]);
  await read.body?.cancel();
  assert.deepEqual(left, ["left", "left"]);
});

test("a key opens what it was made for, and nobody unknown is let in where somebody has to be known [C6]", async (t) => {
  const { codeOf } = bound(t, {
    handlers: {
      listDecisions: async () => ok({ items: [] }),
      getMe: async () => ok({}),
      listUsers: async () => ok({}),
    },
  });
  const of = (...scopes: Caller["scopes"]): Caller => ({ signedIn: ann, scopes });
  const nobody: Caller = { signedIn: undefined, scopes: [] };
  const decisions = "GET /api/v1/decisions";
  assert.deepEqual(
    [
      await codeOf(decisions, { as: of("chat") }),
      await codeOf(decisions, { as: of("files") }),
      await codeOf(decisions, { as: nobody }),
      await codeOf("GET /api/v1/users", { as: of("chat", "files") }),
      await codeOf("GET /api/v1/users", { as: of("admin") }),
      await codeOf("GET /api/v1/me", { as: of("files") }),
      await codeOf("GET /api/v1/me", { as: nobody }),
    ],
    [undefined, "scope_missing", "sign_in_required", "scope_missing", undefined, undefined, "sign_in_required"],
  );
});

test("a try to sign in counts where it is served, and one too many is not even handed on [C6][N1]", async (t) => {
  const body = { user: "ann", password: "p" };
  const there: Elsewhere = async () => ok({ response: new Response("there") });
  const served: string[] = [];
  const handlers = { signIn: async () => noted(served, "served", ok({})) };
  const signIn = "POST /api/v1/sign-in";
  const passed = bound(t, { handlers, elsewhere: there, triesMax: 1 });
  for (let times = 0; times < 2; times += 1) assert.equal(await (await passed.ask(signIn, { body })).text(), "there");
  const here = bound(t, { handlers, triesMax: 1 });
  assert.deepEqual(
    [await here.codeOf(signIn, { body }), await here.codeOf(signIn, { body })],
    [undefined, "rate_limited"],
  );
  assert.deepEqual(served, ["served"]);
  const full = bound(t, { handlers, triesMax: 0, elsewhere: () => assert.fail("nobody is asked") });
  assert.equal(await full.codeOf(signIn, { body }), "rate_limited");
  const other = bound(t, { handlers: { listDecisions: async () => ok({ items: [] }) }, triesMax: 0 });
  assert.deepEqual((await other.ask("GET /api/v1/decisions")).status, 200, "what is no try does not count as one");
});

test("what was kept of a request is let go when it was answered, refused or went wrong, and who waits hears of a doubt [N1][L6]", async (t) => {
  const doubt = new AbortController();
  const done: unknown[] = [];
  let how: "well" | "refused" | "broken" = "well";
  const elsewhere: Elsewhere = async () =>
    ok({ bytes: noBytes, close: () => void done.push("let go"), doubted: doubt.signal });
  const { ask } = bound(t, {
    elsewhere,
    handlers: {
      async createConversation({ signal, closing }) {
        done.push([signal.aborted, closing.aborted]);
        if (how === "broken") throw new TypeError("a mistake of ours");
        return how === "well" ? ok({ id: "c" }) : failed(makeFailure("storage_full", {}));
      },
    },
  });
  const make = async () => (await ask("POST /api/v1/conversations", { body: {} })).status;
  assert.equal(await make(), 201);
  how = "refused";
  assert.equal(await make(), 507);
  how = "broken";
  doubt.abort();
  assert.equal(await make(), 500);
  assert.deepEqual(done, [[false, false], "let go", [false, false], "let go", [true, true], "let go"]);
  const misled = bound(t, { handlers: {}, elsewhere: async () => failed(makeFailure("storage_full", {})) });
  assert.equal(await misled.codeOf("POST /api/v1/conversations", { body: {} }), "storage_full");
});

test("what makes something is done once under a key, and a key elsewhere means nothing [C6]", async (t) => {
  const seen: unknown[] = [];
  const { ask, codeOf } = bound(t, {
    handlers: {
      createConversation: async ({ once }) => noted(seen, once?.isRetry, ok({ id: "c" })),
      listDecisions: async ({ once }) => noted(seen, once, ok({ items: [] })),
    },
  });
  const headers = { "idempotency-key": "k" };
  const make = (body: object) => ask("POST /api/v1/conversations", { body, headers });
  const [first, second] = [await make({ title: "a" }), await make({ title: "a" })];
  assert.deepEqual(
    [first, second].map((answer) => [answer.status, answer.headers.get("idempotency-replayed")]),
    [
      [201, null],
      [201, "true"],
    ],
  );
  assert.equal(await first.text(), await second.text());
  const other = { body: { title: "b" }, headers };
  assert.equal(await codeOf("POST /api/v1/conversations", other), "key_used_otherwise");
  await ask("GET /api/v1/decisions", { headers });
  await ask("POST /api/v1/conversations", { body: {} });
  assert.deepEqual(seen, [false, undefined, undefined]);
  const bad = { body: {}, headers: { "idempotency-key": "a b" } };
  assert.equal(await codeOf("POST /api/v1/conversations", bad), "key_unfit");
});

test("what is secret in a call is no part of what its key stands for: told again, it is the same call [C6][Q1]", async (t) => {
  let times = 0;
  const { ask, codeOf } = bound(t, {
    handlers: {
      async addUser() {
        times += 1;
        return ok({ id: "bob" });
      },
    },
  });
  const headers = { "idempotency-key": "k" };
  const as: Caller = { signedIn: ann, scopes: ["admin"] };
  const add = (password: string) => ask("POST /api/v1/users", { body: { id: "bob", password }, headers, as });
  const [first, second] = [await add("correct horse"), await add("battery staple")];
  const told = [first, second].map((answer) => [answer.status, answer.headers.get("idempotency-replayed")]);
  assert.deepEqual(told, [
    [201, null],
    [201, "true"],
  ]);
  assert.equal(times, 1);
  assert.equal(await codeOf("POST /api/v1/users?x=1", { body: { id: "bob" }, headers, as }), "key_used_otherwise");
});

test("whoever sends a file is told to stop where it is refused, with a key or without, or served elsewhere without it [F4][N1]", async (t) => {
  const handlers = { uploadFile: async () => failed(makeFailure("storage_full", {})) };
  const here = bound(t, { handlers });
  const away = bound(t, { handlers, elsewhere: async () => ok({ response: new Response("there") }) });
  const sent = async ({ ask }: typeof here, as: Caller, headers: Record<string, string> = {}) => {
    let end = "open";
    const body = new ReadableStream({
      pull: (all) => all.enqueue(new Uint8Array(1)),
      cancel: () => {
        end = "told to stop";
      },
    });
    const { status } = await ask("PUT /api/v1/conversations/c/files/uploads/a.txt", { stream: body, as, headers });
    return [status, end];
  };
  const files: Caller = { signedIn: ann, scopes: ["files"] };
  assert.deepEqual(await sent(here, files), [507, "told to stop"]);
  assert.deepEqual(await sent(here, files, { "idempotency-key": "k" }), [507, "told to stop"]);
  assert.deepEqual(await sent(here, signedIn), [403, "told to stop"]);
  assert.deepEqual(await sent(away, files), [200, "told to stop"]);
});
