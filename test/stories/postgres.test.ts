import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { copyFileSync, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { TestContext } from "node:test";
import { z } from "zod";
import { makeBackup } from "../../src/backup.ts";
import { holdEmptyDatabase } from "../../src/onto-database.ts";
import { ChatIncrement } from "../../src/protocol/chat.ts";
import { localOwner } from "../../src/protocol/ids.ts";
import { folderOf, restore, treeOf } from "../world/backups.ts";
import { alike, allFrames, folded } from "../world/chat.ts";
import { type AskedRequest, calls, type ModelServer, modelServer, says, stepOf } from "../world/model-server.ts";
import { takeOver } from "../world/postgres-doubles.ts";
import { postgresServer, onPostgres as test } from "../world/postgres-server.ts";
import { type Home, makeHome } from "../world/program.ts";
import { saidOf } from "../world/said.ts";
import { killedAt, modelEnv, type Served, serve } from "../world/served.ts";
import { must, startYard } from "../world/yard.ts";

const words = Array.from({ length: 40 }, (_, index) => `word${index}`).join(" ");

test("one variable, and a server keeps everything in PostgreSQL: killed in the middle of an answer, the next one goes on; one that has other secrets or other files is refused [N1][L2][C3]", async (t) => {
  let told = 0;
  await using model = await modelServer((request) => {
    if (stepOf(request) === 0) return { ...calls(["now", {}]), text: "Let me see. " };
    told += 1;
    // The second time it goes no further: nobody comes too late to kill the server in its middle.
    return { text: words, ...(told === 2 && { fault: { after: 25, kind: "stall" } }) };
  });
  const env = { ...modelEnv(model), AGENTYARD_DATABASE_URL: (await postgresServer()).newPlace() };
  const home = makeHome(t, { env });
  const looked = await home.start("doctor", "--json").ended;
  assert.match(looked.output, /Database: PostgreSQL [\d.]+.* answers; the tables are made at the first start/);

  const first = await serve(home);
  const undisturbed = folded(await allFrames(await first.stream({ query: "hi", conversation_id: "calm" })));
  const key = readFileSync(join(home.folder, "data", "key"), "utf8").trim();
  for (const [more, told] of [
    [{}, /sealed under another key[\s\S]*AGENTYARD_KEY/],
    [{ AGENTYARD_KEY: key }, /files lie in another folder[\s\S]*AGENTYARD_FILES_DIR/],
  ] as const) {
    const second = await makeHome(t, { env: { ...env, ...more } }).start("serve", "--port", "0").ended;
    assert.match(second.errors, told);
    assert.notEqual(second.code, 0);
  }

  const frames = await killedAt("word20", first, { query: "hi", conversation_id: "cut" });
  const last = ChatIncrement.parse(frames.at(-1));
  const next = await serve(home);
  const wanted = { conversation_id: "cut", last_seq_id: last.seq_id };
  const rest = folded(await allFrames(await next.stream(wanted, { path: "chat/resume" })));
  assert.deepEqual(alike(rest), alike(undisturbed));
  assert.equal(existsSync(join(home.folder, "data", "sessions.db")), false);

  // Its connection is cut, and a process that has the database alone is quicker: it must not write beside that one.
  await using _ = await takeOver(await postgresServer(), env.AGENTYARD_DATABASE_URL);
  const { code, errors } = await next.service.ended;
  assert.match(errors, /another AgentYard uses it \(this machine, process \d+ of the server\)/);
  assert.notEqual(code, 0);
});

test("a database that cannot be used ends the start with what to do, and without its password [N1][P4][Q1]", async (t) => {
  const { folder } = await postgresServer();
  const away = "postgres://me:verysecret@127.0.0.1:1/yard";
  const missing = `postgres:///missing?host=${folder}&user=postgres&password=verysecret`;
  const said: string[] = [];
  for (const url of [away, missing]) {
    const home = makeHome(t, { env: { AGENTYARD_DATABASE_URL: url } });
    const { code, output, errors } = await home.start("run", "hi").ended;
    assert.notEqual(code, 0);
    assert.doesNotMatch(output + errors, /verysecret/);
    said.push(errors.trim());
  }
  assert.match(said[0] ?? "", /cannot be reached \(ECONNREFUSED\)[\s\S]*See that PostgreSQL runs/);
  assert.match(said[1] ?? "", /there is no database of this name \(.*"missing".*\)[\s\S]*createdb --encoding=UTF8/);
});

test("a backup with the key has it also where files lie in a folder of their own: secrets can be read after a restore [N1][Q3][Q1]", async (t) => {
  const folder = folderOf(t);
  const [data, path, copy] = [join(folder, "data"), join(folder, "yard.tar"), join(folder, "copy")];
  const url = (await postgresServer()).newPlace();
  const env = { AGENTYARD_DATABASE_URL: url, AGENTYARD_FILES_DIR: join(folder, "files") };
  {
    await using yard = await startYard({ data, env });
    await must(yard.secrets.put(localOwner, "weather", "a token"));
    assert.ok((await makeBackup({ fetch: yard.fetch, path, includesKey: true })).ok);
  }
  assert.ok((await restore(path, copy)).ok);
  await using restored = await startYard({ data: copy });
  assert.equal(await must(restored.secrets.open(localOwner, "weather")), "a token");
});

// What was said and done is the same to the letter wherever it is kept. `npm run torture` does it with 10,000 conversations.

const count = Number(process.env.AGENTYARD_MOVED_CONVERSATIONS ?? 8);
const atOnceMax = 16;
/** Several pages, however few there are. */
const pageMax = Math.min(100, Math.ceil(count / 3));
const key = "a key that all of these servers have";

test("a yard that is moved to PostgreSQL, backed up there and restored onto another server has the same histories and files, byte for byte [N1][P2][Q3]", async (t) => {
  await using model = await modelServer(answer);
  const onFiles = makeHome(t, { env: { ...modelEnv(model), AGENTYARD_KEY: key } });
  const first = await serve(onFiles);
  await fill(first, model);
  const before = await historyOf(first);
  await end(first);
  const data = join(onFiles.folder, "data");
  const files = treeOf(data);
  assert.ok(Object.keys(files).length > count, "and there are files");

  const moved = await onServer(t, model, { AGENTYARD_DATA: data });
  const { output } = await done(moved, "migrate", "--json");
  const { conversations } = JSON.parse(output);
  assert.equal(conversations, count);
  const second = await serve(moved);
  assert.deepEqual(await historyOf(second), before);
  assert.deepEqual(treeOf(data), files);

  const archive = join(moved.folder, "yard.tar");
  await done(moved, "backup", archive);
  await end(second);
  const shared = join(moved.folder, "shared");
  const restored = await onServer(t, model, { AGENTYARD_FILES_DIR: shared });
  const told = await done(restored, "restore", archive);
  assert.ok(told.output.startsWith(`✓ Restored into the database server, its files into ${shared}, and compared\n`));
  assert.deepEqual(withoutLeft(readdirSync(shared)), ["kept", "workspace"]);
  const third = await serve(restored);
  assert.deepEqual(await historyOf(third), before);
  assert.deepEqual(treeOf(shared), files);
  // And it goes on: the numbers, the key, the files.
  const { status } = await third.call("POST", "chat/completion", {
    query: "more 0",
    conversation_id: "c-0",
    stream: false,
  });
  assert.equal(status, 200);
  await end(third);
});

test("a backup is restored onto an empty database server only, and what hinders it leaves both sides as they were [N1][P2][P4][Q3]", async (t) => {
  const folder = folderOf(t);
  const archive = join(folder, "yard.tar");
  const shared = join(folder, "shared");
  const [used, empty] = await Promise.all([1, 2].map(async () => (await postgresServer()).newPlace()));
  const env = { AGENTYARD_KEY: key, AGENTYARD_DATABASE_URL: used ?? "", AGENTYARD_FILES_DIR: join(folder, "files") };
  {
    await using yard = await startYard({ data: join(folder, "data"), env });
    await must(yard.client.call("createConversation", { body: { id: "c" } }));
    assert.ok((await makeBackup({ fetch: yard.fetch, path: archive, includesKey: false })).ok);
  }
  mkdirSync(join(shared, "workspace", "old"), { recursive: true });
  writeFileSync(join(shared, "workspace", "old", "a.txt"), "old");
  const onto = async (url = "", path = archive, replaces = false) => {
    const holdDatabase = () => holdEmptyDatabase({ ...placeIn(url) }, () => {});
    return restore(path, join(folder, "data-2"), { filesDir: shared, replaces, holdDatabase });
  };
  const codeOf = async (restored: ReturnType<typeof onto>) =>
    restored.then((done) => (done.ok ? "ok" : done.failure.code));
  assert.equal(await codeOf(onto(used, archive, true)), "database_not_empty");
  assert.equal(await codeOf(onto(empty)), "restore_not_empty");
  writeFileSync(join(folder, "cut.tar"), "no backup");
  assert.equal(await codeOf(onto(empty, join(folder, "cut.tar"), true)), "backup_broken");
  assert.deepEqual(withoutLeft(readdirSync(shared)), ["workspace"]);
  const replaced = await onto(empty, archive, true);
  assert.ok(replaced.ok && replaced.value.conversations === 1);
  assert.ok(existsSync(join(replaced.value.filesKeptAt ?? "", "workspace", "old", "a.txt")));
});

const placeIn = (url: string) => ({
  ...{ url, statementMsMax: 60_000, connectionsMax: 2, awayMsMax: 0, peerAddress: undefined },
});

test("no empty yard begins where a restore onto a database server was killed; files that a server would not find are no part of a move [N1][P4][Q3]", async (t) => {
  await using model = await modelServer(answer);
  const killed = await onServer(t, model, {});
  const shared = join(killed.folder, "shared");
  const begun = await onServer(t, model, { AGENTYARD_FILES_DIR: shared });
  mkdirSync(join(shared, "restoring-abc"), { recursive: true });
  const { code, errors } = await begun.start("run", "plain 2").ended;
  assert.notEqual(code, 0);
  assert.ok(errors.includes(saidOf("restore_unfinished", { path: shared, keptAt: "" })), errors);

  const from = join(killed.folder, "data");
  mkdirSync(join(from, "workspace", "c"), { recursive: true });
  copyFileSync(join(import.meta.dirname, "..", "data", "sessions-v1.db"), join(from, "sessions.db"));
  const to = join(killed.folder, "elsewhere");
  const moving = await onServer(t, model, { AGENTYARD_DATA: from, AGENTYARD_FILES_DIR: to });
  const refused = await moving.start("migrate").ended;
  assert.ok(refused.errors.includes(saidOf("files_elsewhere", { from, to })), refused.errors);
  assert.ok(existsSync(join(from, "sessions.db")));
});

/** A program whose data goes to a schema of its own. */
async function onServer(t: TestContext, model: ModelServer, env: Record<string, string>): Promise<Home> {
  const url = (await postgresServer()).newPlace();
  return makeHome(t, { env: { ...modelEnv(model), AGENTYARD_KEY: key, AGENTYARD_DATABASE_URL: url, ...env } });
}

async function done(home: Home, ...words: string[]): Promise<{ readonly output: string }> {
  const { code, output, errors } = await home.start(...words).ended;
  assert.deepEqual([code, errors], [0, ""]);
  return { output };
}

async function end(served: Served): Promise<void> {
  served.service.child.kill("SIGTERM");
  await served.service.ended;
}

/** What each number of a conversation does. */
const kinds = ["plain", "written", "timed", "asked", "odd"] as const;
const odd = "NUL \u0000, ends \u0001\u0002, 一二三, \u{1f9ed}, \u202eright to left, half \ud83d";

async function fill(served: Served, model: ModelServer): Promise<void> {
  const numbers = Array.from({ length: count }, (_, number) => number);
  const worker = async () => {
    for (let number = numbers.shift(); number !== undefined; number = numbers.shift()) {
      const id = `c-${number}`;
      const kind = kinds[number % kinds.length] ?? "plain";
      if (kind === "odd") await served.upload(id, "data.csv", `a,b\n${number},2\n`);
      const said = { query: `${kind} ${number}`, conversation_id: id, stream: false };
      const reply = await served.call("POST", "chat/completion", said);
      assert.equal(reply.status, 200, reply.text);
      model.asked.length = 0; // Nobody asks for them, and they are many.
    }
  };
  await Promise.all(Array.from({ length: atOnceMax }, worker));
}

function answer(request: AskedRequest) {
  const said = request.body.messages.findLast(({ role }) => role === "user");
  const [, kind = "plain", number = "0"] =
    /(plain|written|timed|asked|odd|more) (\d+)/.exec(JSON.stringify(said)) ?? [];
  if (stepOf(request) > 0 || kind === "plain" || kind === "more") return says(`That was ${number}.`);
  if (kind === "timed") return calls(["now", {}]);
  if (kind === "asked") return calls(["ask_human", { question: `Which of ${number}?` }]);
  if (kind === "written") return calls(["write_file", { path: "outputs/a.txt", content: `${odd} ${number}` }]);
  return says(odd);
}

const Listed = z.object({ items: z.array(z.object({ id: z.string() })), next: z.string().nullable() });
const Events = z.object({ next: z.number().nullable() });

/** Every list and every log, as the API tells them: one sum of each. */
async function historyOf(served: Served) {
  const [lists, logs] = [createHash("sha256"), createHash("sha256")];
  const ids: string[] = [];
  for (let cursor: string | null = ""; cursor !== null; ) {
    const query: string = cursor === "" ? "" : `&before=${encodeURIComponent(cursor)}`;
    const text = await read(served, `/api/v1/conversations?limit=${pageMax}${query}`);
    lists.update(text);
    const page: z.infer<typeof Listed> = Listed.parse(JSON.parse(text));
    ids.push(...page.items.map(({ id }) => id));
    cursor = page.next;
  }
  let bytes = 0;
  const sorted = ids.toSorted();
  for (let start = 0; start < sorted.length; start += atOnceMax) {
    const texts = await Promise.all(sorted.slice(start, start + atOnceMax).map((id) => logOf(served, id)));
    for (const text of texts.flat()) {
      logs.update(text);
      bytes += text.length;
    }
  }
  assert.equal(ids.length, count);
  return { lists: lists.digest("hex"), logs: logs.digest("hex"), bytes };
}

async function logOf(served: Served, id: string): Promise<string[]> {
  const texts: string[] = [];
  for (let after: number | null = 0; after !== null; ) {
    const text = await read(served, `/api/v1/conversations/${id}/events?limit=1000&after=${after}`);
    texts.push(text);
    after = Events.parse(JSON.parse(text)).next;
  }
  return texts;
}

async function read(served: Served, path: string): Promise<string> {
  const { status, text } = await served.send("GET", path);
  assert.equal(status, 200, text);
  return text;
}

function withoutLeft(names: readonly string[]): string[] {
  return names.filter((name) => !/^(staging|\.agentyard-files|trash|workspaces|packages)$/.test(name)).sort();
}
