import assert from "node:assert/strict";
import type { ChildProcessWithoutNullStreams } from "node:child_process";
import { hash } from "node:crypto";
import { once } from "node:events";
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { type TestContext, test } from "node:test";
import { systemClock } from "../../src/base/clock.ts";
import { createClient } from "../../src/client/client.ts";
import { ConversationId, localOwner } from "../../src/protocol/ids.ts";
import type { Storage, StoredEvent } from "../../src/storage/storage.ts";
import { asToday, fixtureVersion, readContents } from "../contracts/fixture.ts";
import { morning } from "../contracts/storage-place.ts";
import { folderOf, restore } from "../world/backups.ts";
import { calls, modelServer, says } from "../world/model-server.ts";
import { type Cut, cutPower, linesOf, tellCuts, withoutSyncs } from "../world/power-cut.ts";
import {
  cannotRecord,
  checkLog,
  checkOwnership,
  inStorage,
  type Recording,
  record,
  recordLog,
} from "../world/power-cut-record.ts";
import { agentyard } from "../world/pty.ts";
import { modelEnv } from "../world/served.ts";
import { must, startYard } from "../world/yard.ts";

const talk = { conversations: 4, batches: [5, 4], eventBytes: 20 };

test("whenever the power fails, from the first start on, every acknowledged event of several conversations is there once and in order, and writing goes on [L2][Q2]", {
  skip: cannotRecord,
}, async (t) => {
  const recording = await recordLog(t, talk);
  tellCuts("appends", await cutPower(recording, { randomCuts: 80, check: checkLog(recording) }));
  await checkThatItCanFail(recording);
});

test("a power cut while the write-ahead log is folded into the database and begun anew loses nothing acknowledged [L2][Q2]", {
  skip: cannotRecord,
}, async (t) => {
  const recording = await recordLog(t, { conversations: 4, batches: [24], eventBytes: 22_000 });
  const folds = (path: string) => path.endsWith("/sessions.db");
  const opened = linesOf(recording).find(({ line }) => line === "opened")?.moment ?? 0;
  const pages = recording.steps.filter((step) => step.does === "write" && folds(step.path));
  const folded = pages.filter(({ began }) => began > opened);
  assert.ok(folded.length > 500, `${folded.length} pages were folded in while others were appended`);
  const options = { check: checkLog(recording), from: Math.min(...folded.map(({ began }) => began)) - 1 };
  const isWritten = (path: string) => /sessions\.db(-wal)?$/.test(path);
  tellCuts("a folded log", await cutPower(recording, { ...options, randomCuts: 25, where: isWritten }));
  // The log may be written over only when its pages are safe in the database.
  const careless = cutPower(withoutSyncs(recording, folds), { ...options, randomCuts: 0 });
  await assert.rejects(careless, /power cut at moment/, "a disk that ignores the syncs of the database is seen");
});

/** The same calls on a disk that ignores some syncs: what was acknowledged is lost, and that is seen. */
async function checkThatItCanFail(recording: Recording): Promise<void> {
  const check = checkLog(recording);
  const ignored: Record<string, (path: string) => boolean> = {
    "of the write-ahead log": (path) => path.endsWith("-wal"),
    "of the folder of the database": (path) => path === "data",
    "of the folder above": (path) => path === "",
  };
  for (const [what, isIgnored] of Object.entries(ignored)) {
    const loses = cutPower(withoutSyncs(recording, isIgnored), { randomCuts: 0, check });
    await assert.rejects(loses, /acknowledged and (is )?gone/, `without the syncs ${what} it is seen`);
  }
}

const data = join(import.meta.dirname, "..", "data");
/** Opens the database, and is cut off. */
const start = { conversations: 0, batches: [0], eventBytes: 0 };

test("whenever the power fails during the migration of a database that was killed, all of it is there afterwards, and the copy of it when it was changed [L2][Q2][Q3]", {
  skip: cannotRecord,
}, async (t) => {
  const prepare = (path: string) => {
    copyFileSync(join(data, "sessions-v1.db"), `${path}.old`);
    const old = new DatabaseSync(`${path}.old`);
    old.exec("PRAGMA journal_mode = WAL; PRAGMA user_version = 0; PRAGMA user_version = 1");
    for (const end of ["", "-wal"]) copyFileSync(`${path}.old${end}`, `${path}${end}`);
    old.close();
  };
  const recording = await recordLog(t, { ...start, prepare });
  const figures = await cutPower(recording, { randomCuts: 15, check: checkMigrated(recording) });
  tellCuts("a migration", figures);
});

function checkMigrated(recording: Recording): (cut: Cut) => Promise<void> {
  const opened = linesOf(recording).find(({ line }) => line === "opened");
  assert.ok(opened !== undefined, "the program told that the database was open");
  return async (cut) => {
    const path = join(cut.folder, "data", "sessions.db");
    const version = versionOf(path);
    assert.ok(version === fixtureVersion || cut.last < opened.moment, `opened, and yet of version ${version}`);
    if (version > 1) {
      assert.ok(existsSync(`${path}.v1.bak`), "the database was changed, and its copy is gone");
      assert.equal(versionOf(`${path}.v1.bak`), 1);
    }
    await checkContents(cut, 1);
  };
}

async function checkContents({ folder }: Cut, version: number): Promise<void> {
  const kept = JSON.parse(readFileSync(join(data, `sessions-v${version}.json`), "utf8"));
  const check = async (storage: Storage) => assert.deepEqual(await readContents(storage), asToday(kept));
  // Its lease has run out by now.
  await inStorage(join(folder, "data", "sessions.db"), check, { ...systemClock, now: () => morning });
}

/** With a whole file around it. */
function versionOf(path: string): number {
  const database = new DatabaseSync(path);
  try {
    assert.equal(database.prepare("PRAGMA integrity_check").get()?.integrity_check, "ok");
    return Number(database.prepare("PRAGMA user_version").get()?.user_version);
  } finally {
    database.close();
  }
}

const conversation = "cut";
/** Sent one after the other under one name. */
const uploads = ["first,\n".repeat(2000), "second,\n".repeat(1000)];
const outputs = ["first output\n", "second output\n"];

test("whenever the power fails under a server, every event that a client has seen, every message and upload that was answered, and every file that a tool wrote is there afterwards [L2][F2][F3][Q2]", {
  skip: cannotRecord,
}, async (t) => {
  const recording = await recordTurns(t);
  const figures = await cutPower(recording, { randomCuts: 40, check: checkServer(recording) });
  tellCuts("a server", figures);
});

async function recordTurns(t: TestContext): Promise<Recording> {
  const folder = mkdtempSync(join(tmpdir(), "power-cut-serve-"));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  const write = (content = "") => calls(["write_file", { path: "outputs/a.txt", content }]);
  await using model = await modelServer([write(outputs[0]), says("one"), write(outputs[1]), says("two")]);
  const recording = await record({
    folder,
    command: [process.execPath, agentyard, "serve", "--port", "0"],
    env: { AGENTYARD_DATA: join(folder, "data"), ...modelEnv(model) },
    async play(program) {
      await playPerson(await addressOf(program));
      program.kill("SIGTERM");
    },
  });
  assert.equal(recording.ended.code, 0, recording.ended.errors);
  return recording;
}

async function addressOf({ stdout }: ChildProcessWithoutNullStreams): Promise<string> {
  for (let output = ""; ; ) {
    const [chunk] = await once(stdout, "data");
    output += chunk;
    const [, address] = /listens on (http:\/\/127\.0\.0\.1:\d+) [\s\S]*Ctrl\+C/.exec(output) ?? [];
    if (address !== undefined) return address;
  }
}

async function playPerson(address: string): Promise<void> {
  const client = createClient({
    clock: systemClock,
    fetch: (url, init) => fetch(`${url}`.replace("http://localhost", address), init),
  });
  await must(client.call("createConversation", { body: { id: conversation } }));
  const stop = new AbortController();
  const turns = uploads.map(() => Promise.withResolvers<void>());
  const watching = (async () => {
    let ended = 0;
    for await (const frame of client.follow(conversation, { after: 0, signal: stop.signal }))
      if (frame.frame === "event" && frame.event.type === "turn.finished") turns[ended++]?.resolve();
    assert.equal(ended, uploads.length, "the stream ends when it was left");
  })();
  for (const [index, body] of uploads.entries()) {
    const place = `${address}/api/v1/conversations/${conversation}/files/uploads/a.csv`;
    const sent = await fetch(place, { method: "PUT", body, headers: { "content-type": "text/csv" } });
    assert.equal(sent.status, 201, await sent.text());
    const message = { id: `m${index}`, text: `message ${index}`, mode: "queue" as const };
    await must(client.call("sendMessage", { params: { id: conversation }, body: message }));
    // A stream that broke off says so.
    await Promise.race([turns[index]?.promise, watching]);
  }
  stop.abort();
  await watching;
}

type Seen = { readonly moment: number; readonly event: { readonly seq: number; readonly type: string } };

/** What others could know of, with the moment from which on they could. */
function knownOf({ steps }: Recording) {
  const said = steps.flatMap((step) => (step.does === "say" ? [{ moment: step.began, text: `${step.data}` }] : []));
  const momentsOf = (pattern: RegExp) => said.flatMap(({ moment, text }) => (pattern.test(text) ? [moment] : []));
  const seen: Seen[] = said.flatMap(({ moment, text }) =>
    [...text.matchAll(/^data: (\{"frame":"event".*)$/gm)].map(([, json = ""]) => ({ moment, ...JSON.parse(json) })),
  );
  const uploaded = momentsOf(/^HTTP\/1\.1 201 [\s\S]*"path":"uploads\/a\.csv"/);
  const messages = momentsOf(/^HTTP\/1\.1 202 [\s\S]*"message":"m\d"/);
  const requests = momentsOf(/^POST \/v1\/chat\/completions/);
  assert.deepEqual([uploaded.length, messages.length, requests.length], [2, 2, 4], "the recorder heard every answer");
  assert.equal(new Set(seen.map(({ event }) => event.seq)).size, seen.at(-1)?.event.seq, "and every event");
  return { seen, uploaded, messages, requests };
}

function checkServer(recording: Recording): (cut: Cut) => Promise<void> {
  const known = knownOf(recording);
  return async ({ folder, last }) => {
    const data = join(folder, "data");
    const upTo = (moments: readonly number[]) => moments.filter((moment) => moment <= last).length;
    checkOwnership(data);
    await inStorage(join(data, "sessions.db"), async (storage) => {
      const stored = await storedEvents(storage);
      checkSeen(
        stored,
        known.seen.filter(({ moment }) => moment <= last),
      );
      const texts = stored.filter(({ type }) => type === "message.user").length;
      assert.ok(texts >= upTo(known.messages), `${upTo(known.messages)} messages were answered, ${texts} are there`);
      const steps = stored.filter(({ type }) => type === "step.started").length;
      assert.ok(steps >= upTo(known.requests), `${upTo(known.requests)} requests left, ${steps} were recorded`);
      checkFile(join(data, "workspace", conversation, "uploads/a.csv"), uploads, upTo(known.uploaded));
      const written = stored.filter(({ type }) => type === "call.finished").length;
      checkFile(join(data, "workspace", conversation, "outputs/a.txt"), outputs, written);
      checkKept(data, stored);
    });
  };
}

async function storedEvents(storage: Storage): Promise<StoredEvent[]> {
  const found = await storage.findConversation(localOwner, ConversationId.parse(conversation));
  return found === undefined ? [] : storage.read(found.number, { after: 0, limit: 10_000 });
}

function checkSeen(stored: readonly StoredEvent[], seen: readonly Seen[]): void {
  for (const { event } of seen) {
    const { seq, type, at, body = "{}" }: Partial<StoredEvent> = stored[event.seq - 1] ?? {};
    assert.deepEqual({ seq, type }, { seq: event.seq, type: event.type }, "seen by a client and gone");
    assert.deepEqual({ ...JSON.parse(body), seq, type, at }, event);
  }
}

/** The content after at least so many writes, whole; one that was under way may be there too. */
function checkFile(path: string, contents: readonly string[], doneCount: number): void {
  const found = existsSync(path) ? contents.indexOf(readFileSync(path, "utf8")) + 1 : 0;
  assert.ok(!existsSync(path) || found > 0, `${path} is neither the old nor the new file`);
  assert.ok(found >= doneCount, `${path}: ${doneCount} writes were answered, and what is there is of write ${found}`);
}

/** What was replaced can be given back; and a change that the log does not know of yet was noted before it was made. */
function checkKept(data: string, stored: readonly StoredEvent[]): void {
  const folder = join(data, "kept", "workspace", conversation);
  const known = new Set<string>();
  for (const { type, body } of stored) {
    const { before, after, by, path } = JSON.parse(body);
    if (type !== "file.changed") continue;
    known.add(`${path} ${after?.hash}`);
    if (before?.hash === undefined || by === "upload") continue;
    assert.equal(hashOf(join(folder, "contents", before.hash)), before.hash, `what a ${by} replaced is gone`);
  }
  const written = hashOf(join(data, "workspace", conversation, "outputs/a.txt"));
  if (written === undefined || known.has(`outputs/a.txt ${written}`)) return;
  const notes = readdirSync(join(folder, "notes")).map((name) => readFileSync(join(folder, "notes", name), "utf8"));
  assert.ok(notes.join("\n").includes(written), "a file was changed, and nothing says by whom");
}

function hashOf(path: string): string | undefined {
  return existsSync(path) ? hash("sha256", readFileSync(path)) : undefined;
}

test("a backup that was said to be done is whole after a power cut, and so is what a restore was said to have put back [Q3][Q2]", {
  skip: cannotRecord,
}, async (t) => {
  const folder = folderOf(t);
  const kept = await fillYard(join(folder, "data"));
  const isBackup = (path: string) => path.startsWith("b.tar");
  const backup = await recordCommand(folder, ["backup", join(folder, "b.tar")], join(folder, "data"));
  tellCuts("a backup", await cutPower(backup, { randomCuts: 8, where: isBackup, check: checkBackup(backup, kept) }));

  const back = await recordCommand(folder, ["restore", join(folder, "b.tar")], join(folder, "new", "data"));
  tellCuts("a restore", await cutPower(back, { randomCuts: 8, check: checkRestored(back, kept) }));
});

/** What is in a yard that counts: how many events its conversation has, and the contents of its files. */
type Contents = { readonly events: number; readonly files: Readonly<Record<string, string>> };

async function fillYard(data: string): Promise<Contents> {
  mkdirSync(data);
  const content = "deep in a folder ".repeat(200);
  await using model = await modelServer([calls(["write_file", { path: "outputs/a/b/c.txt", content }]), says("done")]);
  await using yard = await startYard({ data, model, approves: true });
  await yard.client.call("createConversation", { body: { id: conversation } });
  await yard.ask("write", { conversation });
  return { events: (await yard.events(conversation)).length, files: filesOf(data) };
}

async function recordCommand(folder: string, words: readonly string[], data: string): Promise<Recording> {
  const env = { AGENTYARD_DATA: data };
  const recording = await record({ folder, command: [process.execPath, agentyard, ...words], env });
  assert.equal(recording.ended.code, 0, recording.ended.errors);
  return recording;
}

/** The moment at which it was said to be done. */
function doneOf(recording: Recording): number {
  const done = linesOf(recording).find(({ line }) => line !== "");
  assert.ok(done !== undefined, "it said something");
  return done.moment;
}

/** Under its name it is whole, also when nobody was told yet. */
function checkBackup(recording: Recording, kept: Contents): (cut: Cut) => Promise<void> {
  const done = doneOf(recording);
  return async ({ folder, last }) => {
    const path = join(folder, "b.tar");
    if (!existsSync(path)) return assert.ok(last < done, "the backup was said to be done and is gone");
    const restored = await restore(path, join(folder, "restored"));
    assert.ok(restored.ok, `the backup does not restore: ${JSON.stringify(restored)}`);
    await checkData(join(folder, "restored"), kept);
  };
}

/** With the database in place all else is there. */
function checkRestored(recording: Recording, kept: Contents): (cut: Cut) => Promise<void> {
  const done = doneOf(recording);
  return async ({ folder, last }) => {
    const data = join(folder, "new", "data");
    if (!existsSync(join(data, "sessions.db"))) return assert.ok(last < done, "restored, said to be done, and gone");
    await checkData(data, kept);
  };
}

async function checkData(data: string, { events, files }: Contents): Promise<void> {
  assert.deepEqual(filesOf(data), files);
  await inStorage(join(data, "sessions.db"), async (storage) => {
    const found = await storage.findConversation(localOwner, ConversationId.parse(conversation));
    assert.equal(found && (await storage.headOf(found.number)), events);
  });
}

function filesOf(data: string): Record<string, string> {
  const found: Record<string, string> = {};
  for (const entry of readdirSync(join(data, "workspace"), { recursive: true, withFileTypes: true })) {
    if (!entry.isFile()) continue;
    const path = join(entry.parentPath, entry.name);
    found[path.slice(data.length)] = readFileSync(path, "utf8");
  }
  return found;
}

const child = join(import.meta.dirname, "power-cut-child.ts");

test("whenever the power fails, a file that was written stands in its new folders, what it replaced can be given back, what was removed stays away, an upload has every part that was answered, and who begins has folders [W1][W11][W12][S3][Q2]", {
  skip: cannotRecord,
}, async (t) => {
  const folder = mkdtempSync(join(tmpdir(), "power-cut-files-"));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  for (const name of ["skills", "uploads", "outputs", "temp"])
    mkdirSync(join(folder, "data/workspace/w1", name), { recursive: true });
  writeFileSync(join(folder, "data/workspace/w1/outputs/b.txt"), "of a program");
  writeFileSync(join(folder, "data/workspace/w1/outputs/c.txt"), "to be removed");
  const recording = await record({ folder, command: [process.execPath, child, "files", join(folder, "data")] });
  assert.equal(recording.ended.code, 0, recording.ended.errors);
  tellCuts("files", await cutPower(recording, { randomCuts: 60, check: checkFiles(recording) }));
});

function checkFiles(recording: Recording): (cut: Cut) => Promise<void> {
  const lines = linesOf(recording).filter(({ line }) => line !== "");
  assert.deepEqual(
    lines.map(({ line }) => line),
    [
      ...["written", "replaced", "replaced again", "removed", "created", "received 123", "received 456", "finished"],
      ...["at home", "task begun"],
    ],
  );
  return async ({ folder, last }) => {
    const said = new Set(lines.filter(({ moment }) => moment <= last).map(({ line }) => line));
    const textOf = (path: string) =>
      existsSync(join(folder, "data", path)) ? readFileSync(join(folder, "data", path), "utf8") : undefined;
    const outputs = "workspace/w1/outputs";
    if (said.has("written")) assert.equal(textOf(`${outputs}/of/today/a.txt`), "deep in new folders");
    checkReplaced(join(folder, "data"), said, textOf);
    if (said.has("removed")) assert.equal(textOf(`${outputs}/c.txt`), undefined);
    checkUpload(textOf, said);
    checkHomes(join(folder, "data"), said, textOf);
  };
}

/** Each content that a call has replaced is kept, and so is a note of that call: both are there before the new one is. */
function checkReplaced(data: string, said: ReadonlySet<string>, textOf: TextOf): void {
  const contents = ["of a program", "of a tool", "once more"];
  const first = said.has("replaced again") ? 2 : said.has("replaced") ? 1 : 0;
  const done = contents.indexOf(`${textOf("workspace/w1/outputs/b.txt")}`);
  assert.ok(done >= first, `${contents[first]} was answered, and ${contents[done]} is there`);
  for (const before of contents.slice(0, done))
    assert.equal(textOf(`kept/contents/${hash("sha256", before)}`), before, "what was replaced is nowhere any more");
  const notes = join(data, "kept/notes");
  const names = existsSync(notes) ? readdirSync(notes).filter((name) => !name.startsWith(".")) : [];
  const noted = names.map((name) => JSON.parse(readFileSync(join(notes, name), "utf8")).after.hash);
  for (const after of contents.slice(1, done + 1)) assert.ok(noted.includes(hash("sha256", after)), "no note of it");
}

/** A conversation's folders are there as a whole, with what says whose they are; a task's with its first file. */
function checkHomes(data: string, said: ReadonlySet<string>, textOf: TextOf): void {
  const home = join(data, "workspace/c7");
  if (said.has("at home") || existsSync(home)) {
    assert.deepEqual(readdirSync(home).sort(), [".metadata.json", "outputs", "skills", "temp", "uploads"]);
    assert.equal(JSON.parse(`${textOf("workspace/c7/.metadata.json")}`).session_id, "c7");
  }
  if (said.has("task begun")) assert.equal(textOf("workspaces/task/a.txt"), "of a task");
}

type TextOf = (path: string) => string | undefined;

/** What has come lies beside a note of what it will be, which says of one that is whole where it is. */
function checkUpload(textOf: TextOf, said: ReadonlySet<string>): void {
  const [note, part] = ["json", "part"].map((end) => textOf(`incoming/tus-${"0".repeat(32)}.${end}`));
  if (!said.has("created") && (note === undefined || part === undefined)) return;
  assert.ok(note !== undefined, "an upload that was answered is unknown");
  const { done } = JSON.parse(note);
  if (said.has("finished")) assert.deepEqual(done, { path: "uploads/d.txt", type: "text" });
  if (done !== undefined) return;
  const answered = said.has("received 456") ? "123456" : said.has("received 123") ? "123" : "";
  assert.ok(part?.startsWith(answered), `${JSON.stringify(answered)} was answered, ${JSON.stringify(part)} is there`);
}
