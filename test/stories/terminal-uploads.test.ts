import assert from "node:assert/strict";
import { truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { systemIds } from "../../src/base/ids.ts";
import { createClient, type Fetch } from "../../src/client/client.ts";
import { runCommand } from "../../src/terminal/terminal.ts";
import { wordsFor } from "../../src/words/words.ts";
import { all, until } from "../world/events.ts";
import { folderWith } from "../world/folder.ts";
import { manualClock } from "../world/manual-clock.ts";
import { modelServer, says } from "../world/model-server.ts";
import { keys, openTestTerminal, startChat } from "../world/pty.ts";
import { must, startYard, type TestYard } from "../world/yard.ts";

/** A chat at a folder of this machine, with its conversation's id once it is greeted. */
async function talk(client: TestYard["client"], folder: string) {
  const chat = startChat({ client, place: { folder, homeDir: folder } });
  const id = /[0-9a-f-]{36}/.exec(await chat.waitFor("You> "))?.[0] ?? "";
  const say = async (line: string, wanted: string | RegExp) => {
    chat.type(line + keys.enter);
    return chat.waitFor(wanted);
  };
  const end = () => {
    chat.leave();
    return chat.ended;
  };
  return { ...chat, id, say, end };
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

test("another file of the same name lies beside the earlier one; the same file takes its own place [F3]", async (t) => {
  const folder = folderWith(t, { "a/data.csv": "a\n", "b/data.csv": "b\n" });
  await using model = await modelServer(Array.from({ length: 4 }, () => says("Read.")));
  await using yard = await startYard({ model });
  const chat = await talk(yard.client, folder);
  await chat.say("#a/data.csv", "✓ a/data.csv → uploads/data.csv (csv)\n");
  await chat.say("#b/data.csv", "✓ b/data.csv → uploads/data (2).csv (csv); the earlier data.csv stays\n");
  writeFileSync(join(folder, "b/data.csv"), "b again\n");
  await chat.say("#b/data.csv", "✓ b/data.csv → uploads/data (2).csv (csv), in place of the earlier one\n");
  assert.deepEqual(await uploadsOf(yard, chat.id), { "data.csv": "a\n", "data (2).csv": "b again\n" });
  // One that comes while another is answered may be answered with it.
  assert.equal((await yard.whenAtRest(chat.id)).answer, "Read.");
  await chat.end();
});

test("a file that was sent before another conversation was opened is still known in the first [F3][U1]", async (t) => {
  const folder = folderWith(t, { "data.csv": "1\n" });
  await using model = await modelServer([says("Read."), says("Here too."), says("Again.")]);
  await using yard = await startYard({ model });
  const chat = await talk(yard.client, folder);
  await chat.say("#data.csv", "Read.\n\nYou> ");
  await chat.say("/new", "You> ");
  await chat.say("#data.csv", "✓ data.csv → uploads/data.csv (csv)\n");
  await chat.waitFor("Here too.\n\nYou> ");
  await chat.say(`/load ${chat.id}`, "Read.\nYou> ");
  await chat.say("#data.csv", "✓ data.csv → uploads/data.csv (csv), in place of the earlier one\n");
  await chat.waitFor("Again.");
  await chat.end();
});

for (const [name, key] of [
  ["Esc", keys.escape],
  ["Ctrl+C", keys.interrupt],
] as const) {
  test(`${name} during an upload removes what was new there, says what stays, and gives the line back [F3][L6]`, async (t) => {
    const folder = folderWith(t, { "old.txt": "old", "new.txt": "new", "slow.txt": "slow" });
    await using model = await modelServer([says("Read."), says("Fine.")]);
    await using yard = await startYard({ model });
    const slow = stuckAt("slow.txt", yard.fetch);
    const chat = await talk(slow.client, folder);
    await chat.say("#old.txt", "Read.\n\nYou> ");
    writeFileSync(join(folder, "old.txt"), "old, changed");
    await chat.say("#old.txt #new.txt #slow.txt", "✓ new.txt → uploads/new.txt (text)\n");
    await until("the last one has begun", slow.isBegun);
    chat.type(key);
    await chat.waitFor(
      "! Left there, in place of earlier files or because it could not be deleted: uploads/old.txt. /files rm PATH deletes one.\n✓ Withdrawn: #old.txt #new.txt #slow.txt\n",
    );
    await chat.waitFor("You> #old.txt #new.txt #slow.txt");
    assert.deepEqual(await uploadsOf(yard, chat.id), { "old.txt": "old, changed" });
    chat.type(`${keys.backspace.repeat(" #slow.txt".length)}${keys.enter}`);
    await chat.waitFor("✓ new.txt → uploads/new.txt (text)\n");
    await chat.waitFor("Fine.");
    await chat.end();
  });
}

test("the line that comes back is the one that was stopped, with its paste, whatever was typed since [F3][U1]", async (t) => {
  const folder = folderWith(t, { "slow.txt": "slow" });
  await using yard = await startYard();
  const slow = stuckAt("slow.txt", yard.fetch);
  const chat = await talk(slow.client, folder);
  chat.type(keys.paste("#include <a.h>\r\nint x;"));
  await chat.say(" see #slow.txt", "see #slow.txt");
  await until("the upload has begun", slow.isBegun);
  await chat.say("/current", "Current session: ");
  chat.type(keys.escape);
  await chat.waitFor("✓ Withdrawn: ");
  await chat.waitFor("You> [paste 1: 2 lines] see #slow.txt");
  await chat.end();
});

test("a queued message that was stopped comes back with its command [F3][U1]", async (t) => {
  const folder = folderWith(t, { "slow.txt": "slow" });
  await using yard = await startYard();
  const slow = stuckAt("slow.txt", yard.fetch);
  const chat = await talk(slow.client, folder);
  await chat.say("/queue see #slow.txt", "#slow.txt");
  await until("the upload has begun", slow.isBegun);
  chat.type(keys.escape);
  await chat.waitFor("✓ Withdrawn: see #slow.txt\n");
  await chat.waitFor("You> /queue see #slow.txt");
  await chat.end();
});

for (const [language, said] of [
  [
    "en",
    "uploads/large.txt has 64 MB or more; the limit is 1 MB. Use a smaller file, or raise uploads.file_bytes_max in config/agentyard.yaml.",
  ],
  [
    "zh",
    "uploads/large.txt 至少有 64 MB，上限是 1 MB。请使用小一些的文件，或者在 config/agentyard.yaml 中调高 uploads.file_bytes_max。",
  ],
] as const) {
  test(`a file that is too large is refused before it is sent, in sizes that people read (${language}) [F3][F4]`, async (t) => {
    const folder = folderWith(t, { "large.txt": "" });
    truncateSync(join(folder, "large.txt"), 64 * 1024 * 1024);
    await using yard = await startYard({ env: { AGENTYARD_UPLOAD_FILE_BYTES_MAX: "1048576" } });
    let sentBytes = 0;
    const fetch: Fetch = (url, init) => {
      const { body } = init;
      if (!(body instanceof ReadableStream)) return yard.fetch(url, init);
      const count = new TransformStream<Uint8Array, Uint8Array>(
        {
          transform(chunk, controller) {
            sentBytes += chunk.length;
            controller.enqueue(chunk);
          },
        },
        undefined,
        { highWaterMark: 0 },
      );
      return yard.fetch(url, { ...init, body: body.pipeThrough(count) });
    };
    const client = createClient({ fetch, language });
    const chat = startChat({ client, place: { folder, homeDir: folder }, language });
    await chat.waitFor("You> ");
    chat.type(`#large.txt${keys.enter}`);
    await chat.waitFor(said);
    // What is on its way to another server when that one refuses is some megabytes.
    assert.ok(sentBytes < 16 * 1024 * 1024, `${sentBytes} bytes were sent`);
    chat.leave();
    await chat.ended;
  });
}

test("a file that becomes shorter while it is sent is not taken for a whole one [F3]", async (t) => {
  const folder = folderWith(t, { "log.txt": "x".repeat(1_000_000) });
  await using yard = await startYard();
  const fetch: Fetch = (url, init) => {
    if (init.method === "PUT") truncateSync(join(folder, "log.txt"), 10);
    return yard.fetch(url, init);
  };
  const chat = await talk(createClient({ fetch }), folder);
  await chat.say("#log.txt", "✗ log.txt could not be read: it was changed in the meantime. ");
  await chat.waitFor("You> #log.txt");
  assert.deepEqual(await uploadsOf(yard, chat.id), {});
  await chat.end();
});

test("a file without a size, as the system makes them up, is sent in full [F3]", async (t) => {
  const folder = folderWith(t, {});
  await using model = await modelServer([says("Read.")]);
  await using yard = await startYard({ model });
  const chat = await talk(yard.client, folder);
  await chat.say("#/proc/version", "✓ /proc/version → uploads/version (text)\n");
  assert.match((await uploadsOf(yard, chat.id)).version ?? "", /^Linux version /);
  await chat.end();
});

test("how far a file is, is told in a narrow terminal too: the name is cut to what is left [F3][U1]", async (t) => {
  const name = `${"销售数据".repeat(10)}.txt`;
  const folder = folderWith(t, { [name]: "0123456789\n".repeat(600_000) });
  await using model = await modelServer([says("Read.")]);
  await using yard = await startYard({ model });
  const terminal = openTestTerminal({ columns: 40 });
  const leave = new AbortController();
  const ended = runCommand(
    { name: "chat" },
    {
      ...{
        ...terminal.streams,
        client: yard.client,
        words: wordsFor("en"),
        clock: manualClock(),
        ids: systemIds,
      },
      ...{ version: "0", color: false, hasKeys: true, leave: leave.signal, place: { folder, homeDir: folder } },
    },
  );
  await terminal.waitFor("You> ");
  terminal.type(`#"${name}"${keys.enter}`);
  await terminal.waitFor("↑ 销售数据销售数据销…: 100 % of 6.3 MB");
  leave.abort();
  await ended;
});

test("a pasted line may name a file, pasted lines do not [F3]", async (t) => {
  const folder = folderWith(t, { "a.txt": "a", "b.txt": "b" });
  await using model = await modelServer([says("Read.")]);
  await using yard = await startYard({ model });
  const chat = await talk(yard.client, folder);
  chat.type(`${keys.paste("read #a.txt")} ${keys.paste("see\r\n#b.txt")}`);
  await chat.waitFor("[paste 1: 2 lines]");
  await chat.say("", "✓ a.txt → uploads/a.txt (text)\n");
  await chat.waitFor("Read.");
  const [message] = all(await yard.events(chat.id), "message.user");
  assert.match(message?.text ?? "", /^read #a\.txt see\n#b\.txt\n\n/);
  assert.deepEqual(Object.keys(await uploadsOf(yard, chat.id)), ["a.txt"]);
  await chat.end();
});

test("Tab completes names with Chinese marks, open quotes and the wide number sign, and they are sent [F3][U1]", async (t) => {
  const folder = folderWith(t, {
    "《报告》：终稿.md": "# 1\n",
    "two words.txt": "2\n",
    "数据，一.csv": "3\n",
    "-x.txt": "4\n",
  });
  await using model = await modelServer([says("Read.")]);
  await using yard = await startYard({ model });
  const chat = await talk(yard.client, folder);
  chat.type("看#《报\t");
  await chat.waitFor("#\\《报告\\》\\：终稿.md");
  chat.type('和#"two\t');
  await chat.waitFor('和#"two words.txt"');
  chat.type("，＃数\t");
  await chat.waitFor("，#数据\\，一.csv");
  chat.type(" #-\t");
  await chat.waitFor(' #"-x.txt"');
  await chat.say("", "✓ 《报告》：终稿.md → uploads/《报告》：终稿.md (markdown)\n✓ two words.txt → ");
  await chat.waitFor("Read.");
  assert.deepEqual(Object.keys(await uploadsOf(yard, chat.id)).sort(), [
    ...["-x.txt", "two words.txt", "《报告》：终稿.md", "数据，一.csv"],
  ]);
  await chat.end();
});
