import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { TestContext } from "node:test";
import { type Client, createClient } from "../../src/client/client.ts";
import type { LogEvent } from "../../src/protocol/events.ts";
import { openBalancer } from "../world/balancer.ts";
import { all, until } from "../world/events.ts";
import { seedFor } from "../world/fuzz-chance.ts";
import { modelServer } from "../world/model-server.ts";
import { postgresServer, onPostgres as test } from "../world/postgres-server.ts";
import { makeHome, type Program } from "../world/program.ts";
import { modelEnv } from "../world/served.ts";
import { must } from "../world/yard.ts";

// Some stories as `npm run replica-suite` runs all of them: two processes on one database, each request to either.

const root = join(import.meta.dirname, "..", "..");
const stories = ["decisions"];
/** Each kind of verdict, a restart, many people at once, and a stop. */
const some =
  "three calls one is approved|is asked for again|survives a restart|is made by its owner|is stopped at once";

test("stories are the same with two servers behind a balancer that sends each request to either [N1]", async (t) => {
  const folder = mkdtempSync(join(tmpdir(), "balanced-"));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  const [outcomes, tally] = [join(folder, "outcomes.jsonl"), join(folder, "tally.jsonl")];
  const { PATH, HOME, TMPDIR, NODE_COMPILE_CACHE, AGENTYARD_TESTED_PACKAGE } = process.env;
  // Always the same way for each request: others are for `npm run replica-suite` to find.
  const { AGENTYARD_SEED = "1" } = process.env;
  const env = {
    ...{ PATH, HOME, TMPDIR, NODE_COMPILE_CACHE, AGENTYARD_TESTED_PACKAGE, AGENTYARD_SEED, LANG: "C.UTF-8" },
    ...{ AGENTYARD_TEST_DATABASE: (await postgresServer()).place, AGENTYARD_TEST_REPLICAS: "2" },
    AGENTYARD_TEST_TALLY: tally,
  };
  const reporters = [
    ...["--test-reporter=spec", "--test-reporter-destination=stdout"],
    ...["--test-reporter=./scripts/reporters/test-outcomes.ts", `--test-reporter-destination=${outcomes}`],
  ];
  const files = stories.map((name) => `test/stories/${name}.test.ts`);
  // One that waits for ever is told of by its name.
  const args = ["--test", "--test-isolation=none", "--test-timeout=180000", `--test-name-pattern=${some}`];
  const child = spawn(process.execPath, [...args, ...reporters, ...files], {
    cwd: root,
    env,
    stdio: ["ignore", "pipe", "inherit"],
  });
  let said = "";
  child.stdout.setEncoding("utf8").on("data", (text: string) => {
    said += text;
  });
  await new Promise((resolve) => child.once("close", resolve));
  const told = linesOf<{ name: string; outcome: string }>(outcomes);
  const failed = told.filter(({ outcome }) => outcome !== "passed").map(({ name }) => name);
  assert.deepEqual(failed, [], said);
  assert.equal(told.length, 5, said);
  // Both processes had a share.
  const shares = linesOf<number[]>(tally);
  for (const index of [0, 1]) assert.ok(shares.some((share) => (share[index] ?? 0) > 5));
});

function linesOf<T>(path: string): T[] {
  return readFileSync(path, "utf8")
    .split("\n")
    .flatMap((line): T[] => (line === "" ? [] : [JSON.parse(line)]));
}

const words = Array.from({ length: 40 }, (_, index) => `word${index}`).join(" ");
const chatsCount = 3;

test("two servers behind a balancer are started anew, one after the other, while people chat: no request fails, and no stream misses or repeats anything [N1][C3][L6]", async (t) => {
  let held: Held | undefined;
  const heldAt = (part: number) => (part === 20 ? held?.reach() : undefined);
  await using model = await modelServer(({ text }) => ({
    ...{ text: words, paceMs: 4 },
    ...(text.includes("chat 0") && { heldAt }),
  }));
  const servers = await startServers(t, modelEnv(model));
  const seed = seedFor("restarts", 1);
  const balancer = await openBalancer({ seed, servers: () => servers.map(({ at }) => at()), readyPath: "/readyz" });
  t.after(() => balancer.close());
  const failures: string[] = [];
  const client = createClient({ fetch: watched(failures), baseUrl: balancer.address });

  let isOver = false;
  const stop = new AbortController();
  t.after(() => stop.abort());
  const parts = { client, isOver: () => isOver, stop: stop.signal };
  const chats = Array.from({ length: chatsCount }, (_, index) => openChat(`chat ${index}`, parts));
  const everybody = Promise.all(chats.map((chat) => chat.ended));
  for (const server of servers) {
    await goingOn(chats, everybody);
    held = holdOne();
    await Promise.race([held.isReached, everybody.then(() => assert.fail("nobody chats any more"))]);
    await server.restart();
    held.end();
    held = undefined;
  }
  await goingOn(chats, everybody);
  isOver = true;
  const logs = await everybody;

  assert.deepEqual(failures, []);
  for (const { seen, asked } of logs) {
    const seqs = seen.map(({ seq }) => seq);
    assert.deepEqual(
      seqs,
      Array.from(seqs, (_, index) => index + 1),
    );
    const [answers, ends] = [all(seen, "message.assistant"), all(seen, "turn.finished")];
    assert.deepEqual(new Set(answers.map(({ text }) => text)), new Set([words]));
    assert.deepEqual(
      ends.map(({ outcome }) => outcome),
      Array(asked).fill("done"),
    );
  }
  // One answer was being written when its server ended, whichever of them that was: the other one has asked for it anew.
  const turns = logs.reduce((sum, { asked }) => sum + asked, 0);
  assert.ok(model.asked.length > turns, `${model.asked.length} answers for ${turns} turns`);
  for (const { addresses } of servers) assert.ok(addresses.some((address) => balancer.sent.has(address)));
});

type Held = { readonly isReached: Promise<void>; reach(): Promise<void>; end(): void };

/** An answer that stands in the middle of being written. */
function holdOne(): Held {
  const [reached, ended] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const reach = () => {
    reached.resolve();
    return ended.promise;
  };
  return { isReached: reached.promise, reach, end: ended.resolve };
}

/** Each of them has finished a turn from now on, and is in the middle of another one. */
async function goingOn(chats: readonly Chat[], ended: Promise<unknown>): Promise<void> {
  const before = chats.map(({ turns }) => turns());
  const isSo = () => chats.every((chat, index) => chat.turns() > (before[index] ?? 0) && chat.isAnswered());
  await Promise.race([until("everybody chats", isSo, 180_000), ended.then(() => assert.fail("nobody chats any more"))]);
}

async function startServers(t: TestContext, env: Record<string, string>) {
  const { folder } = makeHome(t);
  const shared = {
    ...{ ...env, AGENTYARD_KEY: "the key of both servers, long enough", AGENTYARD_FILES_DIR: join(folder, "files") },
    // Many looks of the balancer, also of one that gets no processor for a while.
    ...{ AGENTYARD_DATABASE_URL: (await postgresServer()).newPlace(), AGENTYARD_DRAIN_SECONDS: "2" },
  };
  return Promise.all([1, 2].map(() => startOne(t, shared)));
}

async function startOne(t: TestContext, env: Record<string, string>) {
  const home = makeHome(t, { env });
  const addresses: string[] = [];
  /** Each time on a new port: the one that it had may be anybody's by then. */
  const start = async (): Promise<Program> => {
    const program = home.start("serve", "--port", "0");
    const [, address = ""] = await program.until("output", /listens on http:\/\/(127\.0\.0\.1:\d+) [\s\S]*Ctrl\+C/);
    addresses.push(address);
    return program;
  };
  let program = await start();
  return {
    addresses,
    at: () => addresses.at(-1) ?? "",
    /** As an operator does it who installs a new version. */
    async restart(): Promise<void> {
      program.child.kill("SIGTERM");
      assert.deepEqual((await program.ended).code, 0);
      program = await start();
    },
  };
}

/** The fetch of callers who write down whatever went wrong. */
function watched(failures: string[]): typeof fetch {
  return async (input, init) => {
    const what = `${init?.method ?? "GET"} ${String(input)}`;
    try {
      const response = await fetch(input, init);
      if (!response.ok) failures.push(`${what}: ${response.status} ${await response.clone().text()}`);
      return response;
    } catch (error) {
      if (init?.signal?.aborted !== true) failures.push(`${what}: ${String(error)}`);
      throw error;
    }
  };
}

type Chat = {
  readonly turns: () => number;
  /** Whether some of an answer has come, and not yet all. */
  readonly isAnswered: () => boolean;
  readonly ended: Promise<{ readonly seen: readonly LogEvent[]; readonly asked: number }>;
};

/** Somebody who says one thing after another, reads each answer as it is written, and looks around meanwhile. */
function openChat(
  name: string,
  { client, isOver, stop }: { readonly client: Client; readonly isOver: () => boolean; readonly stop: AbortSignal },
): Chat {
  const seen: LogEvent[] = [];
  let [asked, finished, pieces] = [0, 0, 0];
  const talk = async () => {
    const { id } = await must(client.call("createConversation", { body: {} }));
    const enough = new AbortController();
    const signal = AbortSignal.any([enough.signal, stop]);
    const say = async () => {
      asked += 1;
      await must(client.call("sendMessage", { params: { id }, body: { text: `${name}: question ${asked}` } }));
    };
    await say();
    for await (const frame of client.follow(id, { after: 0, signal })) {
      if (frame.frame === "delta" && ++pieces % 10 === 5) await must(client.call("getState", { params: { id } }));
      if (frame.frame !== "event") continue;
      seen.push(frame.event);
      if (frame.event.type !== "turn.finished") continue;
      finished += 1;
      pieces = 0;
      if (isOver()) break;
      await say();
    }
    enough.abort();
    return { seen, asked };
  };
  return { turns: () => finished, isAnswered: () => pieces > 0, ended: talk() };
}
