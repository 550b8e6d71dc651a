import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { linkSync, mkdtempSync, readdirSync, readFileSync, rmdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { test } from "node:test";
import type { Machine } from "../../src/terminal/terminal.ts";
import { folderWith } from "../world/folder.ts";
import { calls, modelServer, says } from "../world/model-server.ts";
import { keys, startChat } from "../world/pty.ts";
import { must, startYard } from "../world/yard.ts";

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

const script = () => [
  calls(["write_file", { path: "outputs/note.txt", content: "hello" }]),
  says("**One** is done."),
  says("Two is done."),
];

test("/timeline, /branch and /export tell of the turns there were, and of none [U1][O2][L9]", async (t) => {
  const folder = folderWith(t, { "there.md": "mine" });
  await using model = await modelServer([...script(), says("Three, in the branch.")]);
  await using yard = await startYard({ model });
  const chat = talk({ client: yard.client, place: { folder, homeDir: folder } });
  const id = await chat.begin();
  assert.equal(await chat.say("/timeline"), "No turn has run here yet.");
  assert.equal(await chat.say("/branch"), "✗ Nothing was said here that a branch could begin with.");
  assert.equal(await chat.say("/export"), "✗ There is nothing to export yet.");
  await chat.say("first");
  await chat.say("second");

  const first = await chat.say("/timeline 1");
  assert.match(first, /^Turn 1: [\d.]+ m?s, done\n {2}\+[\d.]+ m?s +[\d.]+ m?s +step 1: test-model, 100 in, 10 out\n/);
  assert.match(
    first,
    /\n {2}\+[\d.]+ m?s +[\d.]+ m?s +✓ write_file\n.*step 2: test-model, .*\n {2}model [\d.]+ m?s · tools [\d.]+ m?s · /,
  );
  assert.match(await chat.say("/timeline"), /^Turn 2: /);
  assert.equal(await chat.say("/timeline 9"), "✗ There is no turn 9 here; there are 2.");
  assert.equal(await chat.say("/timeline x"), "✗ There is no turn x here; there are 2.");

  const name = `conversation-${id.slice(0, 8)}.md`;
  assert.match(await chat.say("/export"), new RegExp(`^✓ Written to ${join(folder, name)} \\(\\d+ bytes\\)$`));
  const written = readFileSync(join(folder, name), "utf8");
  assert.match(written, new RegExp(`^# first\n\nConversation ${id}, exported [-\\d: ]+\\.\n\n## You\n\nfirst\n\n`));
  assert.match(written, /> Tool `write_file`: ok\n\n## Agent\n\n\*\*One\*\* is done\.\n\n## You\n\nsecond\n/);
  assert.match(await chat.say("/export there.md"), /there\.md is there already; \/export -f replaces it\.$/);
  assert.equal(readFileSync(join(folder, "there.md"), "utf8"), "mine");
  assert.match(await chat.say("/export -f there.md"), /^✓ Written to /);
  assert.match(await chat.say("/export new/folder/x.md"), /^✓ Written to .*new\/folder\/x\.md \(/);
  assert.match(await chat.say("/export --what"), /^✗ Use \/export/);
  assert.match(await chat.say("/export all.jsonl"), /^✓ /);
  const events = readFileSync(join(folder, "all.jsonl"), "utf8").trimEnd().split("\n");
  assert.deepEqual(
    events.map((line) => JSON.parse(line).seq),
    events.map((_, index) => index + 1),
  );

  assert.equal(await chat.say("/branch 9"), "✗ There is no finished turn 9 here; there are 2.");
  assert.equal(await chat.say("/branch second"), "✗ Use /branch, or /branch N to go on after turn N.");
  chat.type(`/branch 1${keys.enter}`);
  const branched = await chat.waitFor(/is done\.\n\s*You> /);
  const newId = /✓ Branch ([0-9a-f-]{36}) of [0-9a-f]{8}; \/load [0-9a-f]{8} goes back\.\n/.exec(branched)?.[1] ?? "";
  assert.match(branched, /\nYou> first\n\*\*One\*\* is done\.\n/);
  assert.doesNotMatch(branched, /second/);
  await chat.say("third");
  const files = await must(yard.client.call("listFiles", { params: { id: newId }, query: { path: "outputs" } }));
  assert.deepEqual(
    files.items.map(({ path }) => path),
    ["outputs/note.txt"],
  );
  chat.leave();
  await chat.ended;
});

test("/branch names files that could not be copied, or that none could, and says where they still are [U1][P4]", async () => {
  await using model = await modelServer(() => says("Done."));
  await using yard = await startYard({ model });
  const chat = talk({ client: yard.client });
  const id = await chat.begin();
  await chat.say("first");
  const outputs = join(yard.data, "workspace", id, "outputs");
  writeFileSync(join(yard.data, "elsewhere"), "x");
  linkSync(join(yard.data, "elsewhere"), join(outputs, "hard"));
  const [from, named] = [id.slice(0, 8), "copy them there under other names, then /branch again."];
  const branched = async () => {
    chat.type(`/branch${keys.enter}`);
    const said = await chat.waitFor(/\n! .*\n[\s\S]*You> /);
    await chat.say(`/load ${from}`);
    return /\n(! .*)\n/.exec(said)?.[1];
  };
  const some = `! These files could not be copied: outputs/hard. They are still in ${from}: /load ${from}, have the agent ${named}`;
  assert.equal(await branched(), some);
  // A program can put a file in place of a folder.
  rmSync(outputs, { recursive: true });
  writeFileSync(outputs, "");
  const none = `! The files could not be copied, or not all of them; the log file says why. They are still in ${from}: when that is mended, /load ${from} and /branch again.`;
  assert.equal(await branched(), none);
  await chat.say("/lang zh");
  assert.match((await branched()) ?? "", new RegExp(`^! 文件没能复制，或没有全部复制；.* ${from} .*再用 /branch。$`));
  chat.leave();
  await chat.ended;
});

const isRoot = process.geteuid?.() === 0;

test("where /export cannot write it says why and what to do, and what was there before stays [U1][P4]", {
  skip: isRoot ? false : "needs root to mount a small disk",
}, async (t) => {
  const folder = folderWith(t, { file: "mine", "there/": "" });
  const small = mkdtempSync(join(tmpdir(), "small-disk-"));
  execFileSync("mount", ["-t", "tmpfs", "-o", "size=16k", "tmpfs", small]);
  t.after(() => {
    execFileSync("umount", ["-l", small]);
    rmdirSync(small);
  });
  writeFileSync(join(small, "a.md"), "mine");
  await using model = await modelServer([says("much ".repeat(10_000))]);
  await using yard = await startYard({ model });
  const chat = talk({ client: yard.client, place: { folder, homeDir: folder } });
  await chat.begin();
  await chat.say("first");
  const unchanged = "What was there before is unchanged. Free some space, then try again.";
  for (const [option, file] of [
    ["", join(small, "x.md")],
    ["-f ", join(small, "a.md")],
  ]) {
    assert.equal(
      await chat.say(`/export ${option}${file}`),
      `✗ ${file} could not be written: the disk is full. ${unchanged}`,
    );
  }
  assert.deepEqual([readdirSync(small), readFileSync(join(small, "a.md"), "utf8")], [["a.md"], "mine"]);
  assert.equal(await chat.say("/export file/x.md"), "✗ file/x.md is not a file. Name a file in it.");
  assert.equal(await chat.say("/export -f there"), "✗ there is not a file. Name a file in it.");
  execFileSync("mkfifo", [join(folder, "pipe")]);
  assert.equal(await chat.say("/export -f pipe"), "✗ pipe is not a file. Name a file in it.");
  await chat.say("/lang zh");
  assert.equal(
    await chat.say(`/export ${small}/x.md`),
    `✗ ${small}/x.md 写入失败：磁盘已满。原有内容没有变化。请腾出一些空间，然后重试。`,
  );
  chat.leave();
  await chat.ended;
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
  const chat = talk({ client: yard.client, machine });
  await chat.begin();
  assert.equal(await chat.say("/open"), "✗ Use /open PATH; /files lists the files of this conversation.");
  assert.equal(await chat.say("/open outputs/a.txt"), "No files here.");
  await chat.say("make them");
  assert.match(await chat.say("/open outputs/a.txt"), /^✓ outputs\/a\.txt opens \(a copy: \/.*\/a\.txt\)$/);
  assert.equal(readFileSync(opened[0] ?? "", "utf8"), "hello");
  assert.notEqual(dirname(opened[0] ?? ""), dirname(await copyOf(chat.say("/open outputs/run.sh"))));
  assert.match(await chat.say("/open 'outputs/page.html'"), /It is not opened by itself/);
  assert.equal(opened.length, 1);
  rmSync(dirname(opened[0] ?? ""), { recursive: true });
  assert.equal(await chat.say("/open outputs"), "✗ outputs is a folder; /save outputs copies all of it.");
  assert.match(await chat.say("/open outputs/none.txt"), /^✗ /);
  assert.match(await chat.say("/open ../../etc/passwd"), /^✗ /);
  assert.equal(await chat.say("/doctor"), "✓ everything is there");
  chat.leave();
  await chat.ended;
});

async function copyOf(said: Promise<string>): Promise<string> {
  const path = /is copied to (\S+)\. It is not opened/.exec(await said)?.[1] ?? "";
  rmSync(path);
  return path;
}

test("/lang changes what is said from now on; unknown ones say what there is [U1][P4]", async () => {
  await using yard = await startYard();
  const chat = talk({ client: yard.client });
  await chat.begin();
  assert.equal(await chat.say("/lang"), "The terminal speaks English. /lang with one of en, zh changes it.");
  assert.equal(await chat.say("/lang fr"), "✗ “fr” is not spoken here; there are: en, zh.");
  assert.match(await chat.say("/lang zh"), /^✓ 终端现在使用中文。/);
  assert.match(await chat.say("/timeline"), /^这里还没有运行过回合。$/);
  assert.match(await chat.say("/doctor"), /^✗ 这里无法得知/);
  assert.match(await chat.say("/help"), /\/demo +两分钟的导览/);
  assert.match(await chat.say("/LANG en"), /^✗ 没有|✗/);
  assert.match(await chat.say("/lang en"), /^✓ The terminal speaks English now\./);
  assert.match(await chat.say("/branhc"), /did you mean \/branch\?/);
  chat.leave();
  await chat.ended;
});

test("/load of an id that is ambiguous, unknown or deleted says so, and what is open stays open [U1][L9]", async () => {
  await using yard = await startYard();
  for (const id of ["same-one", "same-two", "gone-soon"])
    await must(yard.client.call("createConversation", { body: { id } }));
  const chat = talk({ client: yard.client });
  await chat.begin();
  const ambiguous = await chat.say("/load same");
  assert.match(ambiguous, /^✗ .*same-one.*same-two|^✗ .*same-two.*same-one/s);
  const how = "  /sessions lists those that there are; /load takes the beginning of an id.";
  assert.equal(await chat.say("/load nothing"), `✗ Session not found: nothing\n${how}`);
  assert.equal(await chat.say("/load same-one"), "✓ Loaded session: same-one");
  await must(yard.client.call("deleteConversation", { params: { id: "gone-soon" } }));
  assert.equal(await chat.say("/load gone"), `✗ Session not found: gone\n${how}`);
  assert.match(await chat.say("/current"), /^Current session: same-one\n/);
  chat.leave();
  await chat.ended;
});
