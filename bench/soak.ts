/**
 * `npm run bench soak`: many people at one server for an hour, with restarts and a kill in between; what the server uses at
 * the start, at the end and at the worst, how long a first word takes, and whether anything is lost.
 *
 *   -- --minutes 60 --users 50
 *   -- --short    a few people for some seconds, to see that it runs
 *
 * Something that was lost or got stuck fails the run; growth is printed, for a person to judge.
 */

import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { loadavg } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { type Client, createClient } from "../src/client/client.ts";
import { pause } from "../test/world/events.ts";
import { chanceOf, seedFor } from "../test/world/fuzz-chance.ts";
import { modelServer } from "../test/world/model-server.ts";
import { entry } from "./entry.ts";
import { spreadOf } from "./figure.ts";
import { must } from "./must.ts";
import { answer } from "./soak/answers.ts";
import { type Ledger, live } from "./soak/person.ts";
import { type Look, type SoakServer, startServer } from "./soak/server.ts";
import { lostIn } from "./soak/verdict.ts";

const options = {
  short: { type: "boolean", default: false },
  minutes: { type: "string", default: "60" },
  users: { type: "string", default: "50" },
} as const;
const { values } = parseArgs({ options });
const sizes = values.short
  ? { seconds: 8, users: 3, pauseMsMax: 500, looks: 4 }
  : { seconds: Number(values.minutes) * 60, users: Number(values.users), pauseMsMax: 12_000, looks: 120 };

const columns = ["memoryMb", "descriptors", "processes", "diskMb", "firstWordMs", "firstWordP95Ms"] as const;

type Row = Look & { readonly second: number; readonly firstWordMs: number; readonly firstWordP95Ms: number };

const results = join(import.meta.dirname, "results");
mkdirSync(results, { recursive: true });
const folder = mkdtempSync(join(results, "soak-"));
const model = await modelServer((request) => {
  model.asked.length = 0;
  return answer(request);
});
const env = { MODEL_BASIC_BASE_URL: model.url, MODEL_BASIC_ID: "soak", MODEL_BASIC_CONTEXT_WINDOW: "128000" };
const server = await startServer(folder, env);
try {
  const ledger: Ledger = { kept: new Map(), counts: new Map(), firstWords: [], faults: [] };
  const rows = await soak(server, ledger);
  const lost = await lostIn(ledger);
  report(rows, ledger, lost);
  if (ledger.faults.length + lost.length > 0) process.exitCode = 1;
} finally {
  await server.close();
  await model.close();
  rmSync(folder, { recursive: true, force: true });
}

async function soak(at: SoakServer, ledger: Ledger): Promise<Row[]> {
  const seed = seedFor("soak");
  const people = await addPeople(at);
  const startedAt = performance.now();
  const second = () => (performance.now() - startedAt) / 1000;
  const isOver = () => second() > sizes.seconds;
  const living = people.map(({ name, client }, index) =>
    live({ name, client, isOver, chance: chanceOf(seed + index), pauseMsMax: sizes.pauseMsMax }, ledger),
  );
  const rows: Row[] = [];
  const ends: ("SIGTERM" | "SIGKILL")[] = ["SIGTERM", "SIGKILL"];
  for (let look = 1; look <= sizes.looks; look += 1) {
    await pause(Math.max(0, (look * sizes.seconds * 1000) / sizes.looks - second() * 1000));
    const { p50, p95 } = spreadOf(ledger.firstWords);
    ledger.firstWords = [];
    rows.push({ second: Math.round(second()), firstWordMs: p50, firstWordP95Ms: p95, ...at.look() });
    console.log(shown(rows.at(-1)));
    // After a third of the time, and after two.
    const end = look % Math.round(sizes.looks / 3) === 0 ? ends.shift() : undefined;
    if (end === undefined) continue;
    console.log(`${end}, and the server again`);
    await at.restart(end);
  }
  await Promise.all(living);
  return rows;
}

async function addPeople({ address }: SoakServer): Promise<{ name: string; client: Client }[]> {
  const typed = (...words: string[]) =>
    execFileSync(process.execPath, [entry, "user", ...words], {
      ...{ encoding: "utf8", env: { PATH: process.env.PATH, HOME: folder, AGENTYARD_DATA: join(folder, "data") } },
    });
  typed("add", "operator");
  const key = /ay_\S+/.exec(typed("key", "add", "operator", "--scope", "admin"))?.[0];
  const operator = createClient({ fetch, baseUrl: address, key });
  const people: { name: string; client: Client }[] = [];
  for (let number = 1; number <= sizes.users; number += 1) {
    const name = `user${number}`;
    must(await operator.call("addUser", { body: { id: name } }));
    const made = must(await operator.call("addKey", { params: { user: name }, body: {} }));
    people.push({ name, client: createClient({ fetch, baseUrl: address, key: made.key ?? undefined }) });
  }
  return people;
}

function shown(row: Row | undefined): string {
  if (row === undefined) return "";
  return `${String(row.second).padStart(5)} s  ${columns.map((name) => `${name} ${row[name].toFixed(0)}`).join("  ")}`;
}

function report(rows: readonly Row[], { counts, faults, kept }: Ledger, lost: readonly string[]): void {
  // What a server needs to warm up is no growth: the first tenth is left out.
  const settled = rows.slice(Math.floor(rows.length / 10));
  const part = Math.max(1, Math.floor(settled.length / 10));
  const middle = (of: readonly Row[], name: (typeof columns)[number]) =>
    spreadOf(of.map((row) => row[name]).filter((value) => !Number.isNaN(value))).p50;
  console.log("\n                start      end    worst");
  for (const name of columns) {
    const figures = [
      middle(settled.slice(0, part), name),
      middle(settled.slice(-part), name),
      Math.max(...settled.map((row) => row[name]).filter((value) => !Number.isNaN(value))),
    ];
    console.log(`${name.padEnd(14)}${figures.map((value) => value.toFixed(0).padStart(9)).join("")}`);
  }
  console.log(`done: ${JSON.stringify(Object.fromEntries(counts))}`);
  const messages = [...kept.values()].reduce((sum, each) => sum + each.messages.length, 0);
  console.log(`acknowledged messages in ${kept.size} conversations that stayed: ${messages}; lost: ${lost.length}`);
  for (const fault of [...faults, ...lost]) console.log(`FAULT ${fault}`);
  const file = join(results, values.short ? "soak-short.json" : "soak.json");
  const about = { at: new Date().toISOString(), load: loadavg(), sizes, rows, counts: Object.fromEntries(counts) };
  writeFileSync(file, `${JSON.stringify({ ...about, faults, lost }, null, 2)}\n`);
  console.log(`\nAll figures: ${file}`);
}
