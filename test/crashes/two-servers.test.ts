// Two servers on one database, one of them killed: the other one takes over what it had, and finishes it.
import assert from "node:assert/strict";
import { modelServer } from "../world/model-server.ts";
import { postgresServer, onPostgres as test } from "../world/postgres-server.ts";
import { firstOfEachKind, type KillPlace, killAtEach, placesIn } from "./killed.ts";
import type { Scenario } from "./scenario.ts";
import { scenarios } from "./scenarios.ts";
import { type Pair, type PairEnd, playPairs } from "./two-servers.ts";

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
  const server = await postgresServer();
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
