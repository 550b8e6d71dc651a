import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { createClient, type Fetch } from "../../src/client/client.ts";
import { all, until } from "../world/events.ts";
import { folderWith } from "../world/folder.ts";
import { type Answer, calls, modelServer, says } from "../world/model-server.ts";
import { paragraph, pdf, printed } from "../world/pdf-files.ts";
import { keys, openChat, openTestPipe, runInPipe, startChat } from "../world/pty.ts";
import { must, startYard, type TestYard, type TestYardOptions } from "../world/yard.ts";

const placeOf = (folder: string) => ({ folder, homeDir: folder });

/** The newest message of the newest conversation. */
async function lastMessage(yard: TestYard) {
  const { items } = await must(yard.client.call("listConversations"));
  return all(await yard.events(items[0]?.id ?? ""), "message.user").at(-1);
}

/** Somebody chats at a folder of this machine, with a yard whose model answers by a script; left at the end. */
async function chatAt(
  t: TestContext,
  files: Parameters<typeof folderWith>[1],
  answers: readonly Answer[],
  options: TestYardOptions = {},
) {
  const folder = folderWith(t, files);
  const model = await modelServer(answers);
  const yard = await startYard({ model, ...options });
  const chat = startChat({ client: yard.client, place: placeOf(folder) });
  await chat.waitFor("You> ");
  return {
    ...{ folder, model, yard, chat },
    async [Symbol.asyncDispose]() {
      chat.leave();
      await chat.ended;
      await yard[Symbol.asyncDispose]();
      await model.close();
    },
  };
}

test("a file that a message names is uploaded first, and the agent is told of it [F3]", async (t) => {
  const written = { path: "outputs/sum.txt", content: "3" };
  await using here = await chatAt(t, { "数据.csv": "a,b\n1,2\n", "my notes.md": "# Notes\n" }, [
    calls(["write_file", written]),
    says("Three."),
    says("Again."),
    says("And again."),
  ]);
  const { chat, yard, folder } = here;
  const turn = await chat.say(`分析#数据.csv和#"my notes.md"，谢谢`, "\n\nYou> ");
  const lines = turn.split("\n").slice(1, 4);
  assert.deepEqual(lines, [
    "✓ 数据.csv → uploads/数据.csv (csv)",
    "✓ my notes.md → uploads/my notes.md (markdown)",
    `⚙ write_file ${JSON.stringify(written)}`,
  ]);
  assert.equal(turn.match(/^ {2}\+ .*$/m)?.[0], "  + outputs/sum.txt (1 byte)");
  assert.equal(turn.split("数据.csv").length, 4, "the upload is not told again as a change");
  const message = await lastMessage(yard);
  assert.match(message?.text ?? "", /^分析#数据\.csv和#"my notes\.md"，谢谢\n\n/);
  assert.deepEqual(
    message?.files?.map(({ path }) => path),
    ["uploads/数据.csv", "uploads/my notes.md"],
  );

  writeFileSync(join(folder, "数据.csv"), "a,b\n3,4\n");
  await chat.say("once more: #数据.csv", "✓ 数据.csv → uploads/数据.csv (csv), in place of the earlier one\n");
  await chat.waitFor("Again.");
  mkdirSync(join(folder, "b"));
  writeFileSync(join(folder, "b/数据.csv"), "b\n");
  await chat.say("#b/数据.csv", "✓ b/数据.csv → uploads/数据 (2).csv (csv); the earlier 数据.csv stays\n");
});

test("a file that is not there keeps the message back, and the line is there again to be corrected [F3]", async (t) => {
  await using here = await chatAt(t, { "data.csv": "1\n" }, [says("Fine.")]);
  const { chat, yard } = here;
  chat.type(`${keys.paste("#include <a/b.h>\r\n#x/y.txt")} and #./dta.csv`);
  await chat.waitFor("and #./dta.csv");
  chat.type(keys.enter);
  await chat.waitFor(
    "✗ #./dta.csv: there is no such file here or in uploads/ (did you mean ./data.csv?)\n→ Nothing was sent.",
  );
  await chat.waitFor("You> [paste 1: 2 lines] and #./dta.csv");
  assert.deepEqual((await must(yard.client.call("listConversations"))).items, [], "nothing was sent");
  await chat.say(`${keys.backspace.repeat("ta.csv".length)}ata.csv`, "✓ ./data.csv → uploads/data.csv (csv)\n");
  await chat.waitFor("Fine.");
  assert.match((await lastMessage(yard))?.text ?? "", /^#include <a\/b\.h>\n#x\/y\.txt and #\.\/data\.csv\n\n/);
});

test("tags, colours and code are sent as they are; what was nearly a file is pointed out [F3]", async (t) => {
  await using here = await chatAt(t, { "data.csv": "1\n", "src/a.ts": "" }, [says("Fine.")]);
  const { chat, yard } = here;
  const text = "#urgent: C# in #fff, `#a/b`, #12, #dta.csv, #src";
  chat.type(text + keys.enter);
  await chat.waitFor("! #dta.csv names no file (did you mean #data.csv?). It stays text.\n");
  await chat.waitFor("! #src is a folder; #src/ would send its files. It stays text.\n");
  await chat.waitFor("Fine.");
  const { text: sent, files } = (await lastMessage(yard)) ?? {};
  assert.deepEqual({ sent, files }, { sent: text, files: undefined });
});

test("one file that cannot be sent does not keep the others [F3][W5]", async (t) => {
  await using here = await chatAt(t, { "a.txt": "a" }, [says("Read.")]);
  const { chat, yard, folder } = here;
  execFileSync("mkfifo", [join(folder, "pipe")]);
  const said = await chat.say("look: #pipe #a.txt", "the message goes without them.\n");
  assert.deepEqual(said.split("\n").slice(1, -1), [
    "✗ pipe cannot be used: it is a pipe, a socket or a device. Choose another file.",
    "✓ a.txt → uploads/a.txt (text)",
    "! 1 of 2 files could not be sent; the message goes without them.",
  ]);
  await chat.waitFor("Read.");
  const message = await lastMessage(yard);
  assert.match(message?.text ?? "", /^look: #pipe #a\.txt\n/);
  assert.deepEqual(
    message?.files?.map(({ path }) => path),
    ["uploads/a.txt"],
  );
});

test("an upload that breaks off is sent again from its beginning when the server is back [F3][L7]", async (t) => {
  const folder = folderWith(t, { "a.txt": "all of it" });
  await using model = await modelServer([says("Fine.")]);
  await using yard = await startYard({ model });
  let broken = 0;
  const fetch: typeof yard.fetch = async (url, init) => {
    if (init.method !== "PUT" || broken === 1) return yard.fetch(url, init);
    broken += 1;
    if (init.body instanceof ReadableStream) await init.body.getReader().read();
    throw new TypeError("fetch failed");
  };
  await using chat = await openChat({ client: createClient({ fetch }), place: placeOf(folder) });
  await chat.say("read #a.txt", "! Connection lost; trying again. Nothing typed is lost.");
  await chat.waitFor("✓ a.txt → uploads/a.txt (text)\n");
  await chat.waitFor("Fine.");
  assert.match((await lastMessage(yard))?.text ?? "", /all of it/);
});

test("a queued message brings its files, and Tab completes their names [F3][U1]", async (t) => {
  await using here = await chatAt(t, { "data one.csv": "1\n", "docs/guide.md": "# Guide\n", ".hidden": "" }, [
    says("Fine."),
  ]);
  const { chat } = here;
  chat.type("/queue see #dat");
  await chat.waitFor("#dat");
  chat.type("\t");
  await chat.waitFor("a\\ one.csv");
  chat.type(" #docs/\t");
  await chat.waitFor("guide.md");
  chat.type(keys.enter);
  await chat.waitFor("✓ data one.csv → uploads/data one.csv (csv)\n✓ docs/guide.md → uploads/guide.md (markdown)\n");
  await chat.waitFor("Fine.");
  chat.type("/cl\t");
  await chat.waitFor("ean");
  chat.type(" l\t");
  await chat.waitFor("ist");
});

test("in a pipe the lines go to standard error, and a missing file is wrong usage [F3][P2]", async (t) => {
  const folder = folderWith(t, { "a.txt": "a" });
  await using model = await modelServer([says("One."), says("Two.")]);
  await using yard = await startYard({ model });
  const setting = { client: yard.client, place: placeOf(folder) };
  const pipe = openTestPipe("read #a.txt\nread #no/b.txt\nread on\n");
  assert.equal(await runInPipe(pipe, setting), 0);
  assert.equal(pipe.written.output, "One.\nTwo.\n");
  assert.equal(
    pipe.written.errors,
    "✓ a.txt → uploads/a.txt (text)\n✗ #no/b.txt: there is no such file here or in uploads/\n→ Nothing was sent. Correct the line; what stands in `backquotes` is plain text.\n",
  );
  assert.equal(await runInPipe(openTestPipe("read #no/b.txt\n"), setting), 2);
  assert.equal(model.asked.length, 2);
});

test("run takes files from the message and from --file; what is piped in names none [F3][P2]", async (t) => {
  const folder = folderWith(t, { "a.txt": "a", "b.md": "# b\n", "logs/1.log": "l\n" });
  await using model = await modelServer([says("Read.")]);
  await using yard = await startYard({ model });
  const pipe = openTestPipe("#include <x/y.h>\n#no/such.txt\n");
  const setting = { client: yard.client, place: placeOf(folder) };
  const command = { name: "run", output: "text", message: "sum up #a.txt", files: ["b.md", "logs/*.log"] } as const;
  assert.equal(await runInPipe(pipe, setting, command), 0);
  assert.deepEqual(pipe.written, {
    output: "Read.\n",
    errors: [
      ...["✓ a.txt → uploads/a.txt (text)", "✓ b.md → uploads/b.md (markdown)"],
      ...["✓ logs/1.log → uploads/1.log (text)", ""],
    ].join("\n"),
  });
  const { text = "", files } = (await lastMessage(yard)) ?? {};
  assert.match(text, /^sum up #a\.txt\n\n#include <x\/y\.h>\n#no\/such\.txt\n\n/);
  assert.deepEqual(
    files?.map(({ path }) => path),
    ["uploads/a.txt", "uploads/b.md", "uploads/1.log"],
  );
});

test("run with a file that is not there, or cannot be sent, does nothing and says so [F3][P2]", async (t) => {
  const folder = folderWith(t, {});
  execFileSync("mkfifo", [join(folder, "pipe")]);
  await using model = await modelServer([]);
  await using yard = await startYard({ model });
  const setting = { client: yard.client, place: placeOf(folder) };
  const run = async (message: string, files: readonly string[]) => {
    const pipe = openTestPipe("");
    const code = await runInPipe(pipe, setting, { name: "run", output: "json", message, files });
    const { conversation_id, finish, error } = JSON.parse(pipe.written.output);
    return { code, isNew: conversation_id !== null, finish, kind: error.kind, errors: pipe.written.errors };
  };
  const usage = { code: 2, isNew: false, finish: "failed", kind: "usage", errors: "" };
  assert.deepEqual(await run("read", ["a.txt"]), usage);
  assert.deepEqual(await run("", ["a.txt"]), usage);
  assert.deepEqual(await run("read", ["pipe"]), {
    ...{ code: 1, isNew: false, finish: "failed", kind: "permission_denied" },
    errors:
      "✗ pipe cannot be used: it is a pipe, a socket or a device. Choose another file.\n✗ No file could be sent, so the message was not sent either.\n",
  });
  assert.equal(model.asked.length, 0);
});

/** A chat at a folder of this machine, with its conversation's id once it is greeted. */
async function talk(client: TestYard["client"], folder: string) {
  const chat = startChat({ client, place: { folder, homeDir: folder } });
  const id = await chat.begin();
  return { ...chat, id };
}

async function uploadsOf({ client }: TestYard, id: string): Promise<Record<string, string>> {
  const { items } = await must(client.call("listFiles", { params: { id }, query: { path: "uploads" } }));
  const texts = items.map(async ({ name, path }) => {
    const { chunks } = await must(client.download(id, path));
    const pieces: Uint8Array[] = [];
    for await (const piece of chunks) pieces.push(piece);
    return [name, Buffer.concat(pieces).toString()] as const;
  });
  return Object.fromEntries(await Promise.all(texts));
}

/** A yard whose upload of one name begins and never ends. */
function stuckAt(name: string, fetch: Fetch) {
  let isBegun = false;
  const stuck: Fetch = (url, init) => {
    if (!url.includes(`/uploads/${name}?`)) return fetch(url, init);
    isBegun = true;
    return new Promise((_, reject) => {
      init.signal?.addEventListener("abort", () => reject(init.signal?.reason));
    });
  };
  return { client: createClient({ fetch: stuck }), isBegun: () => isBegun };
}

test("Esc during an upload removes what was new there, says what stays, and gives the line back [F3][L6]", async (t) => {
  const folder = folderWith(t, { "old.txt": "old", "new.txt": "new", "slow.txt": "slow" });
  await using model = await modelServer([says("Read."), says("Fine.")]);
  await using yard = await startYard({ model });
  const slow = stuckAt("slow.txt", yard.fetch);
  await using chat = await talk(slow.client, folder);
  await chat.say("#old.txt", "Read.\n\nYou> ");
  writeFileSync(join(folder, "old.txt"), "old, changed");
  await chat.say("#old.txt #new.txt #slow.txt", "✓ new.txt → uploads/new.txt (text)\n");
  await until("the last one has begun", slow.isBegun);
  chat.type(keys.escape);
  await chat.waitFor(
    "! Left there, in place of earlier files or because it could not be deleted: uploads/old.txt. /files rm PATH deletes one.\n✓ Withdrawn: #old.txt #new.txt #slow.txt\n",
  );
  await chat.waitFor("You> #old.txt #new.txt #slow.txt");
  assert.deepEqual(await uploadsOf(yard, chat.id), { "old.txt": "old, changed" });
  await chat.say(`${keys.backspace.repeat(" #slow.txt".length)}`, "✓ new.txt → uploads/new.txt (text)\n");
  await chat.waitFor("Fine.");
});

const scanned = { content: "q 100 0 0 100 0 0 cm BI /W 1 /H 1 /BPC 8 /CS /G ID x EI Q" };
const scan = pdf([{ content: printed(paragraph(700, ["Words of a first page"])) }, scanned]);

test("who sends a document is told what was read of it and what was not, and what would help [D4][F3]", async (t) => {
  const folder = folderWith(t, { "plain.txt": "words" });
  writeFileSync(join(folder, "scan.pdf"), scan);
  writeFileSync(join(folder, "torn.pdf"), scan.subarray(0, 60));
  await using model = await modelServer(() => says("Read."));
  await using yard = await startYard({ model });
  const client = yard.client;
  await using chat = await openChat({ client, place: { folder, homeDir: folder } });
  await chat.say("look #scan.pdf #torn.pdf #plain.txt", "scan.pdf → uploads/scan.pdf (pdf)");
  await chat.waitFor("  2 pages, 21 characters\n");
  await chat.waitFor("  ! 1 page is a picture (2) without text, a scan say");
  await chat.waitFor("torn.pdf → uploads/torn.pdf (pdf)");
  await chat.waitFor("  ! uploads/torn.pdf cannot be read as PDF: it is damaged or not whole.");
  const rest = await chat.waitFor("Read.");
  assert.doesNotMatch(rest, /plain\.txt \(text\)\n {2}/);
});
