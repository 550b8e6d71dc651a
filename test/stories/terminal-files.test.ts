import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { createClient } from "../../src/client/client.ts";
import { all, until } from "../world/events.ts";
import { folderWith } from "../world/folder.ts";
import { type Answer, calls, modelServer, says } from "../world/model-server.ts";
import { keys, openTestPipe, runInPipe, startChat } from "../world/pty.ts";
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
  ]);
  const { chat, yard, folder } = here;
  chat.type(`分析#数据.csv和#"my notes.md"，谢谢${keys.enter}`);
  const turn = await chat.waitFor("\n\nYou> ");
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
  chat.type(`once more: #数据.csv${keys.enter}`);
  await chat.waitFor("✓ 数据.csv → uploads/数据.csv (csv), in place of the earlier one\n");
  await chat.waitFor("Again.");
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
  chat.type(`${keys.backspace.repeat("ta.csv".length)}ata.csv${keys.enter}`);
  await chat.waitFor("✓ ./data.csv → uploads/data.csv (csv)\n");
  await chat.waitFor("Fine.");
  assert.match((await lastMessage(yard))?.text ?? "", /^#include <a\/b\.h>\n#x\/y\.txt and #\.\/data\.csv\n\n/);
});

test("several lines that are kept back can be sent again as they are [F3]", async (t) => {
  await using here = await chatAt(t, { "work/": "" }, [says("Fine.")]);
  const { chat, yard, folder } = here;
  chat.type(`look at${keys.newline}#work/a.txt${keys.enter}`);
  await chat.waitFor("✗ #work/a.txt: ");
  await chat.waitFor("...> #work/a.txt");
  writeFileSync(join(folder, "work/a.txt"), "here now");
  chat.type(keys.enter);
  await chat.waitFor("Fine.");
  assert.match((await lastMessage(yard))?.text ?? "", /^look at\n#work\/a\.txt\n\n/);
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

test("files of which none can be sent keep the message back too [F3][F4]", async (t) => {
  await using here = await chatAt(
    t,
    { "a.txt": "a", "b.zip": Buffer.from("PK\u0003\u0004\u0000\u0000") },
    [says("Fine.")],
    { env: { AGENTYARD_UPLOADS_TYPES: "csv,text" } },
  );
  const { chat, yard, folder } = here;
  execFileSync("mkfifo", [join(folder, "pipe")]);
  chat.type(`look: #pipe #b.zip${keys.enter}`);
  const refused = await chat.waitFor("\nYou> look: #pipe #b.zip");
  assert.match(refused, /✗ pipe cannot be used: it is a pipe, a socket or a device\. Choose another file\.\n/);
  assert.match(refused, /✗ b\.zip: .*b\.zip is of a type that is not taken .+\n/);
  assert.match(refused, /✗ No file could be sent, so the message was not sent either\.\n/);
  assert.equal(await lastMessage(yard), undefined);
});

test("one file that cannot be sent does not keep the others [F3][W5]", async (t) => {
  await using here = await chatAt(t, { "a.txt": "a" }, [says("Read.")]);
  const { chat, yard, folder } = here;
  execFileSync("mkfifo", [join(folder, "pipe")]);
  chat.type(`look: #pipe #a.txt${keys.enter}`);
  const said = await chat.waitFor("the message goes without them.\n");
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

test("a large file shows how far it is, and the line goes away again [F3]", async (t) => {
  await using here = await chatAt(t, { "large.txt": "0123456789\n".repeat(600_000), "small.txt": "x" }, [
    says("Much."),
  ]);
  const { chat } = here;
  chat.type(`#large.txt #small.txt${keys.enter}`);
  await chat.waitFor(/↑ large\.txt: \d+ % of 6\.3 MB/);
  await chat.waitFor("↑ large.txt: 100 % of 6.3 MB");
  await chat.waitFor("✓ large.txt → uploads/large.txt (text)\n");
  await chat.waitFor("Much.");
  assert.ok(!chat.text().includes("↑ small.txt"));
  assert.ok(chat.raw().includes("100 % of 6.3 MB\u001b[1G\u001b[2K"), "the line is gone");
});

/** A yard whose uploads begin and go on only when they are let go. */
function slowUploads(yard: TestYard) {
  const { promise: letGo, resolve } = Promise.withResolvers<void>();
  let begun = 0;
  const fetch: typeof yard.fetch = async (url, init) => {
    if (init.method !== "PUT") return yard.fetch(url, init);
    begun += 1;
    const { promise: stopped, reject } = Promise.withResolvers<void>();
    init.signal?.addEventListener("abort", () => reject(init.signal?.reason));
    await Promise.race([letGo, stopped]);
    return yard.fetch(url, init);
  };
  return { client: createClient({ fetch }), letGo: resolve, begun: () => begun === 1 };
}

test("Esc stops an upload, the message is not sent, and its line is there again [F3][L6]", async (t) => {
  const folder = folderWith(t, { "a.txt": "a" });
  await using model = await modelServer([says("Fine.")]);
  await using yard = await startYard({ model });
  const slow = slowUploads(yard);
  const chat = startChat({ client: slow.client, place: placeOf(folder) });
  await chat.waitFor("You> ");
  chat.type(`read #a.txt${keys.enter}`);
  await until("the upload has begun", slow.begun);
  chat.type(keys.escape);
  await chat.waitFor("✓ Withdrawn: read #a.txt\n");
  await chat.waitFor("You> read #a.txt");
  chat.type(`${keys.backspace.repeat("#a.txt".length)}nothing${keys.enter}`);
  await chat.waitFor("Fine.");
  assert.equal((await lastMessage(yard))?.text, "read nothing");
  chat.leave();
  await chat.ended;
});

test("who leaves during an upload is told that the message was withdrawn [F3][U1]", async (t) => {
  const folder = folderWith(t, { "a.txt": "a" });
  await using yard = await startYard();
  const slow = slowUploads(yard);
  const chat = startChat({ client: slow.client, place: placeOf(folder) });
  await chat.waitFor("You> ");
  chat.type(`read #a.txt${keys.enter}`);
  await until("the upload has begun", slow.begun);
  chat.type(`/quit${keys.enter}`);
  assert.equal(await chat.ended, 0);
  assert.match(chat.text(), /\/quit\n✓ Withdrawn: read #a\.txt\n/);
  assert.ok(!chat.text().includes("goes on at the next start"));
  assert.equal(await lastMessage(yard), undefined);
});

test("who goes on to another conversation during an upload loses nothing [F3][U1]", async (t) => {
  const folder = folderWith(t, { "a.txt": "a" });
  await using model = await modelServer([says("Read.")]);
  await using yard = await startYard({ model });
  const slow = slowUploads(yard);
  const chat = startChat({ client: slow.client, place: placeOf(folder) });
  await chat.waitFor("You> ");
  chat.type(`read #a.txt${keys.enter}`);
  await until("the upload has begun", slow.begun);
  chat.type(`/new${keys.enter}`);
  await chat.waitFor("The turn there goes on; /load ");
  slow.letGo();
  await until("the message is there", async () => (await lastMessage(yard)) !== undefined);
  await until("and answered", () => model.asked.length === 1);
  chat.leave();
  await chat.ended;
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
  const chat = startChat({ client: createClient({ fetch }), place: placeOf(folder) });
  await chat.waitFor("You> ");
  chat.type(`read #a.txt${keys.enter}`);
  await chat.waitFor("! Connection lost; trying again. Nothing typed is lost.");
  await chat.waitFor("✓ a.txt → uploads/a.txt (text)\n");
  await chat.waitFor("Fine.");
  assert.match((await lastMessage(yard))?.text ?? "", /all of it/);
  chat.leave();
  await chat.ended;
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
