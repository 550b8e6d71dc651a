import assert from "node:assert/strict";
import { globSync, mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { createClient, type Fetch } from "../../src/client/client.ts";
import { until } from "../world/events.ts";
import { folderWith } from "../world/folder.ts";
import { modelServer, says } from "../world/model-server.ts";
import { keys, openTestPipe, runInPipe, startChat } from "../world/pty.ts";
import { saidOf } from "../world/said.ts";
import { must, startYard, type TestYard } from "../world/yard.ts";

/** A chat in a conversation that has files, in front of a folder of this machine. */
async function talk(yard: TestYard, folder: string, files: Readonly<Record<string, string>>, client = yard.client) {
  const { id } = await must(yard.client.call("createConversation", { body: {} }));
  for (const [name, text] of Object.entries(files)) await must(yard.client.upload(id, name, Buffer.from(text)));
  const chat = startChat({ client, place: { folder, homeDir: join(folder, "home") }, command: { going: { id } } });
  await chat.waitFor("You> ");
  const say = async (line: string) => {
    chat.type(line + keys.enter);
    const answer = await chat.waitFor("\nYou> ");
    return answer.slice(line.length + 1, -"\nYou> ".length);
  };
  const end = () => {
    chat.leave();
    return chat.ended;
  };
  return { ...chat, id, say, end };
}

const textsIn = (folder: string) =>
  Object.fromEntries(
    globSync("**", { cwd: folder, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map(({ parentPath, name }) => [join(parentPath, name).slice(folder.length + 1), join(parentPath, name)] as const)
      .map(([path, file]) => [path, readFileSync(file, "utf8")]),
  );

test("/save copies a file to the current folder, under another name, into a folder, or to one's home [U1][F2]", async (t) => {
  const folder = folderWith(t, { "sub/": "", "home/": "" });
  await using yard = await startYard();
  const chat = await talk(yard, folder, { "a.txt": "1234", "two words.txt": "tw" });
  assert.equal(await chat.say("/save uploads/a.txt"), "✓ uploads/a.txt → a.txt (4 bytes)");
  assert.equal(await chat.say("/save uploads/a.txt b.txt"), "✓ uploads/a.txt → b.txt (4 bytes)");
  assert.equal(await chat.say("/save uploads/a.txt sub"), "✓ uploads/a.txt → sub/a.txt (4 bytes)");
  assert.equal(await chat.say("/save uploads/a.txt new/c.txt"), "✓ uploads/a.txt → new/c.txt (4 bytes)");
  assert.equal(
    await chat.say('/save "uploads/two words.txt" ~/'),
    "✓ uploads/two words.txt → home/two words.txt (2 bytes)",
  );
  assert.equal(await chat.say("/save uploads/two\\ words.txt 'x y'"), "✓ uploads/two words.txt → x y (2 bytes)");
  const four = "1234";
  assert.deepEqual(textsIn(folder), {
    ...{ "a.txt": four, "b.txt": four, "sub/a.txt": four, "new/c.txt": four },
    ...{ "home/two words.txt": "tw", "x y": "tw" },
  });
  await chat.end();
});

test("/save replaces nothing unless it is told to [U1][F2]", async (t) => {
  const folder = folderWith(t, { "a.txt": "mine", "uploads/b.txt": "mine too", "dir/": "" });
  await using yard = await startYard();
  const chat = await talk(yard, folder, { "a.txt": "theirs", "b.txt": "b" });
  const refused = (path: string) => `✗ Already here, and nothing was saved: ${path}. /save -f replaces them.`;
  assert.equal(await chat.say("/save uploads/a.txt"), refused("a.txt"));
  assert.equal(await chat.say("/save uploads"), refused("uploads/b.txt"));
  assert.deepEqual(textsIn(folder), { "a.txt": "mine", "uploads/b.txt": "mine too" });
  assert.equal(await chat.say("/save -f uploads/a.txt"), "✓ uploads/a.txt → a.txt (6 bytes)");
  mkdirSync(join(folder, "dir/a.txt"));
  assert.match(await chat.say("/save -f uploads/a.txt dir"), /^✗ dir\/a\.txt is not a file\. /);
  assert.deepEqual(textsIn(folder), { "a.txt": "theirs", "uploads/b.txt": "mine too" });
  await chat.end();
});

test("/save of a folder copies all files of it, below its own name or another [U1][F2]", async (t) => {
  const folder = folderWith(t, {});
  await using model = await modelServer([
    {
      calls: ["outputs/a.txt", "outputs/sub/b.txt"].map((path, index) => ({
        ...{ id: `c${index}`, name: "write_file", arguments: JSON.stringify({ path, content: path }) },
      })),
    },
    says("Done."),
  ]);
  await using yard = await startYard({ model });
  const chat = await talk(yard, folder, {});
  await chat.say("write");
  assert.equal(await chat.say("/save outputs/"), "✓ outputs/ → outputs/ (2 files, 30 bytes)");
  assert.equal(await chat.say("/save outputs copy/of/it"), "✓ outputs/ → copy/of/it/ (2 files, 30 bytes)");
  assert.equal(await chat.say("/save temp"), "No files here.");
  const [a, b] = ["outputs/a.txt", "outputs/sub/b.txt"];
  assert.deepEqual(textsIn(folder), { [a]: a, [b]: b, "copy/of/it/a.txt": a, "copy/of/it/sub/b.txt": b });
  await chat.end();
});

test("/save says what it cannot do: no such file, a path outside, a file in place of a folder [U1][W5]", async (t) => {
  const folder = folderWith(t, { file: "" });
  await using yard = await startYard();
  const chat = await talk(yard, folder, { "a.txt": "1" });
  const how =
    '✗ Use /save PATH [TO], or /save -f PATH [TO] to replace what is there. A name with blanks: "two words.txt".';
  assert.equal(await chat.say("/save"), how);
  assert.equal(await chat.say("/save a b c"), how);
  assert.match(await chat.say("/save uploads/b.txt"), /^✗ There is no file uploads\/b\.txt\. /);
  assert.match(
    await chat.say("/save ../../etc/passwd"),
    /^✗ The path \.\.\/\.\.\/etc\/passwd leads out of the workspace\. /,
  );
  assert.match(await chat.say("/save uploads/a.txt file/b.txt"), /^✗ file\/b\.txt is not a file\. /);
  assert.deepEqual(textsIn(folder), { file: "" });
  await chat.say("/new");
  assert.equal(await chat.say("/save uploads/a.txt"), "No files here.");
  await chat.end();
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

test("/save says at once, and once, where it cannot even look whether something is there, and fetches nothing [U1]", async (t) => {
  const folder = folderWith(t, {});
  await using yard = await startYard();
  const slow = slowDownloads(yard.fetch);
  slow.letGo();
  const chat = await talk(yard, folder, { "a.txt": "1", "b.txt": "2" }, slow.client);
  const long = "x".repeat(300);
  for (const wish of [`uploads/a.txt ${long}`, `uploads ${long}`]) {
    const said = await chat.say(`/save ${wish}`);
    assert.match(said, /^✗ x+…\S* could not be written: /);
    assert.equal(said.split("✗").length, 2);
  }
  assert.deepEqual([slow.hasBegun(), textsIn(folder)], [false, {}]);
  await chat.end();
});

test("Esc stops saving, and nothing half is left; a large file shows how far it is [U1][L6]", async (t) => {
  const folder = folderWith(t, { "a.txt": "mine" });
  await using yard = await startYard();
  const slow = slowDownloads(yard.fetch);
  const chat = await talk(yard, folder, { "a.txt": "0123456789\n".repeat(600_000) }, slow.client);
  chat.type(`/save -f uploads/a.txt${keys.enter}`);
  await until("it has begun", slow.hasBegun);
  chat.type(`/save uploads/a.txt b.txt${keys.enter}`);
  await chat.waitFor("✗ Another file is being saved; wait for it, or stop it with Esc.\n");
  chat.type(keys.escape);
  await chat.waitFor("■ Stopped; what was not complete is not kept.\n");
  await chat.waitFor("You> ");
  assert.deepEqual(textsIn(folder), { "a.txt": "mine" });
  assert.deepEqual(globSync(".*", { cwd: folder }), []);
  slow.letGo();
  chat.type(`/save -f uploads/a.txt${keys.enter}`);
  await chat.waitFor("↓ uploads/a.txt: 100 % of 6.3 MB");
  await chat.waitFor("✓ uploads/a.txt → a.txt (6.3 MB)\n");
  await chat.end();
});

test("a download that breaks off leaves what was there [U1][L7]", async (t) => {
  const folder = folderWith(t, { "a.txt": "mine" });
  await using yard = await startYard();
  const fetch: Fetch = async (url, init) => {
    const response = await yard.fetch(url, init);
    if (!url.includes("/files/content")) return response;
    const cut = new ReadableStream<Uint8Array>({ start: (controller) => controller.close() });
    return new Response(cut, response);
  };
  const chat = await talk(yard, folder, { "a.txt": "theirs" }, createClient({ fetch }));
  const said = saidOf("read_failed", { path: "uploads/a.txt", why: "broken_off" });
  const told = await chat.say("/save -f uploads/a.txt");
  assert.ok(told.startsWith(`✗ ${said} `), told);
  assert.deepEqual(textsIn(folder), { "a.txt": "mine" });
  await chat.end();
});

test("who leaves while a file is being saved leaves nothing half behind [U1]", async (t) => {
  const folder = folderWith(t, {});
  await using yard = await startYard();
  const slow = slowDownloads(yard.fetch);
  const chat = await talk(yard, folder, { "a.txt": "1234".repeat(100_000) }, slow.client);
  chat.type(`/save uploads/a.txt${keys.enter}`);
  await until("it has begun", slow.hasBegun);
  chat.type(`/quit${keys.enter}`);
  assert.equal(await chat.ended, 0);
  assert.deepEqual([textsIn(folder), globSync(".*", { cwd: folder })], [{}, []]);
});

test("in a pipe the next line waits until a file is saved [U1][P2]", async (t) => {
  const folder = folderWith(t, {});
  await using model = await modelServer([says("Hi.")]);
  await using yard = await startYard({ model });
  const { conversation } = await yard.ask("hi");
  await must(yard.client.upload(conversation, "a.txt", Buffer.from("1234")));
  const pipe = openTestPipe("/save uploads/a.txt\n/save uploads/a.txt\n");
  const setting = { client: yard.client, place: { folder, homeDir: folder } };
  assert.equal(await runInPipe(pipe, setting, { name: "chat", going: { id: conversation } }), 0);
  const told = pipe.written.output.split("\n").slice(-3);
  assert.deepEqual(told, [
    "✓ uploads/a.txt → a.txt (4 bytes)",
    "✗ Already here, and nothing was saved: a.txt. /save -f replaces them.",
    "",
  ]);
});

test("/save of a folder with more than ten thousand files asks for a smaller one [U1]", async (t) => {
  const folder = folderWith(t, {});
  await using yard = await startYard();
  const fetch: Fetch = (url, init) => {
    const { pathname, searchParams } = new URL(url);
    if (!pathname.endsWith("/files")) return yard.fetch(url, init);
    const start = Number(searchParams.get("after") ?? 0);
    const items = Array.from({ length: 2_000 }, (_, index) => ({
      ...{ name: `${start + index}`, path: `outputs/${start + index}`, type: "file", bytes: 1, modifiedAt: 0 },
    }));
    return Promise.resolve(Response.json({ path: "outputs", items, next: `${start + 2_000}` }));
  };
  const chat = await talk(yard, folder, {}, createClient({ fetch }));
  assert.equal(await chat.say("/save outputs"), "✗ outputs/ has more than 10000 files; save a smaller folder.");
  assert.deepEqual(textsIn(folder), {});
  const listed = (await chat.say("/files outputs")).split("\n");
  assert.deepEqual([listed.length, listed.at(-1)], [201, "  … and at least 1800 more"]);
  await chat.end();
});
