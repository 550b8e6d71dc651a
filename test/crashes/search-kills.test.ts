import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { test } from "node:test";
import type { Search } from "../../src/search/search.ts";
import { chanceOf, seedFor } from "../world/fuzz-chance.ts";
import { searchPlace } from "../world/search.ts";
import { pagesOfEdition } from "./search-child.ts";

/** More in `npm run torture`. */
const kills = Number(process.env.AGENTYARD_SEARCH_KILLS ?? 2);
const chance = chanceOf(seedFor("search-kills", 1));

/** Starts the child, kills it at the line of this number, and answers the last edition that it said was done. */
async function indexUntilKilled(path: string, first: number, lineOfKill: number): Promise<number> {
  const child = spawn(process.execPath, [join(import.meta.dirname, "search-child.ts"), path, String(first)], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  const exited = once(child, "exit");
  let done = first - 1;
  let lines = 0;
  for await (const line of createInterface({ input: child.stdout })) {
    lines += 1;
    if (line.startsWith("done ")) done = Number(line.slice(5));
    if (lines >= lineOfKill) child.kill("SIGKILL");
  }
  const [, signal] = await exited;
  assert.equal(signal, "SIGKILL");
  return done;
}

async function totalOf(search: Search, word: string): Promise<number> {
  const answer = await search.match(`${word}\\b`, { owner: "ann" }, { hitsMax: 2 * pagesOfEdition });
  assert.ok(answer.ok, JSON.stringify(answer));
  return answer.value.hits.length;
}

test("killed in the middle of indexing, the old document or the new one is found, whole, and nothing else [D2][Q2]", async () => {
  await using place = searchPlace();
  let first = 0;
  let standing: number | undefined;
  for (let kill = 0; kill < kills; kill += 1) {
    await place.search.close();
    const done = await indexUntilKilled(place.file, first, chance.int(1, 12));
    const search = await place.again();
    // What it said was done is there, or the next one; where it came to nothing, what was there before.
    const before = done >= first ? done : standing;
    const editions = [...new Set([standing, before, done + 1])].filter((edition) => edition !== undefined);
    const counts: number[] = [];
    for (const edition of editions) counts.push(await totalOf(search, `edition${edition}`));
    const told = JSON.stringify({ first, done, standing, editions, counts });
    assert.ok(
      counts.every((count) => count === 0 || count === pagesOfEdition),
      told,
    );
    const whole = editions.filter((_, index) => counts[index] === pagesOfEdition);
    assert.ok(whole.length === 1 ? whole[0] === before || whole[0] === done + 1 : before === undefined, told);
    const words = await search.find(`chapter${pagesOfEdition - 1}`, { owner: "ann" });
    assert.equal(words.ok && words.value.total, whole.length);
    standing = whole[0];
    first = done + 2;
  }
});
