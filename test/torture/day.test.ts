import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { buffer, text } from "node:stream/consumers";
import { test } from "node:test";
import { isDeepStrictEqual } from "node:util";
import type { Result } from "../../src/base/result.ts";
import { type Client, type ClientFailure, createClient } from "../../src/client/client.ts";
import type { LogEvent } from "../../src/protocol/events.ts";
import { all, pause, until } from "../world/events.ts";
import { modelServer } from "../world/model-server.ts";
import { cannotStore } from "../world/postgres-server.ts";
import { agentyard } from "../world/pty.ts";
import { cannotRunCode } from "../world/sandbox.ts";
import { type DayServers, dayFiles, dayModel, dayServers, refunds, story } from "./day.ts";

// The day of a user, from the first start to the deleted conversation, with a kill -9 at several places.

const id = "monday";
const params = { id };

type Day = { readonly servers: DayServers; readonly client: Client; readonly seen: LogEvent[] };

for (const kind of ["sqlite", "postgres"] as const)
  test(`the day of a user with files, decisions, search and undo loses nothing to kills, on ${kind} [P1][L2][Q2][N1]`, {
    skip: cannotRunCode || (kind === "postgres" && cannotStore),
  }, async () => {
    await using model = await modelServer(dayModel);
    await using servers = await dayServers(kind);
    const client = createClient({ fetch, baseUrl: servers.address, newKey: () => crypto.randomUUID() });
    const following = new AbortController();
    const day: Day = { servers, client, seen: [] };
    await connect(day, model.url);
    await upload(day);
    const followed = follow(day, following.signal);
    await askTheHandbook(day);
    await plotTheSales(day);
    await decide(day);
    await shareTheWork(day);
    await hearAStory(day);
    await comeBackElsewhere(day);
    await undo(day);
    await find(day);
    following.abort();
    await followed;
    await compareLogs(day);
    await forget(day);
    assert.equal(servers.kills(), 5);
  });

/** Said again where nobody was there, or another server takes over: a client of ours, and a person, do the same. */
async function must<T>(ask: () => Promise<Result<T, ClientFailure>>): Promise<T> {
  for (let attempts = 1; ; attempts += 1) {
    const answer = await ask();
    if (answer.ok) return answer.value;
    const isAway = answer.failure.status === undefined || [502, 503, 504].includes(answer.failure.status);
    if (!isAway || attempts > 1_000) assert.fail(JSON.stringify(answer.failure));
    await pause(100);
  }
}

async function connect({ client }: Day, baseUrl: string): Promise<void> {
  const demo = await must(() => client.call("getModel", { params: { slot: "base" } }));
  assert.equal(demo.from, "demo");
  const tried = await must(() => client.call("testModel", { body: { baseUrl, model: "test-model", apiKey: "k" } }));
  assert.equal(tried.ok, true, JSON.stringify(tried));
  const body = { baseUrl, model: "test-model", apiKey: "k", contextWindow: 128_000 };
  await must(() => client.call("enterModel", { params: { slot: "base" }, body }));
}

/** A spreadsheet, a PDF and two old files; the server is killed as soon as it has said that it has them. */
async function upload({ client, servers }: Day): Promise<void> {
  await must(() => client.call("createConversation", { body: { id } }));
  for (const [name, bytes] of Object.entries(dayFiles)) await must(() => client.upload(id, name, bytes));
  await servers.kill();
  const { items } = await must(() => client.call("listFiles", { params, query: { path: "uploads" } }));
  assert.deepEqual(items.map(({ name }) => name).sort(), Object.keys(dayFiles).sort());
}

async function follow({ client, seen }: Day, signal: AbortSignal): Promise<void> {
  for await (const frame of client.follow(id, { after: 0, signal })) {
    if (frame.frame === "event") seen.push(frame.event);
    if (frame.frame === "failed") assert.fail(JSON.stringify(frame));
  }
}

/** The ends of the turn in which the main agent took this message up: there must be one. */
function endsOf({ seen }: Day, message: string) {
  const begun = all(seen, "turn.started").find((event) => event.message === message && event.agent === undefined);
  return all(seen, "turn.finished").filter(({ turn, agent }) => turn === begun?.turn && agent === undefined);
}

/** Says something, and waits for the end of its turn; `meanwhile` happens before that. */
async function say(day: Day, said: string, meanwhile: () => Promise<void> = async () => {}): Promise<string> {
  const body = { id: crypto.randomUUID(), text: said };
  await must(() => day.client.call("sendMessage", { params, body }));
  await meanwhile();
  await until(`the turn of "${said}" is over`, () => endsOf(day, body.id).length > 0, 120_000);
  const ends = endsOf(day, body.id);
  assert.deepEqual(
    ends.map(({ outcome }) => outcome),
    ["done"],
    JSON.stringify(ends),
  );
  return all(day.seen, "message.assistant").findLast((event) => event.agent === undefined)?.text ?? "";
}

const has = (day: Day, isIt: (event: LogEvent) => boolean, what: string) =>
  until(what, () => day.seen.some(isIt), 120_000);

async function askTheHandbook(day: Day): Promise<void> {
  assert.equal(await say(day, "What does the handbook say of money?"), `The handbook says on page 2: ${refunds}`);
}

/** Killed while code runs: the model hears of it and decides anew; nothing is run twice behind its back. */
async function plotTheSales(day: Day): Promise<void> {
  const { client, servers } = day;
  const answer = await say(day, "Plot the sales", async () => {
    await has(day, (event) => event.type === "call.started", "the code has begun");
    await until(
      "the program has left its line",
      async () => {
        const runs = await client.download(id, "temp/runs.txt");
        return runs.ok && runs.value.bytes > 0;
      },
      120_000,
    );
    await servers.kill();
  });
  assert.equal(answer, "The chart is there.");
  const read = async (path: string) => {
    const { chunks } = await must(() => client.download(id, path));
    return buffer(chunks);
  };
  assert.equal((await read("temp/runs.txt")).toString(), "first\nsecond\n");
  assert.equal((await read("outputs/report.md")).toString(), "# Sales\n\nSum: 60\n");
  assert.equal((await read("outputs/sales.png")).subarray(1, 4).toString("latin1"), "PNG");
}

/** Killed while two decisions wait: they wait on; one is allowed, one refused. */
async function decide(day: Day): Promise<void> {
  const { client, servers } = day;
  await say(day, "Tidy up", async () => {
    const waiting = async () => (await must(() => client.call("listDecisions"))).items;
    await until("two decisions wait", async () => (await waiting()).length === 2);
    await servers.kill();
    const [first, second] = await waiting();
    assert.ok(first && second);
    const made = (decision: string, verdict: "approve" | "reject") =>
      must(() => client.call("decide", { params: { id, decision }, body: { verdict } }));
    await made(first.id, "approve");
    await made(second.id, "reject");
  });
  const { items } = await must(() => client.call("listFiles", { params, query: { path: "uploads" } }));
  assert.equal(items.filter(({ name }) => name.startsWith("old-")).length, 1);
}

/** Killed while three agents are at work. */
async function shareTheWork(day: Day): Promise<void> {
  const { client, servers } = day;
  await say(day, "Let three share the work", async () => {
    await has(day, (event) => event.type === "step.started" && event.agent !== undefined, "an agent works");
    await servers.kill();
  });
  const { items } = await must(() => client.call("listFiles", { params, query: { path: "outputs" } }));
  assert.deepEqual(
    items.map(({ name }) => name).filter((name) => name.startsWith("part-")),
    ["part-1.md", "part-2.md", "part-3.md"],
  );
  assert.equal(all(day.seen, "agent.spawned").length, 3);
}

/** Killed in the middle of an answer: whoever follows has the whole of it in the end. */
async function hearAStory(day: Day): Promise<void> {
  const told = new AbortController();
  const deltas: string[] = [];
  const listening = (async () => {
    for await (const frame of day.client.follow(id, { after: day.seen.length, signal: told.signal }))
      if (frame.frame === "delta" && frame.kind !== "reasoning") deltas.push(frame.text);
  })();
  const answer = await say(day, "Tell me a story", async () => {
    await until("the story has begun", () => deltas.length > 20);
    await day.servers.kill();
  });
  told.abort();
  await listening;
  assert.equal(answer, story);
}

/** From a terminal, with the same conversation. */
async function comeBackElsewhere({ servers }: Day): Promise<void> {
  const words = ["run", "--url", servers.address, "--resume", id, "--json", "And from here?"];
  const child = spawn(process.execPath, [agentyard, ...words], {
    env: { ...servers.env },
    stdio: ["ignore", "pipe", "pipe"],
  });
  const [output, errors] = await Promise.all([text(child.stdout), text(child.stderr)]);
  const { conversation_id, answer, finish } = JSON.parse(output || `{"answer":${JSON.stringify(errors)}}`);
  assert.deepEqual(
    { conversation_id, answer, finish },
    { conversation_id: id, answer: "You said: And from here?", finish: "done" },
  );
}

async function undo(day: Day): Promise<void> {
  await say(day, "Write a note");
  const notes = async () => {
    const { items } = await must(() => day.client.call("listFiles", { params, query: { path: "outputs" } }));
    return items.filter(({ name }) => name === "note.md").length;
  };
  assert.equal(await notes(), 1);
  await must(() => day.client.call("undoTurn", { params }));
  assert.equal(await notes(), 0);
}

async function find({ client }: Day): Promise<void> {
  // Whoever was killed has all of its index a while after it is back.
  await until("both are found", async () => {
    const { items } = await must(() => client.call("search", { query: { q: "refunds fourteen days" } }));
    const kinds = new Set(items.map(({ kind }) => kind));
    return isDeepStrictEqual(kinds, new Set(["file", "message"]));
  });
}

/** What was followed is what is stored; each call has one result, each message stands there once. */
async function compareLogs({ client, seen }: Day): Promise<void> {
  const stored: LogEvent[] = [];
  for (let after = 0; ; after = stored.length) {
    const { items } = await must(() => client.call("readEvents", { params, query: { after, limit: 500 } }));
    if (items.length === 0) break;
    stored.push(...(items as LogEvent[]));
  }
  assert.deepEqual(seen, stored.slice(0, seen.length));
  const finishedCalls = all(stored, "call.finished").map(({ call, agent }) => `${agent ?? ""} ${call}`);
  assert.equal(new Set(finishedCalls).size, finishedCalls.length);
  const asked = all(stored, "message.assistant").flatMap(({ calls = [], agent }) =>
    calls.map((call) => `${agent ?? ""} ${call.id}`),
  );
  assert.deepEqual(new Set(finishedCalls), new Set(asked));
  const said = all(stored, "message.user").map((event) => event.id);
  assert.equal(new Set(said).size, said.length);
}

/** Deleted for good: not to be found, and no file is left. */
async function forget({ client, servers }: Day): Promise<void> {
  const folders = () =>
    existsSync(join(servers.files, "workspace")) ? readdirSync(join(servers.files, "workspace")) : [];
  assert.equal(folders().length, 1);
  await must(() => client.call("deleteConversation", { params }));
  const gone = await client.call("getConversation", { params });
  assert.equal(!gone.ok && gone.failure.code, "conversation_not_found");
  await until("its files are gone", () => folders().length === 0);
}
