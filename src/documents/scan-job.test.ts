import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { manualClock } from "../../test/world/manual-clock.ts";
import type { LineHit } from "./documents.ts";
import { plansFor } from "./query.ts";
import { countsOf, newProgress } from "./scan.ts";
import { runJob } from "./scan-job.ts";

test("a search for words may take a minute, one for a pattern ten seconds; what was found by then is told [D3]", () => {
  const timed = (query: string, isRegex: boolean, secondsPerFile: number) => {
    const { found, stopped } = search({ query, isRegex, secondsPerFile, files: 4 });
    return [found, stopped];
  };
  assert.deepEqual(timed("word", false, 14.9), [4, undefined]);
  assert.deepEqual(timed("word", false, 20), [3, "time"]);
  assert.deepEqual(timed("w.rd", true, 2.4), [4, undefined]);
  assert.deepEqual(timed("w.rd", true, 5), [2, "time"]);
});

test("words are looked for one by one in the time that the phrase has left [D3]", () => {
  assert.deepEqual(search({ query: "here word", isRegex: false, secondsPerFile: 7, files: 4 }), {
    ...{ found: 4, stopped: undefined },
    counts: { total: 4, filesSearched: 4, filesSkipped: 0 },
  });
  assert.deepEqual(search({ query: "here word", isRegex: false, secondsPerFile: 10, files: 4 }), {
    ...{ found: 2, stopped: "time" },
    counts: { total: 2, filesSearched: 2, filesSkipped: 0 },
  });
});

test("the first search does not wait for what it does not need: its thread loads little [D3]", () => {
  const loaded = modulesOf(new URL("./scan-worker.ts", import.meta.url));
  assert.deepEqual(
    loaded.filter(
      (path) => /\/(words|protocol|storage|models)\/|^[a-z]/.test(path) && !path.endsWith("protocol/failure.ts"),
    ),
    [],
  );
  assert.ok(loaded.length <= 24, loaded.join("\n"));
});

type Search = { query: string; isRegex: boolean; secondsPerFile: number; files: number };

function search({ query, isRegex, secondsPerFile, files }: Search) {
  const [clock, progress] = [manualClock(), newProgress()];
  const plans = plansFor(query, isRegex);
  assert.ok(plans.ok);
  const bytes = Buffer.from("a word is here\n");
  function* slowFiles() {
    for (let file = 0; file < files; file += 1) {
      yield { path: `${file}.txt`, bytes: bytes.length, read: () => bytes };
      clock.move(secondsPerFile * 1_000);
    }
  }
  const hits: LineHit[] = [];
  const job = { path: ".", root: 0, plans: plans.value, hitsMax: 10, contextCharacters: 10, progress };
  const stopped = runJob(job, { clock, files: slowFiles, found: (hit) => void hits.push(hit) });
  return { found: hits.length, stopped, counts: countsOf(progress) };
}

/** Addresses of our own files, and names of packages. Imports of types alone are not loaded. */
function modulesOf(start: URL): string[] {
  const [found, open] = [new Set([start.href]), [start.href]];
  for (let url = open.pop(); url !== undefined; url = open.pop()) {
    const source = readFileSync(new URL(url), "utf8");
    for (const [, name = ""] of source.matchAll(/^(?:import|export) (?!type )[^;]*?from "((?!node:)[^"]+)";/gms)) {
      const next = name.startsWith(".") ? new URL(name, url).href : name;
      if (found.has(next)) continue;
      found.add(next);
      if (name.startsWith(".")) open.push(next);
    }
  }
  return [...found].map((href) => (href.startsWith("file:") ? new URL(href).pathname : href));
}
