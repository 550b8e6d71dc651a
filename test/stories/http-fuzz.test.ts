// Runs alone: it counts the files that its process holds open.
import assert from "node:assert/strict";
import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { systemRandom } from "../../src/base/random.ts";
import { createClient } from "../../src/client/client.ts";
import type { Route } from "../../src/protocol/route.ts";
import { type RouteName, routes } from "../../src/protocol/routes.ts";
import { until } from "../world/events.ts";
import { type Chance, chanceOf } from "../world/fuzz-chance.ts";
import { type Answered, codeIn, faultsIn, jsonIn, type Sending, send } from "../world/fuzz-judge.ts";
import { idIn, requestFor, trialOf } from "../world/fuzz-requests.ts";
import { placesIn, trials } from "../world/fuzz-values.ts";
import { type FuzzYard, openFuzzYard } from "../world/fuzz-yard.ts";
import { must } from "../world/yard.ts";

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
