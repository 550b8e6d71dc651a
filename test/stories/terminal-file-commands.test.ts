import assert from "node:assert/strict";
import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { type Clock, systemClock } from "../../src/base/clock.ts";
import { inboxOf, say } from "../world/decisions.ts";
import { until } from "../world/events.ts";
import { folderWith } from "../world/folder.ts";
import { calls, modelServer, says } from "../world/model-server.ts";
import { keys, startChat } from "../world/pty.ts";
import { must, startYard } from "../world/yard.ts";

/** A chat in which a line is typed and everything up to the next prompt read. */
function talk(setting: Parameters<typeof startChat>[0]) {
  const chat = startChat(setting);
  const say = async (line: string) => {
    chat.type(line + keys.enter);
    const answer = await chat.waitFor("\nYou> ");
    return answer.slice(line.length + 1, -"\nYou> ".length);
  };
  const begin = async () => /[0-9a-f-]{36}/.exec(await chat.waitFor("You> "))?.[0] ?? "";
  return { ...chat, say, begin };
}

const writes = (path: string, content: string): [string, object] => ["write_file", { path, content }];

test("/undo undoes a turn and says what became of each file, and what was said [U1][W12]", async (t) => {
  const folder = folderWith(t, { "a.txt": "from me" });
  await using model = await modelServer([
    calls(writes("outputs/a.txt", "one"), writes("outputs/b.txt", "b")),
    says("Done."),
    calls(writes("outputs/a.txt", "two"), writes("outputs/c.txt", "c")),
    says("Done again."),
  ]);
  await using yard = await startYard({ model });
  const chat = talk({ client: yard.client, place: { folder, homeDir: folder } });
  await chat.begin();
  assert.equal(
    await chat.say("/undo"),
    "✗ There is no turn to undo. Nothing was changed. Send a message first; its turn can then be undone.",
  );
  await chat.say("write one");
  const second = await chat.say("write two, see #a.txt");
  assert.deepEqual(second.match(/^ {2}[+~-] .*$/gm)?.sort(), [
    "  + outputs/c.txt (1 byte)",
    "  ~ outputs/a.txt (3 bytes)",
  ]);
  const undone = (turn: number, lines: readonly string[], said: string) =>
    [`✓ Turn ${turn} is undone`, ...lines, "You had said:", `You> ${said}`, "You> "].join("\n");
  chat.type(`/undo${keys.enter}`);
  const back = ["  ~ outputs/a.txt (as before)", "  - outputs/c.txt (deleted)"];
  await chat.waitFor(undone(2, back, "write two, see #a.txt"));
  chat.type(`/undo${keys.enter}`);
  const gone = ["  - outputs/a.txt (deleted)", "  - outputs/b.txt (deleted)"];
  await chat.waitFor(undone(1, gone, "write one"));
  chat.leave();
  await chat.ended;
});

test("a file that somebody changed since is left as it is, and /undo says so [U1][W12]", async () => {
  await using model = await modelServer([calls(writes("uploads/a.txt", "by the agent")), says("Done.")]);
  await using yard = await startYard({ model });
  const chat = talk({ client: yard.client });
  const id = await chat.begin();
  const written = chat.say("write");
  await until("the user is asked", async () => (await inboxOf(yard)).length > 0);
  const [open] = await inboxOf(yard);
  assert.deepEqual(await say(yard, open, { verdict: "approve" }), []);
  await written;
  await must(yard.client.upload(id, "a.txt", Buffer.from("by me")));
  assert.match(await chat.say("/undo"), /\n {2}! uploads\/a\.txt is left as it is: it was changed since\n/);
  chat.leave();
  await chat.ended;
});

for (const [language, left] of [
  ["en", "outputs/a.txt is left as it is: what it was before was not kept; ask the agent to make it anew"],
  ["zh", "outputs/a.txt 保持现状：没有保留原来的内容；请让智能体重新生成"],
] as const) {
  test(`where /undo cannot give a file back it says what to do (${language}) [U1][W12][P4]`, async () => {
    await using model = await modelServer([
      calls(writes("outputs/a.txt", "first")),
      says("Done."),
      calls(writes("outputs/a.txt", "second")),
      says("Done again."),
    ]);
    await using yard = await startYard({ model, env: { AGENTYARD_KEPT_FILE_BYTES_MAX: "4" } });
    const { conversation: id } = await yard.ask("write");
    await yard.ask("write again", { conversation: id });
    const chat = startChat({ client: yard.client, language, command: { going: { id } } });
    await chat.waitFor("You> ");
    chat.type(`/undo${keys.enter}`);
    await chat.waitFor(`\n  ! ${left}\n`);
    chat.leave();
    await chat.ended;
  });
}

test("/files lists what the conversation has, one level at a time [U1][F2]", async () => {
  await using model = await modelServer([calls(writes("outputs/a.txt", "1234")), says("Done.")]);
  await using yard = await startYard({ model });
  const chat = talk({ client: yard.client });
  await chat.begin();
  assert.equal(await chat.say("/files"), "No files here.");
  await chat.say("write");
  assert.deepEqual(
    (await chat.say("/files")).match(/^ {2}\S+ +folder$/gm)?.map((line) => line.trim().split(" ")[0]),
    ["outputs/", "skills/", "temp/", "uploads/"],
  );
  assert.match(await chat.say("/files outputs"), /^ {2}outputs\/a\.txt {2}4 bytes {2}\d{4}-\d\d-\d\d \d\d:\d\d$/);
  assert.equal(await chat.say("/files temp"), "No files here.");
  assert.match(await chat.say("/files ../other"), /^✗ The path \.\.\/other leads out of the workspace\. /);
  chat.leave();
  await chat.ended;
});

test("/files of a file shows its beginning; of one that is no text, what it is [U1][F2]", async () => {
  await using yard = await startYard();
  const { id } = await must(yard.client.call("createConversation", { body: {} }));
  const files = {
    "short.md": "# A\n\n  two\u001b[2J\tthree\n",
    "forty.txt": Array.from({ length: 40 }, (_, line) => `line ${line + 1}\n`).join(""),
    "long.txt": Array.from({ length: 41 }, (_, line) => `line ${line + 1}\n`).join(""),
    "two words.txt": "",
    "中文.csv": Buffer.from("c4e3bac30a", "hex"),
    "a.png": Buffer.from("89504e470d0a1a0a0000000d49484452", "hex"),
  };
  for (const [name, bytes] of Object.entries(files)) await must(yard.client.upload(id, name, Buffer.from(bytes)));
  const chat = talk({ client: yard.client, command: { going: { id } } });
  await chat.begin();
  assert.equal(await chat.say("/files uploads/short.md"), "# A\n\n  two␛[2J    three");
  assert.ok((await chat.say("/files uploads/forty.txt")).endsWith("line 39\nline 40"));
  const long = (await chat.say("/files uploads/long.txt")).split("\n");
  assert.deepEqual(
    [long.length, long[39], long[40]],
    [41, "line 40", "… 319 bytes in all; /save uploads/long.txt copies it to this machine."],
  );
  assert.equal(await chat.say('/files "uploads/two words.txt"'), "uploads/two words.txt is empty.");
  assert.equal(await chat.say("/files uploads/中文.csv"), "你好");
  assert.equal(await chat.say("/files uploads/a.png"), "uploads/a.png: 16 bytes, no text (png)");
  chat.leave();
  await chat.ended;
});

test("/files rm takes a file or a folder away, and says what [U1][F2]", async () => {
  const script = calls(writes("outputs/a/1.txt", "1"), writes("outputs/a/2.txt", "2"), writes("outputs/b.txt", "b"));
  await using model = await modelServer([script, says("Done.")]);
  await using yard = await startYard({ model });
  const chat = talk({ client: yard.client });
  const id = await chat.begin();
  await chat.say("write");
  const answers = async (line: string, wanted: string) => {
    chat.type(line + keys.enter);
    await chat.waitFor(wanted);
  };
  await answers("/files rm outputs/b.txt", "\n✓ Deleted: outputs/b.txt (/undo does not bring it back)\n");
  await answers("/files rm outputs/a", "\n✓ Deleted: outputs/a/ (/undo does not bring it back)\n");
  await answers("/files rm outputs/b.txt", "\n✗ There is no file outputs/b.txt. ");
  await answers("/files rm ../other", "\n✗ The path ../other leads out of the workspace. ");
  const { items } = await must(yard.client.call("listFiles", { params: { id }, query: { path: "outputs" } }));
  assert.deepEqual(items, []);
  chat.leave();
  await chat.ended;
});

test("a turn that is undone elsewhere is told where it stands on the screen, with its files [U1][W12]", async () => {
  await using model = await modelServer([
    calls(writes("outputs/a.txt", "one")),
    ...["Done.", "Fine.", "Last."].map((text) => says(text)),
  ]);
  await using yard = await startYard({ model });
  const chat = talk({ client: yard.client });
  const id = await chat.begin();
  await chat.say("write");
  await must(yard.client.call("undoTurn", { params: { id } }));
  await chat.waitFor("✓ Turn 1 was undone elsewhere\n");
  await chat.waitFor("  - outputs/a.txt (deleted)\n");
  chat.type(`go on${keys.enter}`);
  await chat.waitFor("Fine.\n\nYou> ");
  await must(yard.client.call("resetConversation", { params: { id } }));
  await chat.waitFor("✓ This conversation was reset elsewhere\n");
  chat.type(`/reset${keys.enter}`);
  await chat.waitFor("✓ Session reset\n");
  chat.type(`and on${keys.enter}`);
  await chat.waitFor("Last.");
  assert.equal(chat.text().split("elsewhere").length, 3, "what was done here is not told as done elsewhere");
  chat.leave();
  await chat.ended;
});

test("a command that takes nothing refuses what stands behind it, and does nothing [U1]", async () => {
  await using model = await modelServer([calls(writes("outputs/a.txt", "one")), says("Done.")]);
  await using yard = await startYard({ model });
  const chat = talk({ client: yard.client });
  const id = await chat.begin();
  await chat.say("write");
  assert.equal(await chat.say("/undo 2"), "✗ /undo does not take “2”. Use: /undo");
  assert.equal(await chat.say("/clear all"), "✗ /new does not take “all”. Use: /new");
  assert.equal(await chat.say("/exit now"), "✗ /quit does not take “now”. Use: /quit");
  assert.equal((await must(yard.client.call("getConversation", { params: { id } }))).turns, 1);
  chat.leave();
  await chat.ended;
});

const dayMs = 86_400_000;
const texts = {
  en: { none: "✓ Cleaned up 0 old workspaces", empty: "The trash is empty.", how: /Use \/clean, \/clean list/ },
  zh: { none: "✓ 已清理 0 个旧工作区", empty: "回收站是空的。", how: /请用 \/clean/ },
};
for (const language of ["en", "zh"] as const) {
  test(`/clean says how many it cleaned up, and answers even when there is nothing (${language}) [U1][W10][P4]`, async () => {
    await using yard = await startYard();
    const chat = talk({ client: yard.client, language });
    await chat.begin();
    assert.equal(await chat.say("/clean"), texts[language].none);
    assert.equal(await chat.say("/clean list"), texts[language].empty);
    assert.match(await chat.say("/clean all"), texts[language].how);
    assert.match(await chat.say("/clean restore 123"), /^✗ .*123/);
    chat.leave();
    await chat.ended;
  });
}

for (const [language, skipped] of [
  ["en", "1 could not be moved; the log file says why. When that is mended, /clean again."],
  ["zh", "1 个无法移动；原因见日志文件。解决之后，再用 /clean。"],
] as const) {
  test(`where /clean could not move something it says where the reason is, and what to do then (${language}) [U1][W10][P4]`, async () => {
    let now = systemClock.now();
    const clock: Clock = { ...systemClock, now: () => now };
    await using model = await modelServer([calls(writes("outputs/a.txt", "1234")), says("Done.")]);
    await using yard = await startYard({ model, clock });
    await yard.ask("write");
    // Something else has the place of the trash.
    rmSync(join(yard.data, "trash"), { recursive: true, force: true });
    writeFileSync(join(yard.data, "trash"), "");
    now += 8 * dayMs;
    const chat = startChat({ client: yard.client, language });
    await chat.waitFor("You> ");
    chat.type(`/clean${keys.enter}`);
    await chat.waitFor(`\n  ! ${skipped}\n`);
    chat.leave();
    await chat.ended;
  });
}

test("files that were cleaned up are listed, named when their conversation is loaded, and come back [U1][W10]", async () => {
  let laterMs = 0;
  const clock: Clock = { ...systemClock, now: () => systemClock.now() + laterMs };
  await using model = await modelServer([calls(writes("outputs/a.txt", "1234")), says("Done.")]);
  await using yard = await startYard({ model, clock });
  const { conversation } = await yard.ask("write");
  laterMs = 8 * dayMs;
  const chat = talk({ client: yard.client });
  await chat.begin();
  assert.match(
    await chat.say("/clean"),
    /^✓ Cleaned up 1 old workspaces\n {2}4 bytes moved to the trash: not used for 7 days\. \/clean list shows what can be restored\.$/,
  );
  const listed = await chat.say("/clean list");
  assert.match(listed, / {2}1 file, 4 bytes {2}conversation [0-9a-f]{8} {2}until \d{4}-\d\d-\d\d \d\d:\d\d\n/);
  const trash = /^ {2}(\S+)/.exec(listed)?.[1] ?? "";
  chat.type(`/load ${conversation}${keys.enter}`);
  await chat.waitFor(
    /Done\.\n! The files of this conversation were moved to the trash at \d{4}-\d\d-\d\d \d\d:\d\d\. \/clean list shows it/,
  );
  await chat.waitFor("\nYou> ");
  assert.equal(await chat.say("/files outputs"), "No files here.");
  assert.equal(
    await chat.say(`/clean restore ${trash.slice(0, -1)}`),
    `✓ Restored 1 file of conversation ${conversation}`,
  );
  assert.match(await chat.say("/files outputs"), /outputs\/a\.txt {2}4 bytes/);
  chat.type(`/load ${conversation}${keys.enter}`);
  await chat.waitFor("Done.\nYou> ");
  chat.leave();
  await chat.ended;
});

test("a loaded conversation shows what was said, not what was put behind it for the model [U1][F3]", async (t) => {
  const folder = folderWith(t, { "notes.md": "# A secret of many lines\n" });
  await using model = await modelServer([says("Read.")]);
  await using yard = await startYard({ model });
  const chat = talk({ client: yard.client, place: { folder, homeDir: folder } });
  const id = await chat.begin();
  await chat.say("read #notes.md");
  await chat.say("/new");
  chat.type(`/load ${id}${keys.enter}`);
  await chat.waitFor(`✓ Loaded session: ${id}\nYou> read #notes.md\n  ↑ uploads/notes.md\nRead.\nYou> `);
  chat.leave();
  await chat.ended;
});

test("/help has a line for each of them, and for #PATH [U1]", async () => {
  await using yard = await startYard();
  for (const language of ["en", "zh"] as const) {
    const chat = talk({ client: yard.client, language });
    await chat.begin();
    const help = await chat.say("/help");
    const forms = ["/files [PATH | rm PATH] ", "/save [-f] PATH [TO] ", "/undo ", "/clean [list | restore ID] ", "#"];
    for (const form of forms) assert.ok(help.includes(form));
    chat.leave();
    await chat.ended;
  }
});
