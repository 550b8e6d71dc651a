import assert from "node:assert/strict";
import { globSync, mkdirSync, readFileSync, rmSync } from "node:fs";
import { dirname, join } from "node:path";
import { test } from "node:test";
import { type Clock, systemClock } from "../../src/base/clock.ts";
import { createClient, type Fetch } from "../../src/client/client.ts";
import type { Machine } from "../../src/terminal/terminal.ts";
import { until } from "../world/events.ts";
import { folderWith } from "../world/folder.ts";
import { calls, modelServer, says } from "../world/model-server.ts";
import { paragraph, pdf, printed } from "../world/pdf-files.ts";
import { keys, startChat } from "../world/pty.ts";
import { must, startYard, type TestYard } from "../world/yard.ts";

const script = () => [
  calls(["write_file", { path: "outputs/note.txt", content: "hello" }]),
  says("**One** is done."),
  says("Two is done."),
];

test("/timeline, /branch and /export tell of the turns there were, and of none [U1][O2][L9]", async (t) => {
  const folder = folderWith(t, { "there.md": "mine" });
  await using model = await modelServer([...script(), says("Three, in the branch.")]);
  await using yard = await startYard({ model });
  await using chat = startChat({ client: yard.client, place: { folder, homeDir: folder } });
  const id = await chat.begin();
  assert.equal(await chat.ask("/timeline"), "No turn has run here yet.");
  assert.equal(await chat.ask("/branch"), "✗ Nothing was said here that a branch could begin with.");
  assert.equal(await chat.ask("/export"), "✗ There is nothing to export yet.");
  await chat.ask("first");
  await chat.ask("second");

  const first = await chat.ask("/timeline 1");
  assert.match(first, /^Turn 1: [\d.]+ m?s, done\n {2}\+[\d.]+ m?s +[\d.]+ m?s +step 1: test-model, 100 in, 10 out\n/);
  assert.match(
    first,
    /\n {2}\+[\d.]+ m?s +[\d.]+ m?s +✓ write_file\n.*step 2: test-model, .*\n {2}model [\d.]+ m?s · tools [\d.]+ m?s · /,
  );
  assert.match(await chat.ask("/timeline"), /^Turn 2: /);
  assert.equal(await chat.ask("/timeline 9"), "✗ There is no turn 9 here; there are 2.");
  assert.equal(await chat.ask("/timeline x"), "✗ There is no turn x here; there are 2.");

  const name = `conversation-${id.slice(0, 8)}.md`;
  assert.match(await chat.ask("/export"), new RegExp(`^✓ Written to ${join(folder, name)} \\(\\d+ bytes\\)$`));
  const written = readFileSync(join(folder, name), "utf8");
  assert.match(written, new RegExp(`^# first\n\nConversation ${id}, exported [-\\d: ]+\\.\n\n## You\n\nfirst\n\n`));
  assert.match(written, /> Tool `write_file`: ok\n\n## Agent\n\n\*\*One\*\* is done\.\n\n## You\n\nsecond\n/);
  assert.match(await chat.ask("/export there.md"), /there\.md is there already; \/export -f replaces it\.$/);
  assert.equal(readFileSync(join(folder, "there.md"), "utf8"), "mine");
  assert.match(await chat.ask("/export -f there.md"), /^✓ Written to /);
  assert.match(await chat.ask("/export new/folder/x.md"), /^✓ Written to .*new\/folder\/x\.md \(/);
  assert.match(await chat.ask("/export --what"), /^✗ Use \/export/);
  assert.match(await chat.ask("/export there.md/x.md"), /^✗ there\.md\/x\.md /);
  assert.match(await chat.ask("/export all.jsonl"), /^✓ /);
  const events = readFileSync(join(folder, "all.jsonl"), "utf8").trimEnd().split("\n");
  assert.deepEqual(
    events.map((line) => JSON.parse(line).seq),
    events.map((_, index) => index + 1),
  );

  assert.equal(await chat.ask("/branch 9"), "✗ There is no finished turn 9 here; there are 2.");
  assert.equal(await chat.ask("/branch second"), "✗ Use /branch, or /branch N to go on after turn N.");
  const branched = await chat.say("/branch 1", /is done\.\n\s*You> /);
  const newId = /✓ Branch ([0-9a-f-]{36}) of [0-9a-f]{8}; \/load [0-9a-f]{8} goes back\.\n/.exec(branched)?.[1] ?? "";
  assert.match(branched, /\nYou> first\n\*\*One\*\* is done\.\n/);
  assert.doesNotMatch(branched, /second/);
  await chat.ask("third");
  const files = await must(yard.client.call("listFiles", { params: { id: newId }, query: { path: "outputs" } }));
  assert.deepEqual(
    files.items.map(({ path }) => path),
    ["outputs/note.txt"],
  );
});

test("/open opens a copy of a picture or text; programs and pages are only copied [U1][Q1]", async () => {
  const opened: string[] = [];
  const machine: Machine = {
    open: async (path) => opened.push(path) > 0,
    examine: async () => ["✓ everything is there"],
    start: () => assert.fail("nothing is started"),
  };
  await using model = await modelServer([
    calls(
      ["write_file", { path: "outputs/a.txt", content: "hello" }],
      ["write_file", { path: "outputs/run.sh", content: "echo no" }],
      ["write_file", { path: "outputs/page.html", content: "<script>" }],
    ),
    says("Made."),
  ]);
  await using yard = await startYard({ model });
  await using chat = startChat({ client: yard.client, machine });
  await chat.begin();
  assert.equal(await chat.ask("/open"), "✗ Use /open PATH; /files lists the files of this conversation.");
  assert.equal(await chat.ask("/open outputs/a.txt"), "No files here.");
  await chat.ask("make them");
  assert.match(await chat.ask("/open outputs/a.txt"), /^✓ outputs\/a\.txt opens \(a copy: \/.*\/a\.txt\)$/);
  assert.equal(readFileSync(opened[0] ?? "", "utf8"), "hello");
  assert.notEqual(dirname(opened[0] ?? ""), dirname(await copyOf(chat.ask("/open outputs/run.sh"))));
  assert.match(await chat.ask("/open 'outputs/page.html'"), /It is not opened by itself/);
  assert.equal(opened.length, 1);
  rmSync(dirname(opened[0] ?? ""), { recursive: true });
  assert.equal(await chat.ask("/open outputs"), "✗ outputs is a folder; /save outputs copies all of it.");
  assert.match(await chat.ask("/open outputs/none.txt"), /^✗ /);
  assert.match(await chat.ask("/open ../../etc/passwd"), /^✗ /);
  assert.equal(await chat.ask("/doctor"), "✓ everything is there");
});

async function copyOf(said: Promise<string>): Promise<string> {
  const path = /is copied to (\S+)\. It is not opened/.exec(await said)?.[1] ?? "";
  rmSync(path);
  return path;
}

test("/load of an id that is ambiguous, unknown or deleted says so, and what is open stays open [U1][L9]", async () => {
  await using yard = await startYard();
  for (const id of ["same-one", "same-two", "gone-soon"])
    await must(yard.client.call("createConversation", { body: { id } }));
  await using chat = startChat(yard);
  await chat.begin();
  const ambiguous = await chat.ask("/load same");
  assert.match(ambiguous, /^✗ .*same-one.*same-two|^✗ .*same-two.*same-one/s);
  const how = "  /sessions lists those that there are; /load takes the beginning of an id.";
  assert.equal(await chat.ask("/load nothing"), `✗ Session not found: nothing\n${how}`);
  assert.equal(await chat.ask("/load same-one"), "✓ Loaded session: same-one");
  await must(yard.client.call("deleteConversation", { params: { id: "gone-soon" } }));
  assert.equal(await chat.ask("/load gone"), `✗ Session not found: gone\n${how}`);
  assert.match(await chat.ask("/current"), /^Current session: same-one\n/);
});

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
  await using chat = startChat({ client: yard.client, place: { folder, homeDir: folder } });
  await chat.begin();
  assert.equal(
    await chat.ask("/undo"),
    "✗ There is no turn to undo. Nothing was changed. Send a message first; its turn can then be undone.",
  );
  await chat.ask("write one");
  const second = await chat.ask("write two, see #a.txt");
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
  await using chat = startChat({ client: yard.client, command: { going: { id } } });
  await chat.begin();
  assert.equal(await chat.ask("/files uploads/short.md"), "# A\n\n  two␛[2J    three");
  assert.ok((await chat.ask("/files uploads/forty.txt")).endsWith("line 39\nline 40"));
  const long = (await chat.ask("/files uploads/long.txt")).split("\n");
  assert.deepEqual(
    [long.length, long[39], long[40]],
    [41, "line 40", "… 319 bytes in all; /save uploads/long.txt copies it to this machine."],
  );
  assert.equal(await chat.ask('/files "uploads/two words.txt"'), "uploads/two words.txt is empty.");
  assert.equal(await chat.ask("/files uploads/中文.csv"), "你好");
  assert.equal(await chat.ask("/files uploads/a.png"), "uploads/a.png: 16 bytes, no text (png)");
});

test("/files lists what the conversation has, one level at a time, and rm takes a file or a folder away [U1][F2]", async () => {
  const script = calls(writes("outputs/a/1.txt", "1"), writes("outputs/a/2.txt", "2"), writes("outputs/b.txt", "b"));
  await using model = await modelServer([script, says("Done.")]);
  await using yard = await startYard({ model });
  await using chat = startChat(yard);
  const id = await chat.begin();
  assert.equal(await chat.ask("/files"), "No files here.");
  await chat.ask("write");
  assert.deepEqual(
    (await chat.ask("/files")).match(/^ {2}\S+ +folder$/gm)?.map((line) => line.trim().split(" ")[0]),
    ["outputs/", "skills/", "temp/", "uploads/"],
  );
  assert.match(await chat.ask("/files outputs"), /^ {2}outputs\/b\.txt {2}1 byte {2}\d{4}-\d\d-\d\d \d\d:\d\d$/m);
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
});

test("a command that takes nothing refuses what stands behind it, and does nothing [U1]", async () => {
  await using model = await modelServer([calls(writes("outputs/a.txt", "one")), says("Done.")]);
  await using yard = await startYard({ model });
  await using chat = startChat(yard);
  const id = await chat.begin();
  await chat.ask("write");
  assert.equal(await chat.ask("/undo 2"), "✗ /undo does not take “2”. Use: /undo");
  assert.equal(await chat.ask("/clear all"), "✗ /new does not take “all”. Use: /new");
  assert.equal(await chat.ask("/exit now"), "✗ /quit does not take “now”. Use: /quit");
  assert.equal((await must(yard.client.call("getConversation", { params: { id } }))).turns, 1);
});

const dayMs = 86_400_000;

test("files that were cleaned up are listed, named when their conversation is loaded, and come back [U1][W10]", async () => {
  let laterMs = 0;
  const clock: Clock = { ...systemClock, now: () => systemClock.now() + laterMs };
  await using model = await modelServer([calls(writes("outputs/a.txt", "1234")), says("Done.")]);
  await using yard = await startYard({ model, clock });
  const { conversation } = await yard.ask("write");
  laterMs = 8 * dayMs;
  await using chat = startChat(yard);
  await chat.begin();
  assert.match(
    await chat.ask("/clean"),
    /^✓ Cleaned up 1 old workspaces\n {2}4 bytes moved to the trash: not used for 7 days\. \/clean list shows what can be restored\.$/,
  );
  const listed = await chat.ask("/clean list");
  assert.match(listed, / {2}1 file, 4 bytes {2}conversation [0-9a-f]{8} {2}until \d{4}-\d\d-\d\d \d\d:\d\d\n/);
  const trash = /^ {2}(\S+)/.exec(listed)?.[1] ?? "";
  await chat.say(
    `/load ${conversation}`,
    /Done\.\n! The files of this conversation were moved to the trash at \d{4}-\d\d-\d\d \d\d:\d\d\. \/clean list shows it/,
  );
  await chat.waitFor("\nYou> ");
  assert.equal(await chat.ask("/files outputs"), "No files here.");
  assert.equal(
    await chat.ask(`/clean restore ${trash.slice(0, -1)}`),
    `✓ Restored 1 file of conversation ${conversation}`,
  );
  assert.match(await chat.ask("/files outputs"), /outputs\/a\.txt {2}4 bytes/);
  await chat.say(`/load ${conversation}`, "Done.\nYou> ");
});

test("a loaded conversation shows what was said, not what was put behind it for the model [U1][F3]", async (t) => {
  const folder = folderWith(t, { "notes.md": "# A secret of many lines\n" });
  await using model = await modelServer([says("Read.")]);
  await using yard = await startYard({ model });
  await using chat = startChat({ client: yard.client, place: { folder, homeDir: folder } });
  const id = await chat.begin();
  await chat.ask("read #notes.md");
  await chat.ask("/new");
  await chat.say(`/load ${id}`, `✓ Loaded session: ${id}\nYou> read #notes.md\n  ↑ uploads/notes.md\nRead.\nYou> `);
});

/** A chat in a conversation that has files, in front of a folder of this machine. */
async function talk(yard: TestYard, folder: string, files: Readonly<Record<string, string>>, client = yard.client) {
  const { id } = await must(yard.client.call("createConversation", { body: {} }));
  for (const [name, text] of Object.entries(files)) await must(yard.client.upload(id, name, Buffer.from(text)));
  const chat = startChat({ client, place: { folder, homeDir: join(folder, "home") }, command: { going: { id } } });
  await chat.waitFor("You> ");
  return { ...chat, id };
}

const textsIn = (folder: string) =>
  Object.fromEntries(
    globSync("**", { cwd: folder, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map(({ parentPath, name }) => [join(parentPath, name).slice(folder.length + 1), join(parentPath, name)] as const)
      .map(([path, file]) => [path, readFileSync(file, "utf8")]),
  );

test("/save copies a file to the current folder, under another name, into a folder or one's home; and a folder with all of it [U1][F2]", async (t) => {
  const folder = folderWith(t, { "sub/": "", "home/": "" });
  await using yard = await startYard();
  await using chat = await talk(yard, folder, { "a.txt": "1234", "two words.txt": "tw" });
  assert.equal(await chat.ask("/save uploads/a.txt"), "✓ uploads/a.txt → a.txt (4 bytes)");
  assert.equal(await chat.ask("/save uploads/a.txt b.txt"), "✓ uploads/a.txt → b.txt (4 bytes)");
  assert.equal(await chat.ask("/save uploads/a.txt sub"), "✓ uploads/a.txt → sub/a.txt (4 bytes)");
  assert.equal(await chat.ask("/save uploads/a.txt new/c.txt"), "✓ uploads/a.txt → new/c.txt (4 bytes)");
  assert.equal(
    await chat.ask('/save "uploads/two words.txt" ~/'),
    "✓ uploads/two words.txt → home/two words.txt (2 bytes)",
  );
  assert.equal(await chat.ask("/save uploads/two\\ words.txt 'x y'"), "✓ uploads/two words.txt → x y (2 bytes)");
  const four = "1234";
  assert.equal(await chat.ask("/save uploads/ copy/of/it"), "✓ uploads/ → copy/of/it/ (2 files, 6 bytes)");
  assert.deepEqual(textsIn(folder), {
    ...{ "copy/of/it/a.txt": four, "copy/of/it/two words.txt": "tw" },
    ...{ "a.txt": four, "b.txt": four, "sub/a.txt": four, "new/c.txt": four },
    ...{ "home/two words.txt": "tw", "x y": "tw" },
  });
});

test("/save replaces nothing unless it is told to [U1][F2]", async (t) => {
  const folder = folderWith(t, { "a.txt": "mine", "uploads/b.txt": "mine too", "dir/": "" });
  await using yard = await startYard();
  await using chat = await talk(yard, folder, { "a.txt": "theirs", "b.txt": "b" });
  const refused = (path: string) => `✗ Already here, and nothing was saved: ${path}. /save -f replaces them.`;
  assert.equal(await chat.ask("/save uploads/a.txt"), refused("a.txt"));
  assert.equal(await chat.ask("/save uploads"), refused("uploads/b.txt"));
  assert.deepEqual(textsIn(folder), { "a.txt": "mine", "uploads/b.txt": "mine too" });
  assert.equal(await chat.ask("/save -f uploads/a.txt"), "✓ uploads/a.txt → a.txt (6 bytes)");
  mkdirSync(join(folder, "dir/a.txt"));
  assert.match(await chat.ask("/save -f uploads/a.txt dir"), /^✗ dir\/a\.txt is not a file\. /);
  assert.deepEqual(textsIn(folder), { "a.txt": "theirs", "uploads/b.txt": "mine too" });
});

test("/save says what it cannot do: no such file, a path outside, a file in place of a folder [U1][W5]", async (t) => {
  const folder = folderWith(t, { file: "" });
  await using yard = await startYard();
  await using chat = await talk(yard, folder, { "a.txt": "1" });
  const how =
    '✗ Use /save PATH [TO], or /save -f PATH [TO] to replace what is there. A name with blanks: "two words.txt".';
  assert.equal(await chat.ask("/save"), how);
  assert.equal(await chat.ask("/save a b c"), how);
  assert.match(await chat.ask("/save uploads/b.txt"), /^✗ There is no file uploads\/b\.txt\. /);
  assert.match(
    await chat.ask("/save ../../etc/passwd"),
    /^✗ The path \.\.\/\.\.\/etc\/passwd leads out of the workspace\. /,
  );
  assert.match(await chat.ask("/save uploads/a.txt file/b.txt"), /^✗ file\/b\.txt is not a file\. /);
  assert.deepEqual(textsIn(folder), { file: "" });
  await chat.ask("/new");
  assert.equal(await chat.ask("/save uploads/a.txt"), "No files here.");
});

test("/save of more than 10,000 files says so, and saves none [U1][F2]", async (t) => {
  const folder = folderWith(t, {});
  await using yard = await startYard();
  const items = Array.from({ length: 10_001 }, (_, at) => ({
    ...{ name: `${at}`, path: `outputs/${at}`, type: "file", bytes: 1, modifiedAt: 1 },
  }));
  const fetch: Fetch = async (url, init) =>
    /\/files\?/.test(url) ? Response.json({ path: "outputs", items, next: null }) : yard.fetch(url, init);
  await using chat = await talk(yard, folder, {}, createClient({ fetch }));
  assert.match(await chat.ask("/save outputs"), /^✗ outputs\/ has more than 10000 files/);
  assert.deepEqual(textsIn(folder), {});
});

/** A yard whose downloads begin, and go on only when they are let go. */
function slowDownloads(fetch: Fetch) {
  const { promise: letGo, resolve } = Promise.withResolvers<void>();
  let begun = 0;
  const slow: Fetch = async (url, init) => {
    const response = await fetch(url, init);
    if (!url.includes("/files/content") || init.method !== "GET" || response.body === null) return response;
    begun += 1;
    const held = new TransformStream<Uint8Array, Uint8Array>({
      async transform(chunk, controller) {
        controller.enqueue(chunk);
        await letGo;
      },
    });
    return new Response(response.body.pipeThrough(held), response);
  };
  return { client: createClient({ fetch: slow }), letGo: resolve, hasBegun: () => begun > 0 };
}

test("Esc stops saving, and nothing half is left; a large file shows how far it is [U1][L6]", async (t) => {
  const folder = folderWith(t, { "a.txt": "mine" });
  await using yard = await startYard();
  const slow = slowDownloads(yard.fetch);
  await using chat = await talk(yard, folder, { "a.txt": "0123456789\n".repeat(600_000) }, slow.client);
  chat.type(`/save -f uploads/a.txt${keys.enter}`);
  await until("it has begun", slow.hasBegun);
  await chat.say("/save uploads/a.txt b.txt", "✗ Another file is being saved; wait for it, or stop it with Esc.\n");
  chat.type(keys.escape);
  await chat.waitFor("■ Stopped; what was not complete is not kept.\n");
  await chat.waitFor("You> ");
  assert.deepEqual(textsIn(folder), { "a.txt": "mine" });
  assert.deepEqual(globSync(".*", { cwd: folder }), []);
  slow.letGo();
  await chat.say("/save -f uploads/a.txt", "↓ uploads/a.txt: 100 % of 6.3 MB");
  await chat.waitFor("✓ uploads/a.txt → a.txt (6.3 MB)\n");
});

const manual = pdf([{ content: printed(paragraph(700, ["A walrus needs a filter."])) }]);

test("/search finds files and messages of all conversations, and /open goes there [U1][D3]", async () => {
  await using model = await modelServer(() => says("It swims."));
  await using yard = await startYard({ model });
  const { client } = yard;
  const { conversation } = await yard.ask("Where is the walrus\nof the north?");
  await yard.start("papers");
  await must(client.upload("papers", "manual.pdf", manual));
  await must(client.upload("papers", "notes.txt", Buffer.from("first\n\u001b[31mred walrus\nlast")));
  await using chat = startChat({ client });
  const { say } = chat;
  await chat.waitFor("You> ");
  await say("/open 1", "✗ There is nothing to open: /search comes first.");
  await say("/search", "✗ What for? /search WORDS");
  await say("/search --mail walrus", "✗ /search has no option --mail. Use --files or --messages");
  await say("/search zeppelin", "Nothing was found. Try other words");
  await chat.waitFor("! nowhere: zeppelin");
  await say("/search walrus", "3 found · /open N opens one");
  assert.ok(
    (await say("/search --files walrus", "2 found · /open N opens one")).includes("uploads/manual.pdf · page 1"),
  );
  await say("/search --messages walris", "1 found · /open N opens one");
  await chat.waitFor("“walris” is nowhere: “walrus” was looked for");
  await say("/open 9", "✗ There is no hit 9; the last search has 1 to 1.");
  await say("/open 1", "you · 20");
  await chat.waitFor("of the north?");
  await say("/current", conversation);
  await say("/search --files first last red", "1 found · /open N opens one");
  const opened = await say("/open 1", "To read on: ask the agent about uploads/notes.txt");
  assert.ok(opened.includes("uploads/notes.txt · lines 1–3") && opened.includes("␛[31mred walrus"), opened);
  await say("/current", "papers");
  await must(client.upload("papers", "large.txt", Buffer.from("x".repeat(6_000_000))));
  await say(
    "/search --files walrus",
    "! uploads/large.txt was not searched (document_too_large): docs/api/failures.md says what to do about it",
  );
});
