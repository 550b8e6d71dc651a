// What starting costs: a turn of the demo model with ten MCP servers configured, one of which hangs, against one with none;
// and before the product itself starts: `npm start` with nothing to set up against an empty npm script
// with an empty pre-step; and `agentyard --version` and the way to the prompt of a chat, of the package as it is published and
// of the clone, with 10,000 conversations in the database, against a Node that does nothing. All in one run, taken in turns.
// Beside the prompt, into which one can type: until the first key is seen, and until the conversation is open behind it.
//
//   -- --only prompt  the way to the prompt alone
//   -- --rounds N     how often each is taken; 10 unless said otherwise
import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { parseArgs } from "node:util";
import { spawn } from "@lydell/node-pty";
import { writePackage } from "../scripts/build/package.ts";
import { systemClock } from "../src/base/clock.ts";
import { systemIds } from "../src/base/ids.ts";
import { openLog } from "../src/log/log.ts";
import { localOwner } from "../src/protocol/ids.ts";
import { openSqlite } from "../src/storage/sqlite/sqlite.ts";
import { must } from "./must.ts";

const options = { only: { type: "string" }, rounds: { type: "string", default: "10" } } as const;
const { only, rounds: wanted } = parseArgs({ options }).values;
const ROUNDS = Number(wanted);
const CONVERSATIONS = 10_000;
/** Until what a start left to be done is done. */
const IDLE_MS = 3_000;
const root = join(import.meta.dirname, "..");
const bin = join(root, "node_modules", ".bin");
const env = { ...process.env, PATH: `${bin}${delimiter}${process.env.PATH}` };

const folder = mkdtempSync(join(tmpdir(), "agentyard-bench-"));
const setUp = `node ${JSON.stringify(join(root, "scripts", "setup.mjs"))}`;
const scripts = { preempty: "node -e 0", empty: "node -e 0", preours: setUp, ours: "node -e 0" };
writeFileSync(join(folder, "package.json"), JSON.stringify({ private: true, scripts }));
for (const [name, servers] of [["none", {}] as const, ["ten", tenServers()] as const]) {
  mkdirSync(join(folder, name, "config"), { recursive: true });
  writeFileSync(join(folder, name, "config", "mcp_servers.yaml"), JSON.stringify({ servers }));
}
try {
  const packed = join(folder, "package");
  await writePackage(root, packed);
  const data = join(folder, "chat", "data");
  mkdirSync(data, { recursive: true });
  await fill(join(data, "sessions.db"));
  if (only === undefined) await measureCommands(packed);
  await measurePrompt(packed);
  for (const [what, program] of [["package", packed] as const, ["clone", root] as const])
    console.log(`idle at its prompt, ${what}: ${(await idleMb(program)).toFixed(0)} MB`);
} finally {
  rmSync(folder, { recursive: true });
}

async function measurePrompt(packed: string): Promise<void> {
  const starts: Readonly<Record<string, Start[]>> = { package: [], clone: [] };
  const start = (what: string, program: string) => async () => {
    const times = await untilReady(program);
    starts[what]?.push(times);
    return times.prompt;
  };
  const [nothing, packedPrompt, prompt] = await medians([
    () => run(process.execPath, "-e", "0"),
    start("package", packed),
    start("clone", root),
  ]);
  print("agentyard to its prompt, package", packedPrompt, "node -e 0", nothing, 6);
  print("agentyard to its prompt, clone", prompt, "node -e 0", nothing, 12);
  for (const [what, times] of Object.entries(starts)) {
    const of = (name: keyof Start) => middle(times.slice(1).map((one) => one[name])).toFixed(0);
    console.log(`behind the prompt, ${what}: first key seen after ${of("key")} ms, open after ${of("ready")} ms`);
  }
}

async function measureCommands(packed: string): Promise<void> {
  const [empty, ours, nothing, version, packedVersion] = await medians([
    () => run("npm", "run", "--silent", "empty"),
    () => run("npm", "run", "--silent", "ours"),
    () => run(process.execPath, "-e", "0"),
    () => run(process.execPath, join(root, "bin", "agentyard.mjs"), "--version"),
    () => run(process.execPath, join(packed, "bin", "agentyard.mjs"), "--version"),
  ]);
  const [without, withServers] = await medians([() => run(...turnIn("none")), () => run(...turnIn("ten"))]);
  print("a turn with ten MCP servers", withServers, "a turn without", without, 1.1);
  print("npm start, nothing to set up", ours, "empty npm script with pre-step", empty, 1.2);
  print("agentyard --version, package", packedVersion, "node -e 0", nothing, 6);
  print("agentyard --version, clone", version, "node -e 0", nothing, 2);
}

/** Nine that answer and one that never does. What they offer is known after the first round, which does not count. */
function tenServers(): object {
  const script = join(root, "test", "world", "mcp-program.mjs");
  const manners = [...Array<string>(9).fill("well"), "silent"];
  return Object.fromEntries(
    manners.map((manner, index) => [`s${index}`, { command: process.execPath, args: [script, manner] }]),
  );
}

function turnIn(name: string): [program: string, ...args: string[]] {
  const place = join(folder, name);
  const set = [`AGENTYARD_CONFIG=${place}`, `AGENTYARD_DATA=${join(place, "data")}`];
  return ["env", ...set, process.execPath, join(root, "bin", "agentyard.mjs"), "run", "what time is it"];
}

/** In turns, so that a busy moment of the machine falls on all alike. */
async function medians(jobs: (() => number | Promise<number>)[]): Promise<number[]> {
  const rounds: number[][] = [];
  for (let round = 0; round <= ROUNDS; round += 1) {
    const times: number[] = [];
    for (const job of jobs) times.push(await job());
    if (round > 0) rounds.push(times);
  }
  return jobs.map((_, index) => middle(rounds.map((round) => round[index] ?? 0)));
}

function middle(times: readonly number[]): number {
  return times.toSorted((a, b) => a - b)[times.length >> 1] ?? 0;
}

function run(program: string, ...args: string[]): number {
  const startedAt = performance.now();
  const { status, stderr } = spawnSync(program, args, { cwd: folder, env, encoding: "utf8" });
  if (status !== 0) throw new Error(`${program} ${args.join(" ")} ended with ${status}: ${stderr}`);
  return performance.now() - startedAt;
}

/** Conversations with a title and something said, as a long life leaves them. */
async function fill(path: string): Promise<void> {
  const storage = must(openSqlite({ path, clock: systemClock }));
  const onBrokenRecord = () => {
    throw new Error("a record cannot be read");
  };
  const log = openLog({ storage, clock: systemClock, ids: systemIds, checksReads: false, onBrokenRecord });
  const make = async (_: unknown, index: number) => {
    const { number } = must(await log.createConversation(localOwner, { title: `Conversation ${index}` }));
    must(await log.append(number, [{ type: "conversation.renamed", title: `Talk ${index}` }]));
  };
  await Promise.all(Array.from({ length: CONVERSATIONS }, make));
  await storage.close();
}

/** From the start until the prompt is drawn, until a key that is typed there at once is seen, until all is open. */
type Start = { readonly prompt: number; readonly key: number; readonly ready: number };

async function untilReady(program: string): Promise<Start> {
  const { startedAt, seen, child, exited } = openPrompt(program);
  const until = async (text: string) => {
    await seen(text);
    return performance.now() - startedAt;
  };
  const prompt = await until("opening");
  child.write("§");
  const times = { prompt, key: await until("§"), ready: await until("ready") };
  child.kill();
  await exited;
  return times;
}

/** What the process holds in memory once nothing is to be done any more. */
async function idleMb(program: string): Promise<number> {
  const { seen, child, exited } = openPrompt(program);
  await seen("ready");
  await pause(IDLE_MS);
  const kb = Number(/^VmRSS:\s+(\d+)/m.exec(readFileSync(`/proc/${child.pid}/status`, "utf8"))?.[1]);
  child.kill();
  await exited;
  return kb / 1024;
}

/** The editor of a chat; the line below it says whether it is still opening, or ready. */
function openPrompt(program: string) {
  const place = join(folder, "chat");
  const startedAt = performance.now();
  const child = spawn(process.execPath, [join(program, "bin", "agentyard.mjs")], {
    ...{ name: "xterm-256color", cols: 100, rows: 40, cwd: folder },
    env: { ...env, AGENTYARD_CONFIG: place, AGENTYARD_DATA: join(place, "data"), LANG: "C.UTF-8" },
  });
  const exited = new Promise<void>((resolve) => child.onExit(() => resolve()));
  let screen = "";
  let look = () => {};
  child.onData((text) => {
    screen += text;
    look();
  });
  const seen = (text: string) =>
    new Promise<void>((resolve, reject) => {
      look = () => screen.includes(text) && resolve();
      look();
      void exited.then(() => reject(new Error(`the chat ended: ${screen}`)));
    });
  return { startedAt, seen, child, exited };
}

function print(what: string, ms = 0, against: string, base = 0, target: number): void {
  const ratio = ms / base;
  const verdict = ratio <= target ? "held" : "missed";
  console.log(
    `${what}: ${ms.toFixed(0)} ms, ${ratio.toFixed(2)}× ${against} (${base.toFixed(0)} ms); target ${target}×: ${verdict}`,
  );
}
