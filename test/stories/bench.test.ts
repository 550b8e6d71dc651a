import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { test } from "node:test";
import { cannotStore } from "../world/postgres-server.ts";
import { cannotRunCode } from "../world/sandbox.ts";

/** `npm run torture`: the short form of every bench. Else of the cheapest one. */
const isEvery = process.env.AGENTYARD_BENCHES === "all";
const bench = join(import.meta.dirname, "..", "..", "bench", "bench.ts");

const run = (...words: string[]) =>
  spawnSync(process.execPath, [bench, ...words], {
    ...{ encoding: "utf8", env: { AGENTYARD_SEED: "1", ...process.env } },
  });

/** What each prints besides its figures. */
const benches: Readonly<Record<string, { printed: RegExp; skip?: string | false }>> = {
  files: { printed: /^All figures: /m },
  ...(isEvery && {
    engine: { printed: /50 tool steps\n.*\n +bare +1\.00 .*\n +agentyard +\d+\.\d\d / },
    sandbox: { printed: /^All figures: /m, skip: cannotRunCode },
    context: { printed: /^ {2}ours {2,}/m },
    documents: { printed: /, characters that differ: 0\.\d\d %$/m },
    agents: { printed: /^All figures: /m },
    scale: { printed: /^All figures: /m, skip: cannotStore },
    http: { printed: /^chats of 10 at once that ended well: 10\.0 of them$/m },
    soak: {
      printed: /^acknowledged messages in \d+ conversations that stayed: \d+; lost: 0$/m,
      skip: cannotRunCode,
    },
  }),
};

for (const [name, { printed, skip = false }] of Object.entries(benches))
  test(`the short form of the ${name} bench runs to its end and prints what it is held against`, { skip }, () => {
    const { status, stdout, stderr } = run(name, name === "engine" ? "--quick" : "--short");
    assert.equal(status, 0, stdout + stderr);
    assert.match(stdout, printed);
    assert.doesNotMatch(stdout, /target/);
  });

test("a bench that does not exist is refused with those that do", () => {
  const { status, stderr } = run("nothing");
  assert.equal(status, 2);
  assert.match(stderr, /agents, .*soak, start/);
});
