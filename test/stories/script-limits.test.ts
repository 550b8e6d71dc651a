import assert from "node:assert/strict";
import { test } from "node:test";
import { lastOf } from "../world/company.ts";
import { say, waitingIn } from "../world/decisions.ts";
import { calls, modelServer, says } from "../world/model-server.ts";
import { newConversation, place } from "../world/undo.ts";
import { startYard, type TestYard } from "../world/yard.ts";

const kibibytes256 = 256 * 1024;

/** Runs what it is told to, and is done. */
const obedient = () =>
  modelServer((request) => {
    const { role, text } = lastOf(request);
    return role === "user" ? calls(["run_bash_command", { command: text.split("\n")[0] }]) : says("done");
  });

/** Whether somebody is asked about a command, and about what, among these files of `outputs/`. */
async function askedAbout(yard: TestYard, command: string, files: Readonly<Record<string, string>> = {}) {
  const conversation = await newConversation(yard);
  for (const [name, text] of Object.entries(files)) place(yard, conversation, name, text);
  const { status } = await yard.ask(command.replaceAll("{id}", conversation), { conversation });
  const open = await waitingIn(yard, conversation);
  return [status, ...open.flatMap(({ findings = [] }) => findings.map(({ kind }) => kind))];
}

test("of the scripts that a call runs 32 are read, each up to 256 KiB, and 400 are looked for; about one more somebody is asked [H1]", async () => {
  await using model = await obedient();
  await using yard = await startYard({ model });
  const runs = (count: number) => Array.from({ length: count }, (_, n) => `bash outputs/s${n}.sh`).join("; ");
  const scripts = (count: number) =>
    Object.fromEntries(Array.from({ length: count }, (_, n) => [`s${n}.sh`, "true\n"] as const));
  const ofLength = (length: number) => ({ "s0.sh": `true\n#${"x".repeat(length - 6)}` });
  assert.deepEqual(await askedAbout(yard, runs(32), scripts(32)), ["idle"]);
  assert.deepEqual(await askedAbout(yard, runs(33), scripts(33)), ["waiting", "run_unseen"]);
  assert.deepEqual(await askedAbout(yard, runs(1), ofLength(kibibytes256)), ["idle"]);
  assert.deepEqual(await askedAbout(yard, runs(1), ofLength(kibibytes256 + 1)), ["waiting", "run_unseen"]);
  assert.deepEqual(await askedAbout(yard, runs(400)), ["idle"]);
  assert.deepEqual(await askedAbout(yard, runs(401)), ["waiting", "run_unseen"]);
});

test("a script is looked at by each path that programs find it under [H1]", async () => {
  await using model = await obedient();
  await using yard = await startYard({ model });
  const files = { "s.sh": "rm -rf outputs\n" };
  assert.deepEqual(await askedAbout(yard, "bash outputs/s.sh", files), ["waiting", "delete"]);
  assert.deepEqual(await askedAbout(yard, "bash /workspace/{id}/outputs/s.sh", files), ["waiting", "delete"]);
  assert.deepEqual(await askedAbout(yard, "bash outputs/other.sh; true", files), ["idle"]);
});

test("a yes to a script that is too long to be read is about its very bytes: with others of the same length it is asked about anew [H1][H2]", async () => {
  await using model = await obedient();
  await using yard = await startYard({ model });
  const long = (letter: string) => `true\n#${letter.repeat(kibibytes256)}`;
  const statuses: string[] = [];
  for (const letter of ["x", "y"]) {
    const conversation = await newConversation(yard);
    place(yard, conversation, "s.sh", long("x"));
    await yard.ask("bash outputs/s.sh", { conversation });
    const [open] = await waitingIn(yard, conversation);
    place(yard, conversation, "s.sh", long(letter));
    await say(yard, open, { verdict: "approve" });
    statuses.push((await yard.whenAtRest(conversation)).status);
  }
  assert.deepEqual(statuses, ["idle", "waiting"]);
});
