import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { type ModelServer, modelServer } from "../world/model-server.ts";
import { startYard } from "../world/yard.ts";
import { conversation, scriptedAnswer } from "./scenario.ts";

/** 200 in `npm run torture`. */
const randomKills = Number(process.env.AGENTYARD_RANDOM_KILLS ?? 3);
/** Of the places in the log after which it is killed every so many-th; each in `npm run torture`. */
const placesEach = randomKills > 3 ? 1 : 3;
const lanes = 2;

type ChildOptions = {
  readonly killAfter?: number;
  /** From the first append on: before it there is nothing to lose. */
  readonly killAtMs?: number;
  readonly forgetsStarts?: boolean;
  readonly crashing?: boolean;
};
type Ended = { readonly signal: string | null; readonly acknowledged: number[]; readonly workMs: number };

const compileCache = join(tmpdir(), "agentyard-crash-compiled");

async function runChild(data: string, model: ModelServer, { killAtMs, ...options }: ChildOptions): Promise<Ended> {
  const parameters = JSON.stringify({ data, modelUrl: model.url, ...options });
  const child = spawn(process.execPath, [join(import.meta.dirname, "scenario.ts"), "--child", parameters], {
    stdio: ["ignore", "pipe", "inherit"],
    env: { ...process.env, NODE_COMPILE_CACHE: compileCache },
  });
  let startedAt = 0;
  let output = "";
  child.stdout.on("data", (chunk) => {
    if (output === "" && killAtMs !== undefined) setTimeout(() => child.kill("SIGKILL"), killAtMs);
    if (output === "") startedAt = performance.now();
    output += chunk;
  });
  const signal = await new Promise<string | null>((resolve) => child.once("close", (_, how) => resolve(how)));
  const lines = output.split("\n").filter((line) => line.endsWith("}"));
  const acknowledged = lines.map((line) => JSON.parse(line).acknowledged);
  return { signal, acknowledged, workMs: performance.now() - startedAt };
}

type Outcome = {
  readonly turns: string[];
  readonly answers: string[];
  readonly results: Map<string, string[]>;
  readonly head: number;
  readonly marks: Map<string, number>;
};

/** What the log and the world say after the last run. */
async function look(data: string, model: ModelServer): Promise<Outcome> {
  await using yard = await startYard({ data, model });
  const events = await yard.events(conversation);
  const names = new Map<string, string>();
  const results = new Map<string, string[]>();
  for (const event of events) {
    if (event.type === "message.assistant") for (const call of event.calls ?? []) names.set(call.id, call.name);
    if (event.type !== "call.finished") continue;
    const name = names.get(event.call) ?? event.call;
    results.set(name, [...(results.get(name) ?? []), event.outcome]);
  }
  const marks = new Map<string, number>();
  const lines = (await readFile(join(data, "marks.jsonl"), "utf8").catch(() => ""))
    .split("\n")
    .filter((line) => line !== "");
  for (const line of lines) marks.set(JSON.parse(line).name, (marks.get(JSON.parse(line).name) ?? 0) + 1);
  return {
    turns: events.flatMap((event) => (event.type === "turn.finished" ? [event.outcome] : [])),
    answers: events.flatMap((event) => (event.type === "message.assistant" && event.text !== "" ? [event.text] : [])),
    results,
    head: events.at(-1)?.seq ?? 0,
    marks,
  };
}

function check(outcome: Outcome, acknowledged: number, label: string): void {
  assert.deepEqual(outcome.turns, ["done", "cancelled", "done"], `${label}: the turns end as in an undisturbed run`);
  assert.deepEqual(outcome.answers, ["first done", "third done"], `${label}: so do the answers`);
  assert.ok(
    outcome.head >= acknowledged,
    `${label}: ${acknowledged} was acknowledged and the log ends at ${outcome.head}`,
  );
  for (const [name, results] of outcome.results)
    assert.equal(results.length, 1, `${label}: ${name} was answered ${results.length} times`);
  assert.equal(outcome.results.size, 6, `${label}: every call was answered`);
  for (const name of ["send", "pay"])
    assert.ok((outcome.marks.get(name) ?? 0) <= 1, `${label}: the unsafe ${name} ran ${outcome.marks.get(name)} times`);
  for (const name of ["send", "pay"]) {
    const [result] = outcome.results.get(name) ?? [];
    assert.ok(result === "ok" || result === "unknown", `${label}: ${name} is ${result}`);
    if (result === "ok")
      assert.equal(outcome.marks.get(name), 1, `${label}: ${name} is reported as done and was done once`);
  }
}

async function inFolder<T>(work: (data: string) => Promise<T>): Promise<T> {
  const data = await mkdtemp(join(tmpdir(), "agentyard-crash-"));
  try {
    return await work(data);
  } finally {
    await rm(data, { recursive: true, force: true });
  }
}

const numbers = (count: number) => Array.from({ length: count }, (_, index) => index + 1);

async function inLanes<T>(items: readonly T[], work: (item: T) => Promise<unknown>): Promise<void> {
  const queue = [...items];
  const lane = async () => {
    for (let item = queue.shift(); item !== undefined; item = queue.shift()) await work(item);
  };
  await Promise.all(Array.from({ length: lanes }, lane));
}

test("whenever the process is killed, the conversation goes on after the restart and nothing acknowledged is lost [L2][L5][H4][Q2]", async () => {
  await using model = await modelServer(scriptedAnswer);
  const undisturbed = await inFolder(async (data) => {
    const run = await runChild(data, model, {});
    check(await look(data, model), Math.max(...run.acknowledged), "undisturbed");
    return run;
  });
  let kills = 0;
  const crashed = async (how: ChildOptions, label: string) =>
    inFolder(async (data) => {
      const first = await runChild(data, model, how);
      const second = await runChild(data, model, {});
      assert.equal(second.signal, null, `${label}: the second run ends in order`);
      check(await look(data, model), Math.max(0, ...first.acknowledged, ...second.acknowledged), label);
      if (first.signal === "SIGKILL") kills += 1;
      return first.signal === "SIGKILL";
    });
  // What is stored together depends on time, so the number of appends differs a little from run to run.
  const appendsMax = undisturbed.acknowledged.length + 5;
  const places = numbers(appendsMax).filter((place) => place % placesEach === 0);
  await inLanes(places, (n) => crashed({ killAfter: n }, `killed after append ${n}`));
  const afterAppends = kills;
  const killsMin = Math.floor(undisturbed.acknowledged.length / placesEach) - 3;
  assert.ok(afterAppends >= killsMin, `only ${afterAppends} runs were killed`);
  await inLanes(numbers(lanes), async () => {
    while (kills - afterAppends < randomKills) {
      const killAtMs = Math.random() * undisturbed.workMs;
      await crashed({ killAtMs }, `killed after ${killAtMs.toFixed(1)} ms`);
    }
  });
  const atRandom = kills - afterAppends;
  console.log(`crashes: ${kills} kills (${afterAppends} after each append, ${atRandom} at random moments), losses: 0`);
});

test("without the ledger of started calls an unsafe tool is run twice: the crash test can fail [L2]", async () => {
  await using model = await modelServer(scriptedAnswer);
  let repeated = 0;
  await inLanes(numbers(10), (killAfter) =>
    inFolder(async (data) => {
      if (repeated > 0) return;
      await runChild(data, model, { killAfter });
      await runChild(data, model, { forgetsStarts: true });
      const { marks } = await look(data, model);
      if ((marks.get("send") ?? 0) > 1 || (marks.get("pay") ?? 0) > 1) repeated += 1;
    }),
  );
  assert.ok(repeated > 0, "at least one unsafe call was repeated");
});

test("a turn that always ends the process is parked after three crashes, and the next turn works [L2][Q2]", async () => {
  await using model = await modelServer(scriptedAnswer);
  await inFolder(async (data) => {
    const signals: (string | null)[] = [];
    for (let run = 0; run < 5; run += 1) signals.push((await runChild(data, model, { crashing: true })).signal);
    assert.deepEqual(signals, ["SIGKILL", "SIGKILL", "SIGKILL", null, null]);
    const { turns, results } = await look(data, model);
    assert.deepEqual(turns, ["crashed"]);
    assert.deepEqual(results.get("die"), ["unknown"]);
    await using yard = await startYard({ data, model });
    const { answer, outcome } = await yard.ask("hello again", { conversation });
    assert.deepEqual({ answer, outcome }, { answer: "third done", outcome: "done" });
  });
});
