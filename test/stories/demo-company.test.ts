import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import type { LogEvent } from "../../src/protocol/events.ts";
import { all } from "../world/events.ts";
import { must, type Rested, startYard, type TestYard } from "../world/yard.ts";

const files = {
  "north.csv": "month,sales\nMay,10\nJune,32\n",
  "south.csv": "month,sales\nMay,5\nJune,7\n",
  "memo.txt": "Tea sells well in the north.\nCocoa does not.\n",
  "计划.md": "# 明年的计划\n\n多卖茶。\n",
};

/** The main agent's own words, in their order. */
const saidBy = (events: readonly LogEvent[], agent?: string) =>
  all(events, "message.assistant").flatMap((event) => (event.agent === agent && event.text !== "" ? [event.text] : []));

async function filled(yard: TestYard) {
  const { id } = await must(yard.client.call("createConversation", { body: {} }));
  for (const [name, text] of Object.entries(files)) await must(yard.client.upload(id, name, Buffer.from(text)));
  return id;
}

function made(yard: TestYard, { conversation }: Rested, path: string): string {
  return readFileSync(join(yard.data, "workspace", conversation, path), "utf8");
}

/** They are made side by side: which is the first in the log is chance. */
const teamIn = (events: readonly LogEvent[]) =>
  all(events, "agent.spawned").toSorted((a, b) => (a.name ?? "").localeCompare(b.name ?? ""));

test("the demo model runs a small company: three agents share the files, and their notes become one report [M5][A1][W13]", async () => {
  await using yard = await startYard();
  const rested = await yard.ask("Split my files among three workers and collect a report.", {
    conversation: await filled(yard),
  });
  const { events, outcome } = rested;
  assert.equal(outcome, "done");
  const team = teamIn(events);
  assert.deepEqual(
    team.map(({ mode, name, brief }) => [mode, name, /Files handed to you: (.*)$/.exec(brief)?.[1]]),
    [
      ["task", "worker-1", "uploads/memo.txt, uploads/计划.md"],
      ["task", "worker-2", "uploads/north.csv"],
      ["task", "worker-3", "uploads/south.csv"],
    ],
  );
  assert.deepEqual(
    all(events, "agent.ended").map(({ outcome: how, folder }) => [how, folder?.replace(/\d$/, "")]),
    team.map(() => ["done", "outputs/worker-"]),
  );
  const report = made(yard, rested, "outputs/report.md");
  assert.match(
    report,
    /^# Report of the company\n\n## worker-1\n\n`uploads\/memo\.txt`: 2 lines, 9 words\. It begins: /,
  );
  assert.match(
    report,
    /## worker-2\n\n`uploads\/north\.csv`: 2 rows, 1 column of numbers\.[\s\S]*\| sales \| 2 \| 10 \| 32 /,
  );
  assert.equal(made(yard, rested, "outputs/worker-3/notes.md").includes("| sales | 2 | 5 | 7 | 6 | 12 |"), true);
  const [first = "", ...others] = saidBy(events);
  assert.match(first, /not an AI[\s\S]*The company is at work[\s\S]*- `worker-2`: 1 file\n/);
  assert.match(others.at(-1) ?? "", /^The report is in `outputs\/report\.md`: all 3 workers came to their end/);
  assert.deepEqual(saidBy(events, team[0]?.id).length, 1);
});
