import assert from "node:assert/strict";
import { existsSync, mkdirSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { ConversationId, localOwner } from "../../src/protocol/ids.ts";
import { folderOf, restore } from "../world/backups.ts";
import { calls, modelServer, says } from "../world/model-server.ts";
import { type Cut, cutPower, linesOf, tellCuts } from "../world/power-cut.ts";
import { cannotRecord, type Recording, record } from "../world/power-cut-record.ts";
import { inStorage } from "../world/power-cut-storage.ts";
import { agentyard } from "../world/pty.ts";
import { startYard } from "../world/yard.ts";

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
const conversation = "cut";

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
