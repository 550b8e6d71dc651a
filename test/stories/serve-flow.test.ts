import assert from "node:assert/strict";
import { test } from "node:test";
import { flow } from "../../docs/api/flow.ts";
import { makeHome } from "../world/program.ts";

// docs/api/flow.ts as a reader runs it: against a fresh server, and against one with users.

test("the flow of the documents runs: upload, list, select, chat, download [C7][C1][C2]", async (t) => {
  const home = makeHome(t);
  const address = await served(home);
  const { listed, answer, results } = await flow(address);
  assert.deepEqual(listed, ["sales.csv"]);
  assert.match(answer, /\| sales \| number \| 3 \| 0 \| 80 \| 200 \| 133\.5 \| 120\.5 \| 400\.5 \|/);
  assert.match(
    results.join("\n"),
    /^sales-report-1\.png: \d{4,} bytes\nsales-report-2\.png: \d{4,} bytes\nsales-report\.md: \d{3,} bytes$/,
  );
});

test("the same runs with the API key of a user, and not without one [C7][C6]", async (t) => {
  const home = makeHome(t);
  assert.equal((await home.start("user", "add", "grace").ended).code, 0);
  const { output: key } = await home.start("user", "key", "add", "grace").ended;
  const address = await served(home);
  const { results } = await flow(address, key.trim());
  assert.equal(results.length, 3);
  await assert.rejects(flow(address), /You are not signed in|sign/i);
});

async function served(home: ReturnType<typeof makeHome>): Promise<string> {
  const server = home.start("serve", "--port", "0");
  const [, address = ""] = await server.until("output", /listens on (http:\/\/127\.0\.0\.1:\d+) [\s\S]*Ctrl\+C/);
  return address;
}
