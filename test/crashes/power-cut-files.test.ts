import assert from "node:assert/strict";
import { hash } from "node:crypto";
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { type Cut, cutPower, linesOf, tellCuts } from "../world/power-cut.ts";
import { cannotRecord, type Recording, record } from "../world/power-cut-record.ts";

const child = join(import.meta.dirname, "power-cut-files-child.ts");

test("whenever the power fails, a file that was written stands in its new folders, what it replaced can be given back, what was removed stays away, an upload has every part that was answered, and who begins has folders [W1][W11][W12][S3][Q2]", {
  skip: cannotRecord,
}, async (t) => {
  const folder = mkdtempSync(join(tmpdir(), "power-cut-files-"));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  for (const name of ["skills", "uploads", "outputs", "temp"])
    mkdirSync(join(folder, "data/workspace/w1", name), { recursive: true });
  writeFileSync(join(folder, "data/workspace/w1/outputs/b.txt"), "of a program");
  writeFileSync(join(folder, "data/workspace/w1/outputs/c.txt"), "to be removed");
  const recording = await record({ folder, command: [process.execPath, child, join(folder, "data")] });
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
