import assert from "node:assert/strict";
import { homedir } from "node:os";
import { join } from "node:path";
import { systemClock } from "../../src/base/clock.ts";
import { type Client, createClient } from "../../src/client/client.ts";
import { listen } from "../../src/http/http.ts";
import type { Route, Scope } from "../../src/protocol/route.ts";
import { type Chance, chanceOf } from "./fuzz-chance.ts";
import { fuzzPassword, openPool, type Pool } from "./fuzz-requests.ts";
import { countListeners } from "./listeners.ts";
import { calls, modelServer, says, stepOf } from "./model-server.ts";
import { openFiles } from "./open-files.ts";
import { type PlayedProvider, playedProvider, sandboxOver } from "./played-provider.ts";
import { must, startYard, type TestYard } from "./yard.ts";

// A whole yard on a port, with something in it of everybody, and the callers who come to it.

export type FuzzYard = {
  readonly yard: TestYard;
  readonly port: number;
  readonly pool: Pool;
  /** Everybody has something of everything again, whatever was deleted. */
  furnish(): Promise<void>;
  /** Never in any answer. */
  readonly places: readonly string[];
  caller(route: Route): FuzzCaller;
  /** What was used up by a request is made anew. */
  repair(caller: FuzzCaller, answer: { readonly status: number; readonly route: string }): Promise<void>;
  /** Readers that are still held. */
  held(): number;
  /** Files that nobody sees any more and that are still open. */
  openNameless(): string[];
  close(): Promise<void>;
};

export type FuzzCaller = {
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

export async function openFuzzYard({ seed, hasUsers }: { seed: number; hasUsers: boolean }): Promise<FuzzYard> {
  const chance = chanceOf(seed);
  const model = await modelServer(scripted(chanceOf(seed + 1)));
  const counted = countListeners();
  const yard = await startYard({
    model,
    ...counted.options,
    ...sandboxOver(quick()),
    env: { AGENTYARD_REQUESTS_PER_MINUTE_MAX: many, AGENTYARD_SIGN_INS_PER_MINUTE_MAX: "100" },
  });
  counted.watchLive(yard);
  const listening = await listen(yard.app, { host: "127.0.0.1", port: 0 }, { clock: systemClock });
  assert.ok(listening.ok);
  const port = Number(new URL(listening.value.address).port);
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
    places: [...new Set([yard.data, join(import.meta.dirname, "../.."), homedir()])],
    caller: (route) => (keys === undefined ? alone(chance, port) : known(chance, port, { keys, route })),
    async repair(caller, { status, route }) {
      if (keys === undefined && (route === "addUser" || status === 401)) await removeUsers(yard);
      // Somebody may take a key away, also their own.
      if (keys !== undefined && caller.isKnown && status === 401) Object.assign(keys, await makeKeys(yard));
    },
    held: counted.held,
    openNameless,
    async close() {
      await listening.value.close();
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

/** Programs end as soon as they begin. */
function quick(): PlayedProvider {
  const provider = playedProvider();
  return {
    ...provider,
    async open(wanted) {
      const opened = await provider.open(wanted);
      if (!opened.ok) return opened;
      const { value: guest } = opened;
      return { ok: true, value: { ...guest, run: (execution) => guest.run({ ...execution, code: "at once" }) } };
    },
  };
}

function openNameless(): string[] {
  return openFiles().filter((file) => file.endsWith("(deleted)"));
}

type Furnished = { readonly owner: string; readonly tag: string };

/** One of everything that can be named. */
async function furnish(yard: TestYard, pool: Pool, { owner, tag }: Furnished): Promise<void> {
  const client = createClient({ fetch: yard.fetch, ...(owner !== "local" && { actsAs: owner }) });
  const mark = marks[owner] ?? "";
  await must(client.call("createSession", { query: { if_exists: "return" }, body: { user_id: owner } }));
  for (const [what, id] of Object.entries({ hello: `${tag}-a`, "a decision please": `${tag}-b` })) {
    await must(client.call("createConversation", { body: { id, title: mark } }));
    await must(client.upload(id, "a.txt", Buffer.from(`${mark}\n`)));
    const { checkpoint } = await must(client.call("saveCheckpoint", { params: { id }, body: { name: mark } }));
    const text = `${mark} ${what}`;
    const { message } = await must(client.call("sendMessage", { params: { id }, body: { text } }));
    const { decisions } = await atRest(client, id);
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

async function atRest(client: Client, id: string) {
  for (;;) {
    const state = await must(client.call("getState", { params: { id } }));
    if (state.status !== "running") return state;
    await systemClock.wait(5);
  }
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
