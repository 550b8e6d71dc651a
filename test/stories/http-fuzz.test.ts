// Runs alone: it counts the files that its process holds open.
import assert from "node:assert/strict";
import { globSync, readFileSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { z } from "zod";
import { systemRandom } from "../../src/base/random.ts";
import { createClient } from "../../src/client/client.ts";
import { Problem } from "../../src/protocol/resources.ts";
import type { Dialect, Route, Scope } from "../../src/protocol/route.ts";
import { type RouteName, routes } from "../../src/protocol/routes.ts";
import { until } from "../world/events.ts";
import { type Chance, chanceOf } from "../world/fuzz-chance.ts";
import {
  fuzzPassword,
  idIn,
  openPool,
  type Pool,
  placesIn,
  requestFor,
  trialOf,
  trials,
} from "../world/fuzz-requests.ts";
import { onPort } from "../world/http-reading.ts";
import { countListeners } from "../world/listeners.ts";
import { calls, modelServer, says, stepOf } from "../world/model-server.ts";
import { openFiles } from "../world/open-files.ts";
import { playedProvider, sandboxOver } from "../world/played-provider.ts";
import { type Answered, type Sending, send } from "../world/raw-http.ts";
import { must, startYard, type TestYard } from "../world/yard.ts";

// Every row of the route table, called with what its schemas say and with what they do not, over a real port, on a real
// database and real files. `AGENTYARD_FUZZ_REQUESTS` says how many calls, `AGENTYARD_FUZZ_SEED` which ones.

const wanted = process.env.AGENTYARD_FUZZ_REQUESTS;
const requestsMax = Number(wanted ?? 400);
/** `npm test` sends the same ones each time; whoever asks for more of them wants others. */
const seed = Number(
  process.env.AGENTYARD_FUZZ_SEED ?? (wanted === undefined ? 17 : Math.floor(systemRandom() * 2 ** 31)),
);
const table = Object.keys(routes)
  .filter((name): name is RouteName => Object.hasOwn(routes, name))
  .map((name): readonly [RouteName, Route] => [name, routes[name]]);
/** What takes its time, or takes away what the others need: once in so many rounds. */
const seldom: Readonly<Partial<Record<RouteName, number>>> = {
  ...{ backup: 8, healthSync: 8, healthDetailed: 4 },
  ...{ deleteChatConversations: 4, removeUser: 4, signIn: 4, setPassword: 4, describeAgent: 2 },
};

for (const hasUsers of [false, true]) {
  const who = hasUsers ? "of several users" : "of a machine's only user";
  test(`no request ${who}, however odd, finds a fault of ours, or tells them what is not theirs [Q1][C6][S7]`, async (t) => {
    const world = await openFuzzYard({ seed: seed + Number(hasUsers), hasUsers });
    try {
      const count = Math.ceil(requestsMax / 2);
      const book = await callAll(world, { chance: chanceOf(seed + (hasUsers ? 1_000 : 0)), count });
      const told = [...book.statuses].sort().map(([status, times]) => `${status}: ${times}`);
      const refused = table.map(([name]) => name).filter((name) => !book.served.has(name));
      t.diagnostic(`AGENTYARD_FUZZ_SEED=${seed}, ${count} requests; ${told.join(", ")}`);
      t.diagnostic(`never let in: ${refused.join(", ") || "none"}`);
      assertNothing(book);
      await stillServes(world);
    } finally {
      await world.close();
    }
  });
}

test("no field of any body can be filled with something that the server cannot stand [Q1]", async () => {
  const chance = chanceOf(seed);
  const world = await openFuzzYard({ seed, hasUsers: false });
  try {
    const book = openBook();
    for (const [name, route] of table) {
      for (const place of placesIn(route.body)) {
        const puts = wanted === undefined ? [chance.pick(trials)] : trials;
        for (const put of puts) await callOnce(world, book, { name, route, chance, trial: { place, put } });
      }
      if (name === "deleteChatConversations" || wanted !== undefined) await world.furnish();
    }
    assertNothing(book);
    await stillServes(world);
  } finally {
    await world.close();
  }
});

/** What was seen so far. */
type Book = {
  readonly findings: Map<string, string>;
  readonly statuses: Map<number, number>;
  /** Routes of which a call did what it was made for. */
  readonly served: Set<RouteName>;
};

function openBook(): Book {
  return { findings: new Map(), statuses: new Map(), served: new Set() };
}

async function callAll(world: FuzzYard, { chance, count }: { chance: Chance; count: number }): Promise<Book> {
  const book = openBook();
  for (let number = 0, round = 0; number < count; round += 1) {
    if (round % 2 === 1) await world.furnish();
    const due = table.filter(([name]) => round % (seldom[name] ?? 1) === 0);
    for (const [name, route] of chance.shuffled(due).slice(0, Math.ceil(count - number))) {
      number += 1;
      await callOnce(world, book, { name, route, chance });
    }
  }
  return book;
}

type Turn = {
  readonly name: RouteName;
  readonly route: Route;
  readonly chance: Chance;
  readonly trial?: { readonly place: readonly string[]; readonly put: unknown };
};

async function callOnce(world: FuzzYard, { findings, statuses, served }: Book, turn: Turn): Promise<void> {
  const { name, route, chance, trial } = turn;
  const { pool } = world;
  const caller = world.caller(route);
  const { owner, mark, headers, notTheirs } = caller;
  const conversation = pool.take(owner, "conversation");
  const asking = { name, route, chance, pool, owner, conversation, mark, headers };
  const sending = trial === undefined ? requestFor(asking) : trialOf(asking, trial.place, trial.put);
  const answer = await send(world.port, sending);
  const { status } = answer;
  statuses.set(status, (statuses.get(status) ?? 0) + 1);
  for (const fault of faultsIn({ route, sending, answer, secrets: [...world.places, ...notTheirs] })) {
    const key = `${name}: ${fault} ${codeIn(answer)}`;
    if (!findings.has(key)) findings.set(key, `${key}\n${shown(sending, answer)}`);
  }
  if (status >= 200 && status < 300) served.add(name);
  if (status < 300 && !answer.isLeft) pool.learnAll(owner, jsonIn(answer.body), idIn(route), conversation);
  await world.repair(caller, { status, route: name });
}

function assertNothing({ findings }: Book): void {
  const all = [`AGENTYARD_FUZZ_SEED=${seed} sends them again`, ...findings.values()];
  assert.ok(findings.size === 0, all.join("\n\n"));
}

/** Enough to send it once more by hand. */
function shown({ method, target, headers, body, cutAt }: Sending, answer: Answered): string {
  const sent = headers.map(([name, value]) => `${name}: ${value.slice(0, 200)}`).join("\n");
  const text = Buffer.from(body.subarray(0, 600)).toString("utf8");
  const said = answer.body.toString("utf8", 0, 600);
  const cut = cutAt === undefined ? "" : ` cut at ${cutAt}`;
  return `${method} ${target.slice(0, 400)}\n${sent}\n\n${text} (${body.length} bytes${cut})\n=> ${answer.head.slice(0, 300)}\n\n${said}`;
}

/** It answers, its log tells of no mistake of ours, and nothing is held for anybody who is gone. */
async function stillServes(world: FuzzYard): Promise<void> {
  const { yard } = world;
  const after = createClient({ fetch, baseUrl: `http://127.0.0.1:${world.port}` });
  assert.equal((await must(after.call("health", {}))).status, "ok");
  const rested = await yard.ask("hello");
  assert.equal(rested.outcome, "done");
  const staged = () => globSync("staging/*", { cwd: yard.data });
  await until(
    "nothing is held for anybody who is gone",
    () => world.held() === 0 && [...world.openNameless(), ...staged()].length === 0,
  );
  const incoming = globSync("incoming/*", { cwd: yard.data });
  const notes = incoming.filter((name) => name.endsWith(".json"));
  const strays = incoming.filter((name) => !notes.includes(name.replace(/\.part$/, ".json")));
  assert.deepEqual([...strays, ...staged()], []);
  const logs = globSync("*.log", { cwd: yard.config.paths.logsDir });
  const lines = logs.flatMap((name) => readFileSync(join(yard.config.paths.logsDir, name), "utf8").split("\n"));
  assert.deepEqual(lines.filter((line) => /request \S+ failed at/.test(line)).slice(0, 5), []);
}

// What an answer may never be, whatever was asked.

type Judged = {
  readonly route: Route;
  readonly sending: Sending;
  readonly answer: Answered;
  /** What must not stand in any answer, and what not in one for this caller. */
  readonly secrets: readonly string[];
};

/** What is wrong with an answer, in words; empty is good. */
function faultsIn(judged: Judged): string[] {
  const { answer, sending } = judged;
  if (answer.status === 0) return sending.cutAt === undefined ? ["no answer"] : [];
  return [...statusFaults(judged), ...shapeFaults(judged), ...tellings(judged), ...headerFaults(answer)];
}

/** Our own fault is none that a caller may bring about; what passes says when to come again. */
function statusFaults({ answer, route }: Judged): string[] {
  const { status, headers } = answer;
  if (status < 500) return status >= 200 ? [] : [`status ${status}`];
  const isSaid = [503, 507].includes(status) && route.failures.some((code) => code === codeIn(answer));
  if (!isSaid) return [`status ${status}`];
  return /^\d+$/.test(headers.get("retry-after") ?? "") ? [] : [`status ${status} without Retry-After`];
}

function codeIn({ body }: Answered): string {
  return /"code":"(\w+)"/.exec(body.toString("utf8", 0, 10_000))?.[1] ?? "";
}

function shapeFaults({ answer, route, sending }: Judged): string[] {
  const { status, headers, body, isLeft } = answer;
  const type = headers.get("content-type") ?? "";
  if (sending.method === "HEAD" || isLeft) return [];
  if (status >= 400) return isProblem(answer, dialectsOf(sending)) ? [] : [`no error of ours: ${type}`];
  if (status === 204 || status === 304) return body.length === 0 ? [] : ["a body where there is none"];
  const isOwn = status === route.status && sending.method === route.method && !isElsewhere(sending.target);
  if (!isOwn || type !== "application/json" || route.givesBytes === true) return [];
  const parsed = route.answer.safeParse(jsonIn(body));
  return parsed.success ? [] : [`the answer is not as described: ${parsed.error.issues[0]?.path.join(".")}`];
}

/** Another route may be meant than the one it was made for. */
function isElsewhere(target: string): boolean {
  return /\.\.|%2e|\/\/|\/\.?(\/|$|\?)|#|^http/i.test(target) || !target.startsWith("/");
}

function dialectsOf({ target }: Sending): Dialect[] {
  if (isElsewhere(target)) return ["own", "chat", "openai", "operators"];
  // What cannot be read as a request at all is refused before anybody looks at its path.
  if (/^\/api\/agent-(app|factory)\//.test(target)) return ["chat", "own"];
  if (target.startsWith("/api/agent-operator-integration/")) return ["operators", "own"];
  return target.startsWith("/v1/") ? ["openai", "own"] : ["own"];
}

/** The answer of the server itself to what is no request, beside the dialect of the path. */
const beforeAnyPath = "request_unreadable";

function isProblem(answer: Answered, dialects: readonly Dialect[]): boolean {
  const json = jsonIn(answer.body);
  const type = answer.headers.get("content-type");
  return dialects.some((dialect, index) => {
    if (dialect !== "own") return type === "application/json" && foreign[dialect].safeParse(json).success;
    const problem = Problem.safeParse(json).data;
    if (problem === undefined || type !== "application/problem+json") return false;
    const isFirst = index === 0 || dialects.length === 4 || problem.code === beforeAnyPath;
    return isFirst && problem.status === answer.status && problem.title !== problem.code;
  });
}

const text = z.string().min(1);
const details = z.object({ code: text, params: z.record(text, z.unknown()), request_id: z.string() });
const ChatProblem = z.object({
  ...{ error_code: z.string().regex(/^AgentAPP\.[\w.]+$/), description: text, solution: z.string() },
  ...{ error_link: z.string(), error_details: z.union([z.string(), details]) },
});
const OperatorProblem = z.object({
  code: z.string().regex(/^AgentOperatorIntegration\.[A-Za-z]+\.\w+$/),
  ...{ description: text, solution: z.string(), link: z.string(), details },
});
const OpenAiProblem = z.object({ error: z.object({ message: text, type: text, param: text.nullable(), code: text }) });
const foreign = { chat: ChatProblem, openai: OpenAiProblem, operators: OperatorProblem };

function jsonIn(body: Buffer): unknown {
  try {
    return JSON.parse(body.toString("utf8"));
  } catch {
    return undefined;
  }
}

/** Where we lie on the machine, how we are built, and what is somebody else's. */
function tellings({ answer, secrets, sending }: Judged): string[] {
  const text = `${answer.head}\n${answer.body.toString("utf8")}`;
  // What stands in the address already is told to nobody: `/root`, where that is our home and the name of a conversation.
  const told = secrets.filter((secret) => text.includes(secret) && !sending.target.includes(secret));
  const built = answer.status >= 400 ? innards.exec(text)?.[0] : undefined;
  return [...told.map((secret) => `tells ${secret}`), ...(built === undefined ? [] : [`tells ${built}`])];
}

const innards = new RegExp(
  [
    /\bat (?:async )?[\w$.<>]+ \((?:file:|node:|\/)/.source,
    /node:internal|node_modules|\.ts:\d+/.source,
    /SQLITE_|\bE(?:NOENT|ACCES|PERM|NAMETOOLONG|INVAL|ISDIR|NOTDIR|EXIST)\b/.source,
    /\b(?:Type|Range|Syntax|Reference|Zod)Error\b/.source,
  ].join("|"),
);

function headerFaults({ headers, status }: Answered): string[] {
  const location = headers.get("location") ?? "/";
  return [
    ...(/^\/(?!\/)/.test(location) ? [] : [`sends elsewhere: ${location}`]),
    ...(headers.get("set-cookie")?.includes("a=b") ? ["a header was smuggled in"] : []),
    ...(headers.has("x-request-id") || [400, 408, 431].includes(status) ? [] : ["no request id"]),
  ];
}

// A whole yard on a port, with something in it of everybody, and the callers who come to it.

type FuzzYard = Awaited<ReturnType<typeof openFuzzYard>>;

type FuzzCaller = {
  readonly owner: string;
  readonly mark: string;
  readonly headers: readonly (readonly [string, string])[];
  /** What is told to them of others is a fault. */
  readonly notTheirs: readonly string[];
  readonly isKnown: boolean;
};

const marks: Readonly<Record<string, string>> = {
  ann: "annsown7351",
  bob: "bobsown2946",
  local: "localsown11",
  olga: "olgasown5",
};
const many = "1000000";

async function openFuzzYard({ seed, hasUsers }: { seed: number; hasUsers: boolean }) {
  const chance = chanceOf(seed);
  const model = await modelServer(scripted(chanceOf(seed + 1)));
  const counted = countListeners();
  const yard = await startYard({
    model,
    ...counted.options,
    ...sandboxOver(playedProvider(() => ({ code: 0 }))),
    env: { AGENTYARD_REQUESTS_PER_MINUTE_MAX: many, AGENTYARD_SIGN_INS_PER_MINUTE_MAX: "100" },
  });
  counted.watchLive(yard);
  const door = await onPort(yard);
  const port = Number(new URL(door.url).port);
  const pool = openPool(chance);
  const owners = hasUsers ? ["ann", "bob"] : ["local", "ann", "bob"];
  let furnished = 0;
  const furnishAll = async () => {
    furnished += 1;
    for (const owner of owners) await furnish(yard, pool, { owner, tag: `${owner}-${furnished}` });
  };
  await furnishAll();
  const keys = hasUsers ? await makeKeys(yard) : undefined;
  return {
    ...{ yard, port, pool, furnish: furnishAll },
    /** Never in any answer. */
    places: [...new Set([yard.data, join(import.meta.dirname, "../.."), homedir()])],
    caller: (route: Route) => (keys === undefined ? alone(chance, port) : known(chance, port, { keys, route })),
    /** What was used up by a request is made anew. */
    async repair(caller: FuzzCaller, { status, route }: { readonly status: number; readonly route: string }) {
      if (keys === undefined && (route === "addUser" || status === 401)) await removeUsers(yard);
      // Somebody may take a key away, also their own.
      if (keys !== undefined && caller.isKnown && status === 401) Object.assign(keys, await makeKeys(yard));
    },
    held: counted.held,
    openNameless: () => openFiles().filter((file) => file.endsWith("(deleted)")),
    async close() {
      await door[Symbol.asyncDispose]();
      await yard[Symbol.asyncDispose]();
      await model.close();
    },
  };
}

/** Says something, asks a person, or calls one of the tools it was offered. */
function scripted(chance: Chance): Parameters<typeof modelServer>[0] {
  return (request) => {
    const { messages, tools = [] } = request.body;
    const said = JSON.stringify(messages.findLast(({ role }) => role === "user")?.content ?? "");
    if (stepOf(request) > 0 || tools.length === 0) return says("Here you are.");
    if (said.includes("a decision please")) return calls(["ask_human", { question: "Which one?" }]);
    const name = chance.pick(tools).function.name;
    return said.includes("call one of them")
      ? calls([name, chance.pick(["{}", "", "[", '{"path":"x"}'])])
      : says("Hello.");
  };
}

/** One of everything that can be named. */
async function furnish(yard: TestYard, pool: Pool, { owner, tag }: { owner: string; tag: string }): Promise<void> {
  const client = createClient({ fetch: yard.fetch, ...(owner !== "local" && { actsAs: owner }) });
  const mark = marks[owner] ?? "";
  await must(client.call("createSession", { query: { if_exists: "return" }, body: { user_id: owner } }));
  for (const [what, id] of Object.entries({ hello: `${tag}-a`, "a decision please": `${tag}-b` })) {
    await must(client.call("createConversation", { body: { id, title: mark } }));
    await must(client.upload(id, "a.txt", Buffer.from(`${mark}\n`)));
    const { checkpoint } = await must(client.call("saveCheckpoint", { params: { id }, body: { name: mark } }));
    const text = `${mark} ${what}`;
    const { message } = await must(client.call("sendMessage", { params: { id }, body: { text } }));
    const state = () => must(client.call("getState", { params: { id } }));
    await until("it rests", async () => (await state()).status !== "running");
    const { decisions } = await state();
    // One more that nobody takes up as long as a person is asked.
    const waiting = await must(client.call("sendMessage", { params: { id }, body: { text } }));
    const code = { code: "print(1)", conversation_id: id, user_id: owner };
    const { execution_id } = await must(client.call("execute", { params: { id: `sess-${owner}` }, body: code }));
    pool.learn(owner, "conversation", id);
    pool.learn(owner, "checkpoint", String(checkpoint), id);
    pool.learn(owner, "execution", execution_id, id);
    for (const one of [message, waiting.message]) pool.learn(owner, "message", one, id);
    for (const decision of decisions) pool.learn(owner, "decision", decision.id, id);
  }
  // Only so many are kept of each: what is there already is as good.
  const added = await client.call("addMemory", { body: { fact: `${mark} ${tag}` } });
  if (added.ok) pool.learn(owner, "memory", added.value.id);
}

type Keys = { olga: string; ann: string; bob: string; annChats: string; annFiles: string };

async function makeKeys({ client }: TestYard): Promise<Keys> {
  const { items } = await must(client.call("listUsers", {}));
  for (const id of ["olga", "ann", "bob", "carl"])
    if (!items.some((user) => user.id === id))
      await must(
        client.call("addUser", {
          body: { id, isAdmin: id === "olga", ...(id === "carl" && { password: fuzzPassword }) },
        }),
      );
  await removeKeys(client, items);
  const make = async (user: string, ...scopes: Scope[]) =>
    (await must(client.call("addKey", { params: { user }, body: { scopes } }))).key ?? "";
  return {
    olga: await make("olga", "admin", "chat", "files"),
    ann: await make("ann", "chat", "files"),
    bob: await make("bob", "chat", "files"),
    annChats: await make("ann", "chat"),
    annFiles: await make("ann", "files"),
  };
}

/** One has so many at the most, and what is left of earlier rounds is of no use. */
async function removeKeys(client: TestYard["client"], users: readonly { readonly id: string }[]): Promise<void> {
  for (const { id: user } of users) {
    const { items } = await must(client.call("listKeys", { params: { user } }));
    for (const { id: key } of items) await must(client.call("removeKey", { params: { user, key } }));
  }
}

async function removeUsers({ client }: TestYard): Promise<void> {
  const { items } = await must(client.call("listUsers", {}));
  for (const { id: user } of items) await must(client.call("removeUser", { params: { user } }));
}

const fromHere = (port: number) =>
  [
    ["host", `127.0.0.1:${port}`],
    ["connection", "close"],
  ] as const;

/** On a machine of one user the request says whose it is; anybody can say anything. */
function alone(chance: Chance, port: number): FuzzCaller {
  const owner = chance.pick(["local", "local", "ann", "bob"]);
  const named = owner === "local" ? [] : [["x-account-id", owner] as const];
  return { owner, mark: marks[owner] ?? "", headers: [...fromHere(port), ...named], notTheirs: [], isKnown: true };
}

function known(chance: Chance, port: number, { keys, route }: { keys: Keys; route: Route }): FuzzCaller {
  const isForAdmins = (route.scope === "admin" || route.path.includes("{user}")) && chance.odds(0.5);
  const who = isForAdmins
    ? "olga"
    : chance.pick(["ann", "ann", "ann", "bob", "bob", "bob", "olga", "olga", "annChats", "annFiles"] as const);
  const owner = who === "bob" || who === "olga" ? who : "ann";
  const sent = chance.odds(0.92) ? keys[who] : chance.pick(["", "yard_wrong", `${keys[who]}x`]);
  const header = chance.odds(0.8) ? (["authorization", `Bearer ${sent}`] as const) : (["x-api-key", sent] as const);
  // Whoever may copy the whole database sees all that is in it.
  const others = owner === "olga" ? [] : ["ann", "bob"].filter((one) => one !== owner);
  return {
    owner,
    mark: marks[owner] ?? "",
    headers: [...fromHere(port), header],
    notTheirs: others.map((one) => marks[one] ?? ""),
    isKnown: sent === keys[who],
  };
}
