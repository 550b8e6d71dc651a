import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { firstOf, lastOf, report } from "../world/company.ts";
import { all } from "../world/events.ts";
import { chanceOf, seedFor } from "../world/fuzz-chance.ts";
import { type Answer, type AskedRequest, calls, modelServer, says } from "../world/model-server.ts";
import { must, startYard, type TestYard } from "../world/yard.ts";

/** An agent as it is to be made, told to the model as its brief. */
type Wanted = {
  readonly name: string;
  readonly mode: "task" | "worker";
  readonly writes: boolean;
  readonly below: readonly Wanted[];
};

const { AGENTYARD_AGENT_TREES: wanted } = process.env;
const trees = Number(wanted ?? 6);
const atOnce = 6;
const chance = chanceOf(seedFor("agent trees", wanted === undefined ? 1 : undefined));

test("in any tree each agent works with the files of the task it belongs to, and no task sees another's [A1][A2][W2][W3][W4]", async () => {
  await using model = await modelServer(answerOf);
  await using yard = await startYard({ model, env: { AGENTYARD_SYNCHRONOUS: "normal", MAX_LOOPS: "30" } });
  const numbers = Array.from({ length: trees }, (_, number) => number).values();
  const lane = async () => {
    for (const number of numbers) await growTree(yard, `tree-${number}`, someAgents("a", 0));
  };
  await Promise.all(Array.from({ length: atOnce }, lane));
  assert.deepEqual(await yard.faults(), []);
});

async function growTree(yard: TestYard, id: string, below: readonly Wanted[]): Promise<void> {
  const row = await yard.start(id);
  const root = { name: "root", mode: "task", writes: true, below } as const;
  const what = `${id}: ${JSON.stringify(root)}`;
  const body = { text: JSON.stringify(root), mode: "queue" } as const;
  await must(yard.client.call("sendMessage", { params: { id }, body }));
  assert.equal(await endOfTurn(yard, id), "done", what);
  const events = await yard.events(id);
  const made = all(events, "agent.spawned");
  const wanted = flat(below);
  assert.deepEqual(
    made.map(({ brief }) => JSON.parse(brief).name).toSorted(),
    wanted.map(({ name }) => name).toSorted(),
    what,
  );
  const idOf = new Map(made.map(({ id: agent, brief }) => [String(JSON.parse(brief).name), agent]));
  const homes = new Set<string>();
  for (const top of below) {
    const own = idOf.get(top.name) ?? "";
    const home = top.mode === "task" ? own : id;
    assert.ok(top.mode === "worker" || !homes.has(home), what);
    homes.add(home);
    const family = flat([top]);
    for (const { name, writes } of family) {
      const workspace = await yard.workspaces.ofAgent(row, idOf.get(name));
      assert.deepEqual(
        workspace.ok && [workspace.value.id, workspace.value.kind],
        [home, top.mode === "task" ? "task" : "conversation"],
        what,
      );
      const file = workspace.ok ? await workspace.value.stat(`outputs/${name}.txt`) : workspace;
      assert.equal(file.ok, writes, `${name} in ${what}`);
    }
    // No folder without a write, and one with the first.
    const isThere = existsSync(join(yard.data, "workspaces", own));
    assert.equal(isThere, top.mode === "task" && family.some(({ writes }) => writes), what);
  }
  assert.equal(all(events, "agent.ended").length, wanted.length, what);
}

async function endOfTurn(yard: TestYard, id: string): Promise<string | undefined> {
  const stop = new AbortController();
  for await (const frame of yard.client.follow(id, { after: 0, signal: stop.signal })) {
    if (frame.frame !== "event" || frame.event.type !== "turn.finished" || frame.event.agent !== undefined) continue;
    stop.abort();
    return frame.event.outcome;
  }
  return undefined;
}

function answerOf(request: AskedRequest): Answer {
  const { name, writes, below }: Wanted = JSON.parse(firstOf(request));
  const { role, text } = lastOf(request);
  if (role !== "user" || text.startsWith("[")) return says(report(name));
  const made = below.map((child): [string, unknown] =>
    child.mode === "worker"
      ? ["delegate_task", { task: JSON.stringify(child) }]
      : ["spawn_agent", { role: child.name, task: JSON.stringify(child) }],
  );
  const own: [string, unknown][] = writes ? [["write_file", { path: `outputs/${name}.txt`, content: name }]] : [];
  return own.length + made.length === 0 ? says(report(name)) : calls(...own, ...made);
}

const depthMax = 3;

function someAgents(prefix: string, depth: number): Wanted[] {
  const count = depth === 0 ? chance.int(1, 3) : chance.int(0, 2);
  return Array.from({ length: count }, (_, index) => {
    const name = `${prefix}${index}`;
    const mode = chance.int(0, 2) === 0 ? "worker" : "task";
    const isLeaf = mode === "worker" || depth + 1 >= depthMax;
    return { name, mode, writes: chance.int(0, 1) === 1, below: isLeaf ? [] : someAgents(name, depth + 1) };
  });
}

function flat(wanted: readonly Wanted[]): Wanted[] {
  return wanted.flatMap((one) => [one, ...flat(one.below)]);
}
