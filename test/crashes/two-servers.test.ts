// Two servers on one database, one of them killed: the other one takes over what it had, and finishes it.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { z } from "zod";
import type { Storage } from "../../src/storage/storage.ts";
import { modelServer } from "../world/model-server.ts";
import { type PostgresServer, postgresServer, startPostgres, onPostgres as test } from "../world/postgres-server.ts";
import type { TestYard } from "../world/yard.ts";
import { firstOfEachKind, headsOf, type KillPlace, killAtEach, placesIn } from "./killed.ts";
import { type KillAfter, type Scenario, startScenario } from "./scenario.ts";
import { scenarios } from "./scenarios.ts";
import type { ServersOrder } from "./two-servers-child.ts";

/** `npm run torture`: after every single write, wherever the caller is. Else after the first write of some kinds. */
const isEvery = process.env.AGENTYARD_SERVER_KILLS === "every";

const kinds = ["message.user", "call.started", "decision.made", "turn.finished"];

/** A conversation that is at home where its caller is not. */
const pairs = [{ scenario: "threeTurns", conversation: "crash", callerAt: "other" }] as const;
const pairsBesides = [
  { scenario: "decisions", conversation: "caller", callerAt: "one" },
  { scenario: "threeTurns", conversation: "crash", callerAt: "one" },
  { scenario: "decisions", conversation: "caller", callerAt: "other" },
  { scenario: "smallCompany", conversation: "company", callerAt: "one" },
  { scenario: "smallCompany", conversation: "company", callerAt: "other" },
  { scenario: "roomAndUndo", conversation: "caller", callerAt: "one" },
  { scenario: "roomAndUndo", conversation: "caller", callerAt: "other" },
] as const;

test("a server killed after its first write of some kinds (after every one in `npm run torture`): another one on the same database finishes what it had: nothing is lost, nothing is there twice, and no unsafe tool is run again [N1][L2][H2][Q2]", async (t) => {
  const own = isEvery ? await startPostgres({ max_connections: 600 }) : undefined;
  t.after(() => own?.stop());
  const server = own ?? (await postgresServer());
  await using stack = new AsyncDisposableStack();
  const undisturbed: Pair[] = [];
  for (const kind of isEvery ? [...pairs, ...pairsBesides] : pairs) {
    const { url } = stack.use(await modelServer(scenarios[kind.scenario].answer));
    undisturbed.push({ ...kind, modelUrl: url });
  }
  const whole = await playPairs(server, undisturbed);
  const places = undisturbed.flatMap((pair, index) => placesOf(pair, whole[index] ?? assert.fail()));
  const killed = isEvery ? places : firstOfEachKind(places).filter(({ killAfter: { write } }) => kinds.includes(write));
  const run = async (chosen: readonly Killed[]) => {
    const ends = await playPairs(server, chosen);
    for (const [index, end] of ends.entries()) judge(chosen[index] ?? assert.fail(), end);
    return ends.map((end) => end.isReached);
  };
  await killAtEach(killed, { run, labelOf });
  t.diagnostic(`${killed.length} kills of ${places.length} writes`);
});

type Killed = Pair & { readonly killAfter: KillPlace; readonly expected: unknown };

function placesOf(pair: Pair, { outcome, wrote }: PairEnd): Killed[] {
  return placesIn(wrote).map((killAfter) => ({ ...pair, killAfter, expected: outcome }));
}

const labelOf = ({ scenario, callerAt, killAfter: { write, times } }: Killed) =>
  `${scenario}, played at the ${callerAt}, after ${write} ${times}`;

function judge(place: Killed, { outcome }: PairEnd): void {
  const { check }: Scenario = scenarios[place.scenario];
  try {
    if (check === undefined) assert.deepEqual(outcome, place.expected);
    else check(outcome);
  } catch (error) {
    throw new Error(labelOf(place), { cause: error });
  }
}

/** Two servers on one database; the one that has everything is killed, and the other one lives all the time. */
type Pair = {
  readonly scenario: keyof typeof scenarios;
  readonly modelUrl: string;
  /** Where whoever plays is: at the one that is killed, and then at the other; or at the other all the time. */
  readonly callerAt: "one" | "other";
  readonly conversation: string;
  readonly killAfter?: KillAfter | undefined;
};

type PairEnd = {
  readonly outcome: unknown;
  /** What the one wrote, in its words, until it was killed. */
  readonly wrote: readonly string[];
  readonly isReached: boolean;
};

const Line = z.object({
  yard: z.string(),
  number: z.number().optional(),
  seq: z.number().optional(),
  wrote: z.string().optional(),
  last: z.object({ write: z.string(), events: z.array(z.string()) }).optional(),
  done: z.literal(true).optional(),
});
type Line = z.infer<typeof Line>;

/** Plays each pair to its end; all that are to be killed are one process, which is killed when each has come so far. */
async function playPairs(server: PostgresServer, pairs: readonly Pair[]): Promise<PairEnd[]> {
  const root = mkdtempSync(join(tmpdir(), "agentyard-pairs-"));
  await using stack = new AsyncDisposableStack();
  stack.defer(() => rmSync(root, { recursive: true, force: true }));
  const places: Place[] = [];
  for (const [index, pair] of pairs.entries()) {
    const shared = join(root, `pair-${index}`);
    for (const own of ["one", "other"]) mkdirSync(join(shared, own), { recursive: true });
    const place = { modelUrl: pair.modelUrl, database: server.newPlace(), shared };
    let stored: Storage | undefined;
    const other = stack.use(
      await startScenario(scenarios[pair.scenario], {
        ...{ ...place, data: join(shared, "other") },
        wrapStorage(storage) {
          stored = storage;
          return storage;
        },
      }),
    );
    const [home, end] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    places.push({ ...place, pair, other, stored: stored ?? assert.fail(), lines: [], home, end });
  }
  const ones = startOnes(places);
  try {
    const played = places.map(playBefore);
    // What fails before is told at the end, with the others.
    await Promise.all(places.map(({ end }, index) => Promise.race([end.promise, played[index]?.catch(() => {})])));
    await ones.kill();
    // Where one fails the others come to their end, too: nobody plays on at a server that is closed.
    const ends = await Promise.allSettled(places.map((place, index) => playAfter(place, played[index])));
    return ends.map((end, index) => {
      if (end.status === "fulfilled") return end.value;
      throw new Error(JSON.stringify(pairs[index]), { cause: end.reason });
    });
  } finally {
    await ones.kill();
  }
}

type Place = {
  readonly pair: Pair;
  readonly modelUrl: string;
  readonly database: string;
  readonly shared: string;
  readonly other: TestYard;
  /** As the other one has it. */
  readonly stored: Storage;
  readonly lines: Line[];
  /** The conversation is at home with the one, or that stands already. */
  readonly home: PromiseWithResolvers<void>;
  /** The one stands, or has played to its end without coming to its last write. */
  readonly end: PromiseWithResolvers<void>;
};

const stands = ({ lines }: Place) => lines.some(({ last }) => last !== undefined);

function startOnes(places: readonly Place[]) {
  const order: ServersOrder = places.map(({ pair, modelUrl, database, shared }) => ({
    ...{ scenario: pair.scenario, killAfter: pair.killAfter, modelUrl, database, shared },
    plays: pair.callerAt === "one" ? "here" : { conversation: pair.conversation },
  }));
  const script = join(import.meta.dirname, "two-servers-child.ts");
  const child = spawn(process.execPath, [script, JSON.stringify(order)], { stdio: ["pipe", "pipe", "inherit"] });
  const closed = new Promise<NodeJS.Signals | null>((resolve) => child.once("close", (_, signal) => resolve(signal)));
  createInterface({ input: child.stdout }).on("line", (text) => {
    if (!text.endsWith("}")) return; // A kill may cut the last one off.
    const line = Line.parse(JSON.parse(text));
    const place = places.find(({ shared }) => shared === line.yard) ?? assert.fail(text);
    place.lines.push(line);
    if (line.done === true || line.last !== undefined) place.home.resolve();
    if (line.last !== undefined || (line.done === true && place.pair.callerAt === "one")) place.end.resolve();
  });
  return {
    async kill() {
      child.kill("SIGKILL");
      assert.equal(await closed, "SIGKILL", "the servers lived until they were killed");
    },
  };
}

/** What is played at the other one from the beginning on, once the conversation is at home with the one; else nothing. */
async function playBefore(place: Place): Promise<void> {
  if (place.pair.callerAt === "one") return new Promise(() => {});
  await place.home.promise;
  await playOn(place);
}

async function playAfter(place: Place, played: Promise<void> | undefined): Promise<PairEnd> {
  const { pair, other, stored, lines } = place;
  const scenario: Scenario = scenarios[pair.scenario];
  await (pair.callerAt === "one" ? playOn(place) : played);
  for (const [number, seq] of headsOf(...lines)) {
    const head = await stored.headOf(number);
    assert.ok(head >= seq, `${seq} was acknowledged and the log ends at ${head}`);
  }
  const wrote = lines.flatMap(({ wrote: write }) => write ?? []);
  return { outcome: await scenario.outcome(other), wrote, isReached: stands(place) };
}

/** As a client does that is told to come again, until whoever was killed is missed. */
async function playOn({ pair, other }: Place): Promise<void> {
  const scenario: Scenario = scenarios[pair.scenario];
  for (let tries = 1; ; tries += 1)
    try {
      return await scenario.play(other);
    } catch (error) {
      if (tries === triesMax || !comeAgain.test(String(error))) throw error;
    }
}

const comeAgain = /^Error: (home_away|storage_busy|conversation_busy|network)\b/;
const triesMax = 10;
