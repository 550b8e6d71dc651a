import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import {
  appendFileSync,
  chmodSync,
  closeSync,
  existsSync,
  globSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
  writeSync,
} from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { makeBackup } from "../../src/backup.ts";
import { wordsFor } from "../../src/words/words.ts";
import { folderOf, restore, treeOf } from "../world/backups.ts";
import { until } from "../world/events.ts";
import { calls, modelServer, says } from "../world/model-server.ts";
import { type Home, makeHome } from "../world/program.ts";
import { startYard, type TestYard } from "../world/yard.ts";

test("a backup of a still yard restores to the same histories and files, byte for byte [Q3]", async (t) => {
  const folder = folderOf(t);
  await using model = await modelServer([
    calls(["write_file", { path: "outputs/a.txt", content: "first 一" }]),
    calls(["write_file", { path: "outputs/a.txt", content: "second" }]),
    says("done"),
  ]);
  await using yard = await startYard({ model, approves: true });
  const { conversation } = await yard.ask("write");
  const events = await yard.events(conversation);
  plantOddFiles(join(yard.data, "workspace", conversation, "outputs"));
  await yard.client.call("createConversation", { body: { id: "empty", title: "没有" } });

  for (const name of ["b.tar", "b.tar.gz"]) {
    const made = await makeBackup({ fetch: yard.fetch, path: join(folder, name), includesKey: false });
    assert.ok(made.ok, name);
    const { bytes, ...rest } = made.value;
    assert.equal(bytes, statSync(join(folder, name)).size);
    assert.deepEqual(rest, {
      ...{ conversations: 2, files: rest.files, changing: [], hasKey: false },
      ...{ leftOut: [`workspace/${conversation}/outputs/pipe`], leftOutCount: 1 },
    });
    assert.equal(statSync(join(folder, name)).mode & 0o777, 0o600);

    const data = join(folder, `restored-${name}`);
    const restored = await restore(join(folder, name), data);
    assert.ok(restored.ok);
    assert.deepEqual(restored.value, {
      ...{ conversations: 2, files: rest.files, at: restored.value.at, agentyard: "0.0.0-test", keptAt: undefined },
    });
    const { [`workspace/${conversation}/outputs/pipe`]: _, ...expected } = treeOf(yard.data);
    assert.deepEqual(treeOf(data), expected, name);
    await using copy = await startYard({ data, model });
    assert.deepEqual(await copy.events(conversation), events);
  }
  assert.deepEqual(readdirSync(folder).sort(), ["b.tar", "b.tar.gz", "restored-b.tar", "restored-b.tar.gz"]);
  assert.deepEqual(readdirSync(join(yard.data, "staging")), []);
});

test("a restored yard goes on where it was: undo gives an earlier content back, the next message is answered [Q3][L9]", async (t) => {
  const folder = folderOf(t);
  await using model = await modelServer([
    calls(["write_file", { path: "outputs/a.txt", content: "first" }]),
    says("one"),
    calls(["write_file", { path: "outputs/a.txt", content: "second" }]),
    says("two"),
  ]);
  let conversation = "";
  {
    await using yard = await startYard({ model, approves: true });
    ({ conversation } = await yard.ask("write"));
    await yard.ask("again", { conversation });
    assert.ok((await makeBackup({ fetch: yard.fetch, path: join(folder, "b.tar"), includesKey: false })).ok);
  }
  const data = join(folder, "data");
  assert.ok((await restore(join(folder, "b.tar"), data)).ok);
  model.answerWith([says("three")]);
  await using yard = await startYard({ model, data });
  assert.ok((await yard.client.call("undoTurn", { params: { id: conversation } })).ok);
  assert.equal(readFileSync(join(data, "workspace", conversation, "outputs", "a.txt"), "utf8"), "first");
  assert.equal((await yard.ask("go on", { conversation })).answer, "three");
});

test("a backup of a busy yard holds all that was acknowledged before it began, and nothing in halves [Q3]", async (t) => {
  const folder = folderOf(t);
  let round = 0;
  await using model = await modelServer(({ body }) => {
    const last = body.messages.at(-1);
    if (last?.role !== "user") return says("done");
    round += 1;
    return calls(["write_file", { path: `outputs/${round}.txt`, content: `${round} `.repeat(2_000) }]);
  });
  await using yard = await startYard({ model, approves: true });
  const busy = keepBusy(yard);
  await busy.settled(3);
  const before = await busy.acknowledged();
  const path = join(folder, "b.tar");
  // Turns go on meanwhile: no piece of it is read before another one has ended.
  const fetch: typeof yard.fetch = async (...asked) => {
    const answer = await yard.fetch(...asked);
    await busy.settled(busy.turns() + 1);
    return answer;
  };
  const made = await makeBackup({ fetch, path, includesKey: false });
  await busy.stop();
  assert.ok(made.ok);

  const data = join(folder, "data");
  assert.ok((await restore(path, data)).ok);
  const tree = treeOf(data);
  for (const [file, content] of Object.entries(before.files)) assert.equal(tree[file], content, file);
  for (const [name, text] of filesBelow(data)) {
    // Each content is one number again and again: half of one, or two mixed, would show.
    assert.equal(new Set(text.trim().split(" ")).size, 1, name);
  }
  await using copy = await startYard({ data, model, approves: true });
  for (const [conversation, events] of before.histories) {
    assert.deepEqual((await copy.events(conversation)).slice(0, events.length), events);
    assert.equal((await copy.whenAtRest(conversation)).status, "idle");
  }
});

test("files that were changed each time they were read are in a backup as they came, and are named [Q3]", async (t) => {
  const folder = folderOf(t);
  await using yard = await startYard();
  await yard.client.call("createConversation", { body: { id: "c" } });
  const outputs = join(yard.data, "workspace", "c", "outputs");
  const sizes = { "large.log": 6_000_000, "small.log": 1000, "still.txt": 1000 };
  for (const [name, size] of Object.entries(sizes)) writeFileSync(join(outputs, name), "x".repeat(size));
  let isOver = false;
  t.after(() => {
    isOver = true;
  });
  // Once in each round of the event loop: no read is over in the round in which it began.
  const write = () => {
    for (const name of ["large.log", "small.log"]) appendFileSync(join(outputs, name), "y");
    if (!isOver) setImmediate(write);
  };
  write();
  const made = await makeBackup({ fetch: yard.fetch, path: join(folder, "b.tar"), includesKey: false });
  isOver = true;
  assert.ok(made.ok);
  const { changing, leftOut } = made.value;
  const named = ["workspace/c/outputs/large.log", "workspace/c/outputs/small.log"];
  assert.deepEqual([changing, leftOut], [named, []]);
  assert.ok((await restore(join(folder, "b.tar"), join(folder, "data"))).ok);
  for (const [name, size] of Object.entries(sizes)) {
    const kept = readFileSync(join(folder, "data", "workspace", "c", "outputs", name), "utf8");
    assert.ok(kept === "x".repeat(size) + "y".repeat(kept.length - size), name);
  }
});

test("the key is left out unless it is asked for, and a file that is there is never replaced [Q3]", async (t) => {
  const folder = folderOf(t);
  await using yard = await startYard();
  writeFileSync(join(yard.data, "key"), "secret", { mode: 0o600 });
  const back = async (name: string, includesKey: boolean) => {
    const made = await makeBackup({ fetch: yard.fetch, path: join(folder, name), includesKey });
    assert.ok((await restore(join(folder, name), join(folder, `${name}.d`))).ok);
    const isBack = existsSync(join(folder, `${name}.d`, "key"));
    assert.equal(made.ok && made.value.hasKey, isBack);
    return isBack;
  };
  assert.equal(await back("without", false), false);
  assert.equal(await back("with", true), true);
  assert.equal(statSync(join(folder, "with.d", "key")).mode & 0o777, 0o600);
  const again = await makeBackup({ fetch: yard.fetch, path: join(folder, "with"), includesKey: false });
  assert.deepEqual(again.ok ? "" : again.failure.code, "backup_exists");
});

test("a backup that cannot be written, or whose server ends, leaves nothing behind [Q3]", async (t) => {
  const folder = folderOf(t);
  await using yard = await startYard();
  const nowhere = await makeBackup({ fetch: yard.fetch, path: join(folder, "none", "b.tar"), includesKey: false });
  assert.deepEqual(nowhere.ok ? "" : [nowhere.failure.code, nowhere.failure.params], [
    "backup_failed",
    { why: "no_folder" },
  ]);
  let pieces = 0;
  const cut: typeof yard.fetch = async (url, init) => {
    const answer = await yard.fetch(url, init);
    const limited = answer.body?.pipeThrough(
      new TransformStream<Uint8Array, Uint8Array>({
        transform(piece, controller) {
          pieces += 1;
          if (pieces > 3) throw new Error("the line is cut");
          controller.enqueue(piece);
        },
      }),
    );
    return new Response(limited ?? null);
  };
  const broken = await makeBackup({ fetch: cut, path: join(folder, "b.tar"), includesKey: false });
  assert.deepEqual(broken.ok ? "" : [broken.failure.code, broken.failure.params], [
    "backup_failed",
    { why: "broken_off" },
  ]);
  assert.deepEqual(readdirSync(folder), []);
});

function plantOddFiles(folder: string): void {
  mkdirSync(join(folder, "深 deep", "er"), { recursive: true });
  const long = join(folder, "深 deep", "er", `${"长".repeat(60)}.txt`);
  writeFileSync(long, "long name");
  writeFileSync(join(folder, "run.sh"), "#!/bin/sh\n");
  chmodSync(join(folder, "run.sh"), 0o755);
  writeFileSync(join(folder, "locked.txt"), "only read", { mode: 0o400 });
  if (process.getuid?.() === 0) writeFileSync(join(folder, "shut.txt"), "for root alone", { mode: 0o000 });
  writeFileSync(join(folder, "empty"), "");
  writeFileSync(join(folder, ".hidden"), "hidden");
  writeFileSync(join(folder, "large.bin"), Buffer.alloc(9_000_000, "large "));
  symlinkSync("/etc/passwd", join(folder, "out"));
  symlinkSync("深 deep", join(folder, "in"));
  writeFileSync(Buffer.concat([Buffer.from(`${folder}/latin-`), Buffer.from([0xe4])]), "no UTF-8");
  mkdirSync(Buffer.concat([Buffer.from(`${folder}/folder-`), Buffer.from([0xe4])]));
  execFileSync("mkfifo", [join(folder, "pipe")]);
  mkdirSync(join(folder, "closed"), { mode: 0o755 });
  writeFileSync(join(folder, "closed", "in"), "in");
  chmodSync(join(folder, "closed"), 0o500);
  const then = new Date(Date.UTC(2020, 1, 2, 3, 4, 5, 678));
  for (const path of [long, join(folder, "run.sh"), join(folder, "closed")]) utimesSync(path, then, then);
}

/** One conversation after another, three at a time, until it is enough. */
function keepBusy(yard: TestYard) {
  let isOver = false;
  let turns = 0;
  const rested = new Set<string>();
  const talk = async () => {
    while (!isOver) {
      const { conversation } = await yard.ask("write");
      rested.add(conversation);
      turns += 1;
    }
  };
  const talks = [talk(), talk()];
  return {
    turns: () => turns,
    settled: (count: number) => until("turns have ended", () => turns >= count),
    async acknowledged() {
      const histories = await Promise.all([...rested].map(async (id) => [id, await yard.events(id)] as const));
      const names = histories.flatMap(([id, events]) =>
        events.flatMap((event) => (event.type === "file.changed" ? [`workspace/${id}/${event.path}`] : [])),
      );
      const tree = treeOf(yard.data, ["workspace"]);
      return { histories, files: Object.fromEntries(names.map((name) => [name, tree[name]])) };
    },
    async stop() {
      isOver = true;
      await Promise.all(talks);
    },
  };
}

function filesBelow(data: string): [string, string][] {
  const files = Object.entries(treeOf(data, ["workspace"])).filter(
    ([path, facts]) => facts.startsWith("file") && path.includes("/outputs/"),
  );
  return files.map(([path]) => [path, readFileSync(join(data, path), "utf8")]);
}

// `agentyard backup` and `agentyard restore` as an operator types them.

test("a running server is backed up through its own door and comes back elsewhere; what is there already is left alone, and scripts get one object of each [Q3][P2][P4]", async (t) => {
  const home = makeHome(t);
  const server = home.start("serve", "--port", "0");
  await server.until("output", /Ctrl\+C/);
  assert.equal((await home.start("run", "what time is it").ended).code, 0);
  const file = join(home.folder, "yard.tar.gz");
  const made = await said(home, "backup", file, "--include-key");
  const [where, what, ...notes] = made.split("\n");
  assert.match(where ?? "", /^✓ Backup in \S+yard\.tar\.gz \(.+\), read back and compared$/);
  assert.match(what ?? "", /^ {2}1 conversation, \d+ files?$/);
  // No secret is stored, so there is no key: who asked for it hears that.
  assert.deepEqual(notes, [wordsFor("en").terminal.backups.noKey(), ""]);
  const again = await home.start("backup", file).ended;
  assert.deepEqual(
    [again.code, again.errors],
    [2, `✗ There is a file ${file} already. Name another one, or delete it first.\n`],
  );
  const there = join(home.folder, "there");
  const restored = JSON.parse(await said(home, "restore", file, "--data", there, "--json"));
  assert.deepEqual([restored.conversations, restored.keptAt], [1, null]);
  const full = await home.start("restore", file, "--data", there).ended;
  assert.equal(full.code, 2);
  assert.match(full.errors, /--replace/);
});

async function said(home: Home, ...words: string[]): Promise<string> {
  const { code, output, errors } = await home.start(...words).ended;
  assert.deepEqual([code, errors], [0, ""]);
  return output;
}

// A disk that gives back other bytes than it took: here somebody else writes to it meanwhile.

test("a backup that does not read back as it was written is none, and nothing of it is left [Q3][P4]", async (t) => {
  const folder = folderOf(t);
  await using yard = await startYard();
  await yard.client.call("createConversation", { body: { id: "c" } });
  await yard.client.upload("c", "a.txt", Buffer.from("some content"));
  const path = join(folder, "b.tar");
  const parts: string[] = [];
  const spoil = ({ part, bytes }: { part: string; bytes: number }) => {
    if (parts.at(-1) !== part) parts.push(part);
    if (part === "write" && bytes > spoilt) writeOver(`${path}.part`, spoilt);
  };
  const made = await makeBackup({ fetch: yard.fetch, path, includesKey: false, onProgress: spoil });
  assert.ok(!made.ok);
  const { code, params } = made.failure;
  assert.deepEqual([code, params, parts], ["backup_failed", { why: "unequal" }, ["write", "compare"]]);
  assert.deepEqual(readdirSync(folder), []);
  assert.ok((await makeBackup({ fetch: yard.fetch, path, includesKey: false })).ok, "another disk, or a sound one");
});

test("a restore that does not read back as it was written changes nothing [Q3][P4]", async (t) => {
  const folder = folderOf(t);
  const path = join(folder, "b.tar");
  {
    await using yard = await startYard();
    await yard.client.call("createConversation", { body: { id: "c" } });
    for (const name of ["a", "b"]) writeFileSync(join(yard.data, "workspace/c/uploads", name), large);
    assert.ok((await makeBackup({ fetch: yard.fetch, path, includesKey: false })).ok);
  }
  const data = join(folder, "data");
  let isSpoilt = false;
  // While the second of the two is read, the first is there.
  const spoil = () => {
    const whole = globSync(join(data, "*/workspace/c/uploads/*")).find((file) => statSync(file).size === large.length);
    if (whole === undefined || isSpoilt) return;
    writeOver(whole, 0);
    isSpoilt = true;
  };
  const restored = await restore(path, data, { onProgress: spoil });
  assert.ok(isSpoilt);
  assert.ok(!restored.ok);
  const { code, params } = restored.failure;
  assert.deepEqual([code, params], ["restore_failed", { why: "unequal" }]);
  assert.deepEqual(readdirSync(folder), ["b.tar"]);
  assert.ok((await restore(path, data)).ok, "the backup is as good as it was");
});

/** An archive is read in pieces of a quarter of this. */
const large = Buffer.alloc(4 * 1024 ** 2, 7);
/** In the database, which comes first. */
const spoilt = 10_000;

function writeOver(path: string, at: number): void {
  const file = openSync(path, "r+");
  try {
    writeSync(file, "other", at);
  } finally {
    closeSync(file);
  }
}
