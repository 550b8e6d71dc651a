// Runs alone: it fills whole yards and moves them.
import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { cpSync, existsSync, mkdirSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { z } from "zod";
import { systemClock } from "../../src/base/clock.ts";
import { treeOf } from "../world/backups.ts";
import { type AskedRequest, calls, type ModelServer, modelServer, says, stepOf } from "../world/model-server.ts";
import { cannotStore, postgresServer } from "../world/postgres-server.ts";
import { type Home, makeHome } from "../world/program.ts";
import { saidOf } from "../world/said.ts";
import { modelEnv, type Served, serve } from "../world/served.ts";

// What was said and done is the same to the letter wherever it is kept. `npm run torture` does it with 10,000 conversations.

const skip = cannotStore;
const count = Number(process.env.AGENTYARD_MOVED_CONVERSATIONS ?? 24);
const atOnceMax = 16;
/** Several pages, however few there are. */
const pageMax = Math.min(100, Math.ceil(count / 3));
const key = "a key that all of these servers have";

test("a yard that is moved to PostgreSQL, backed up there and restored onto another server has the same histories and files, byte for byte [N1][P2][Q3]", {
  skip,
}, async (t) => {
  await using model = await modelServer(answer);
  const clocked = watch(t);
  const onFiles = makeHome(t, { env: { ...modelEnv(model), AGENTYARD_KEY: key } });
  const first = await serve(onFiles);
  await clocked("filled", () => fill(first, model));
  const before = await clocked("read from files", () => historyOf(first));
  await end(first);
  const data = join(onFiles.folder, "data");
  const files = treeOf(data);
  assert.ok(Object.keys(files).length > count, "and there are files");

  const moved = await onServer(t, model, { AGENTYARD_DATA: data });
  const { output } = await clocked("migrate", () => done(moved, "migrate", "--json"));
  const { conversations } = JSON.parse(output);
  assert.equal(conversations, count);
  const second = await serve(moved);
  assert.deepEqual(await clocked("read after migrate", () => historyOf(second)), before);
  assert.deepEqual(treeOf(data), files);

  const archive = join(moved.folder, "yard.tar");
  await clocked("backup", () => done(moved, "backup", archive));
  await end(second);
  const shared = join(moved.folder, "shared");
  const restored = await onServer(t, model, { AGENTYARD_FILES_DIR: shared });
  const told = await clocked("restore", () => done(restored, "restore", archive));
  assert.ok(told.output.startsWith(`✓ Restored into the database server, its files into ${shared}, and compared\n`));
  assert.deepEqual(withoutLeft(readdirSync(shared)), ["kept", "workspace"]);
  const third = await serve(restored);
  assert.deepEqual(await clocked("read after restore", () => historyOf(third)), before);
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

test("a backup is restored onto an empty database server only, and what hinders it leaves both sides as they were [N1][P2][P4][Q3]", {
  skip,
}, async (t) => {
  await using model = await modelServer(answer);
  const onFiles = makeHome(t, { env: { ...modelEnv(model), AGENTYARD_KEY: key } });
  assert.equal((await onFiles.start("run", "plain 0").ended).code, 0);
  const archive = join(onFiles.folder, "yard.tar");
  await done(onFiles, "backup", archive);

  const used = await onServer(t, model, {});
  assert.equal((await used.start("run", "plain 1").ended).code, 0);
  const refused = await used.start("restore", archive).ended;
  assert.ok(refused.code === 2 && refused.errors.startsWith(`✗ ${saidOf("database_not_empty", {})}`), refused.errors);
  assert.match(refused.errors, /another schema of it: add \?schema=NAME/);
  const chinese = await used.start("restore", archive, "--lang", "zh").ended;
  assert.ok(chinese.errors.startsWith(`✗ ${saidOf("database_not_empty", {}, "zh")}`), chinese.errors);

  const shared = join(used.folder, "shared");
  mkdirSync(join(shared, "workspace", "old"), { recursive: true });
  writeFileSync(join(shared, "workspace", "old", "a.txt"), "old");
  const empty = await onServer(t, model, { AGENTYARD_FILES_DIR: shared });
  const mixed = await empty.start("restore", archive).ended;
  assert.ok(
    mixed.code === 2 && mixed.errors.startsWith(`✗ ${saidOf("restore_not_empty", { path: shared })}`),
    mixed.errors,
  );
  const cut = join(used.folder, "cut.tar");
  writeFileSync(cut, "no backup");
  assert.match((await empty.start("restore", cut, "--replace").ended).errors, /^✗ This backup cannot be used/);
  assert.deepEqual(withoutLeft(readdirSync(shared)), ["workspace"]);

  const replaced = JSON.parse((await done(empty, "restore", archive, "--replace", "--json")).output);
  const { conversations, keptAt, filesKeptAt, filesDir } = replaced;
  assert.deepEqual([conversations, keptAt, filesDir], [1, null, shared]);
  assert.ok(existsSync(join(filesKeptAt, "workspace", "old", "a.txt")));

  // Killed when the files were in their place and the database not filled yet: no empty yard begins in its stead.
  const killed = await onServer(t, model, { AGENTYARD_FILES_DIR: join(used.folder, "killed") });
  const draft = join(used.folder, "killed", "restoring-abc");
  mkdirSync(draft, { recursive: true });
  const unfinished = { path: join(used.folder, "killed"), keptAt: "" };
  const { code, errors } = await killed.start("run", "plain 2").ended;
  assert.notEqual(code, 0);
  assert.ok(errors.includes(saidOf("restore_unfinished", unfinished)), errors);
  await done(killed, "restore", archive);
  assert.equal(existsSync(draft), false);
  // Left by one that was killed after the end.
  mkdirSync(draft);
  assert.equal((await killed.start("run", "plain 2").ended).code, 0);
});

test("files that a server would not find are no part of a move: it says where they have to go first [N1][P4]", {
  skip,
}, async (t) => {
  await using model = await modelServer(answer);
  const onFiles = makeHome(t, { env: modelEnv(model) });
  assert.equal((await onFiles.start("run", "written 0").ended).code, 0);
  const [from, to] = [join(onFiles.folder, "data"), join(onFiles.folder, "shared")];
  const moving = await onServer(t, model, { AGENTYARD_DATA: from, AGENTYARD_FILES_DIR: to });
  const refused = await moving.start("migrate").ended;
  assert.ok(refused.errors.includes(saidOf("files_elsewhere", { from, to })), refused.errors);
  assert.ok(existsSync(join(from, "sessions.db")));
  mkdirSync(to);
  for (const name of ["workspace", "workspaces", "kept", "trash"])
    if (existsSync(join(from, name))) {
      cpSync(join(from, name), join(to, name), { recursive: true });
      rmSync(join(from, name), { recursive: true });
    }
  await done(moving, "migrate");
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

/** Says how long each part took. */
function watch(t: TestContext) {
  return async <T>(what: string, work: () => Promise<T>): Promise<T> => {
    const startedAt = systemClock.monotonic();
    const value = await work();
    t.diagnostic(`${count} conversations, ${what}: ${((systemClock.monotonic() - startedAt) / 1000).toFixed(1)} s`);
    return value;
  };
}
