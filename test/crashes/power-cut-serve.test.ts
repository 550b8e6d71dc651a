import assert from "node:assert/strict";
import type { ChildProcessWithoutNullStreams } from "node:child_process";
import { hash } from "node:crypto";
import { once } from "node:events";
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { systemClock } from "../../src/base/clock.ts";
import { createClient } from "../../src/client/client.ts";
import { ConversationId, localOwner } from "../../src/protocol/ids.ts";
import type { Storage, StoredEvent } from "../../src/storage/storage.ts";
import { calls, modelServer, says } from "../world/model-server.ts";
import { type Cut, cutPower, tellCuts } from "../world/power-cut.ts";
import { cannotRecord, type Recording, record } from "../world/power-cut-record.ts";
import { checkOwnership, inStorage } from "../world/power-cut-storage.ts";
import { agentyard } from "../world/pty.ts";
import { modelEnv } from "../world/served.ts";
import { must } from "../world/yard.ts";

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
