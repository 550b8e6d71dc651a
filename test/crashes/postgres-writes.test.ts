import assert from "node:assert/strict";
import { test } from "node:test";
import { cannotStore, postgresServer } from "../world/postgres-server.ts";
import type { CutCall } from "./cut-calls.ts";
import { goOnFromEveryWrite } from "./every-write.ts";

/** After every single write. */
const whole = ["threeTurns", "decisions", "smallCompany", "handOff"] as const;
/**
 * What these have besides: the first write of each kind that none before has. `npm run torture` kills a real process after every
 * single write of these and of more (postgres-kills.test.ts).
 */
const besides = ["roomAndUndo", "fullWindow", "branchAndDelete", "secondThoughts"] as const;

test("on PostgreSQL, too: from a copy of what a kill after any single write would leave, everything goes on, agents as well, and nothing acknowledged is lost [N1][L2][H1][A1][Q2]", {
  skip: cannotStore,
}, async (t) => {
  const server = await postgresServer();
  const shown = new Set<string>();
  const cut: CutCall[] = [];
  const note = (
    name: string,
    { after, writes, around, ...resumed }: Awaited<ReturnType<typeof goOnFromEveryWrite>>,
  ) => {
    for (const write of Object.keys(after)) shown.add(write);
    cut.push(...resumed.cut);
    t.diagnostic(`${name}: gone on from copies after ${writes} writes, ${around} times after what follows as well`);
  };
  for (const name of whole) note(name, await goOnFromEveryWrite(name, { server }));
  for (const name of besides) note(name, await goOnFromEveryWrite(name, { server, shown }));
  // Both kinds were there: one that had run already, and one that had not.
  assert.deepEqual(new Set(cut.map(({ ran }) => ran)), new Set([0, 1]));
});
