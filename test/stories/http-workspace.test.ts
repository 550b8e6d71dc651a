// Runs alone: it measures the memory of its process.
import assert from "node:assert/strict";
import { once } from "node:events";
import { globSync } from "node:fs";
import { mkdir, readFile, symlink, truncate, writeFile } from "node:fs/promises";
import { request } from "node:http";
import { join } from "node:path";
import { test } from "node:test";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import fc from "fast-check";
import { systemClock } from "../../src/base/clock.ts";
import { ok } from "../../src/base/result.ts";
import { createClient, inProcessFetch } from "../../src/client/client.ts";
import { listen } from "../../src/http/http.ts";
import { Problem } from "../../src/protocol/resources.ts";
import { all, until } from "../world/events.ts";
import { allDoors, gather, sourceOf } from "../world/file-doors.ts";
import { hostilePath, marker } from "../world/hostile-paths.ts";
import { must, startYard, type TestYard } from "../world/yard.ts";

const MB = 1024 * 1024;

test("what a person uploads is listed, handed out and removed, and the ledger knows of it [W12][F3]", async () => {
  await using yard = await startYard();
  const { client } = yard;
  const { id } = await must(client.call("createConversation", { body: { id: "c" } }));
  const sent = await must(client.upload(id, "数据.csv", Buffer.from("a,b\n1,2\n")));
  assert.deepEqual(sent, { name: "数据.csv", path: "uploads/数据.csv", type: "csv", bytes: 8, replaced: false });
  assert.equal((await must(client.upload(id, "数据.csv", Buffer.from("c\n")))).replaced, true);
  assert.equal((await must(client.upload(id, "数据.csv", Buffer.from("d\n"), { keep: true }))).name, "数据 (2).csv");
  const names = async (path?: string) => {
    const query = path === undefined ? {} : { path };
    const { items } = await must(client.call("listFiles", { params: { id }, query }));
    assert.ok(items.every(({ modifiedAt }) => Number.isInteger(modifiedAt)));
    return items.map((item) => `${item.type} ${item.path} ${item.bytes}`);
  };
  assert.deepEqual(await names(), ["folder outputs 0", "folder skills 0", "folder temp 0", "folder uploads 0"]);
  assert.deepEqual(await names("uploads"), ["file uploads/数据 (2).csv 2", "file uploads/数据.csv 2"]);
  const received = await must(client.download(id, "uploads/数据.csv"));
  assert.equal(String(await gather(received.chunks)), "c\n");
  await must(client.call("removeFile", { params: { id }, query: { path: "uploads/数据.csv" } }));
  assert.deepEqual(await names("uploads"), ["file uploads/数据 (2).csv 2"]);
  assert.deepEqual(
    all(await yard.events(id), "file.changed").map(({ by, path, before, after }) => [
      by,
      path,
      before?.bytes,
      after?.bytes,
    ]),
    [
      ["upload", "uploads/数据.csv", undefined, 8],
      ["upload", "uploads/数据.csv", 8, 2],
      ["upload", "uploads/数据 (2).csv", undefined, 2],
      ["person", "uploads/数据.csv", 2, undefined],
    ],
  );
});

test("a file of the largest size goes through in little memory, one more byte is refused with the setting [F4]", async () => {
  await using yard = await startYard();
  await must(yard.client.call("createConversation", { body: { id: "c" } }));
  const size = 100 * MB;
  const memory = watchMemory(10 * MB);
  const sent = await must(yard.client.upload("c", "large.csv", sourceOf(size, "0,1\n"), { onProgress: memory.look }));
  assert.deepEqual([sent.bytes, sent.type], [size, "csv"]);
  const received = await must(yard.client.download("c", "uploads/large.csv"));
  let receivedBytes = 0;
  for await (const chunk of received.chunks) {
    receivedBytes += chunk.length;
    memory.look(size + receivedBytes);
  }
  assert.equal(receivedBytes, size);
  assert.equal(memory.held().length, 20);
  assert.deepEqual(
    memory.held().filter((bytes) => bytes > 40 * MB),
    [],
  );
  const refused = await yard.client.upload("c", "larger.csv", sourceOf(size + 1, "0,1\n"));
  assert.ok(!refused.ok);
  const { code, status, params } = refused.failure;
  const expected = { path: "uploads/larger.csv", sizeBytes: size + 1, limitBytes: size };
  assert.deepEqual([code, status, { ...params, setting: "" }], ["too_large", 413, { ...expected, setting: "" }]);
  assert.match(String(params.setting), /file_bytes_max|max_file_size/);
  assert.deepEqual(storedFiles(yard), ["workspace/c/uploads/large.csv"]);
});

test("a file that is announced as too large is refused before any of it is sent [F4]", async () => {
  await using yard = await startYard();
  await must(yard.client.call("createConversation", { body: { id: "c" } }));
  await using port = await openPort(yard);
  const headers = { "content-type": "application/octet-stream", "content-length": String(10 ** 13) };
  const announced = request(`${port.url}/api/v1/conversations/c/files/uploads/a.csv`, { method: "PUT", headers });
  announced.on("error", () => {}).flushHeaders();
  const [answer] = await once(announced, "response");
  const { code, params } = Problem.parse(JSON.parse(String(await gather(answer))));
  assert.deepEqual([answer.statusCode, code, params.sizeBytes], [413, "too_large", 10 ** 13]);
  announced.destroy();
});

test("an upload that breaks off leaves nothing behind: no file, no line in the ledger [F4][W11][Q2]", async () => {
  await using yard = await startYard();
  await must(yard.client.call("createConversation", { body: { id: "c" } }));
  await using doors = await allDoors(yard.app);
  for (const { client } of doors) {
    const stop = new AbortController();
    const onProgress = (sentBytes: number) => sentBytes > 3 * MB && stop.abort();
    const sent = await client.upload("c", "a.csv", sourceOf(2 ** 40, "0,1\n"), { signal: stop.signal, onProgress });
    assert.equal(sent.ok, false);
  }
  const announced = { "content-type": "application/octet-stream", "content-length": "1000" };
  await using port = await openPort(yard);
  const half = request(`${port.url}/api/v1/conversations/c/files/uploads/a.csv`, { method: "PUT", headers: announced });
  half.on("error", () => {});
  half.write("a,b\n");
  await until("the first half is here", () => staged(yard).length > 0);
  half.destroy();
  await until("it is thrown away", () => staged(yard).length === 0);
  assert.deepEqual([storedFiles(yard), all(await yard.events("c"), "file.changed")], [[], []]);
});

test("looking at, writing to or removing from an unknown conversation is 404 and makes nothing [C1][W2]", async () => {
  await using yard = await startYard();
  const before = everything(yard);
  const bytes = { method: "PUT", headers: { "content-type": "application/octet-stream" }, body: "x" };
  for (const [path, init] of [
    ["files", {}],
    ["files/content?path=uploads/a.txt", {}],
    ["files/content?path=uploads/a.txt", { method: "DELETE" }],
    ["files/uploads/a.txt", bytes],
    ["undo", { method: "POST" }],
  ] as const) {
    const response = await ask(yard, `/api/v1/conversations/nowhere/${path}`, init);
    assert.deepEqual([response.status, Problem.parse(await response.json()).code], [404, "conversation_not_found"]);
  }
  assert.deepEqual(everything(yard), before);
  await must(yard.client.call("createConversation", { body: { id: "mine" } }));
  const withMine = everything(yard);
  const stranger = createClient({ fetch: inProcessFetch(yard.app), actsAs: "ann" });
  const theirs = await stranger.upload("mine", "a.txt", Buffer.from("x"));
  assert.equal(theirs.ok || theirs.failure.code, "conversation_not_found");
  assert.deepEqual(everything(yard), withMine);
});

test("no name and no path in a request leads out of the workspace, however it is written [W5][S5][Q1]", async () => {
  await using yard = await startYard();
  await must(yard.client.call("createConversation", { body: { id: "c" } }));
  const outputs = join(yard.data, "workspace", "c", "outputs");
  const outside = join(yard.data, "outside");
  await mkdir(join(outputs, "inside"));
  await mkdir(outside);
  await writeFile(join(outside, "secret.txt"), "the secret");
  await writeFile(join(outside, marker), "the secret");
  await symlink(outside, join(outputs, "to-outside"));
  await symlink(join(outside, "secret.txt"), join(outputs, "to-secret"));
  await symlink("/", join(outputs, "to-root"));
  const files = "/api/v1/conversations/c/files";
  const isInside = (name: string) => name.startsWith("workspace/c/");
  const others = () => globSync("**", { cwd: yard.data }).filter((name) => name.includes(marker) && !isInside(name));
  const bytes = { method: "PUT", headers: { "content-type": "application/octet-stream" }, body: "text" };
  const seen = new Set<string>();
  await fc.assert(
    fc.asyncProperty(hostilePath(), async (path) => {
      const query = new URLSearchParams({ path }).toString();
      for (const [address, init] of [
        [`${files}?${query}`, {}],
        [`${files}/content?${query}`, {}],
        [`${files}/content?${query}`, { method: "DELETE" }],
        [`${files}/uploads/${encodeURIComponent(path.toWellFormed())}`, bytes],
        [`${files}/uploads/${encodeURI(path.toWellFormed()).replaceAll(/[?#]/g, "_")}`, bytes],
      ] as const) {
        const response = await ask(yard, address, init);
        const text = await response.text();
        assert.ok(response.status < 500, `${address}: ${text}`);
        assert.ok(!text.includes("the secret"), address);
        if (!response.ok) seen.add(Problem.parse(JSON.parse(text)).code);
      }
    }),
    { numRuns: 80 },
  );
  assert.deepEqual(others(), [`outside/${marker}`]);
  assert.equal(await readFile(join(outside, "secret.txt"), "utf8"), "the secret");
  const known = ["file_not_found", "path_invalid", "path_traversal_blocked", "permission_denied"];
  assert.deepEqual(
    known.filter((code) => !seen.has(code)),
    [],
  );
});

test("a download goes on with the content it began with when the file is replaced meanwhile [W11]", async () => {
  await using yard = await startYard();
  await must(yard.client.call("createConversation", { body: { id: "c" } }));
  await using doors = await allDoors(yard.app);
  for (const { client, name } of doors) {
    await must(client.upload("c", "a.csv", sourceOf(10 * MB, "old,\n")));
    const received = await must(client.download("c", "uploads/a.csv"));
    const kept: Uint8Array[] = [];
    for await (const chunk of received.chunks) {
      if (kept.length === 0) await must(client.upload("c", "a.csv", Buffer.from("new\n")));
      kept.push(chunk);
    }
    assert.ok(Buffer.concat(kept).equals(await gather(sourceOf(10 * MB, "old,\n"))), name);
    const again = await must(client.download("c", "uploads/a.csv"));
    assert.equal(String(await gather(again.chunks)), "new\n", name);
  }
});

test("a file that is cut short while it is handed out does not arrive as a whole one [Q2]", async () => {
  await using yard = await startYard();
  await must(yard.client.call("createConversation", { body: { id: "c" } }));
  await using doors = await allDoors(yard.app);
  for (const { client, name } of doors) {
    await must(client.upload("c", "a.csv", sourceOf(24 * MB, "0,1\n")));
    const received = await must(client.download("c", "uploads/a.csv"));
    await assert.rejects(
      async () => {
        let isFirst = true;
        for await (const _ of received.chunks) {
          if (isFirst) await truncate(join(yard.data, "workspace", "c", "uploads", "a.csv"), 100);
          isFirst = false;
        }
      },
      /^Error: uploads\/a\.csv could not be read: the transfer broke off/,
      name,
    );
    await must(client.call("removeFile", { params: { id: "c" }, query: { path: "uploads/a.csv" } }));
  }
});

test("unused files go to the trash and come back; a stranger's call moves only what is their own [W10][S7]", async () => {
  await using yard = await startYard();
  const ann = createClient({ fetch: inProcessFetch(yard.app), actsAs: "ann" });
  for (const client of [yard.client, ann]) {
    await must(client.call("createConversation", { body: { id: "c" } }));
    await must(client.upload("c", "a.csv", Buffer.from("1,2\n")));
  }
  const clean = (client: typeof ann) => client.call("cleanWorkspaces", { body: { days: 0 } });
  await until("a moment has passed", async () => (await must(clean(ann))).workspaces === 1);
  assert.deepEqual((await must(yard.client.call("listTrash"))).items, []);
  const [entry] = (await must(ann.call("listTrash"))).items;
  assert.ok(entry);
  const { conversation, files, bytes } = entry;
  assert.deepEqual({ conversation, files, bytes }, { conversation: "c", files: 1, bytes: 4 });
  const foreign = await yard.client.call("restoreTrash", { params: { trash: entry.id } });
  assert.equal(foreign.ok || foreign.failure.code, "trash_not_found");
  const restored = await ann.call("restoreTrash", { params: { trash: entry.id } });
  assert.deepEqual(restored, ok({ conversation: "c", files: 1, beside: [] }));
  const received = await must(ann.download("c", "uploads/a.csv"));
  assert.equal(String(await gather(received.chunks)), "1,2\n");
  // Who runs the installation cleans up after all of them.
  let cleaned = 0;
  await until("both are cleaned up", async () => {
    cleaned += (await must(clean(yard.client))).workspaces;
    return cleaned === 2;
  });
});

function ask(yard: TestYard, path: string, init: RequestInit): Promise<Response> {
  return Promise.resolve(yard.app.fetch(new Request(new URL(path, "http://localhost"), init)));
}

/** Every name below the data directory. */
function everything({ data }: TestYard): string[] {
  return globSync("**", { cwd: data }).sort();
}

/** What is really held, each time that so many more bytes went through. */
function watchMemory(everyBytes: number) {
  setFlagsFromString("--expose-gc");
  const collect: () => void = runInNewContext("gc");
  const held: number[] = [];
  const live = () => {
    collect();
    return process.memoryUsage().arrayBuffers;
  };
  const before = live();
  return {
    look: (bytes: number) => bytes >= everyBytes * (held.length + 1) && held.push(live() - before),
    held: () => held,
  };
}

/** The users' files on the disk, and those that are on their way there. */
function storedFiles({ data }: TestYard): string[] {
  const found = globSync("{workspace,workspaces}/**", { cwd: data, withFileTypes: true });
  const files = found.filter((entry) => entry.isFile() && entry.name !== ".metadata.json");
  return files.map((entry) => join(entry.parentPath, entry.name).slice(data.length + 1));
}

function staged({ data }: TestYard): string[] {
  return globSync("**/*", { cwd: data, withFileTypes: true }).flatMap((entry) =>
    entry.isFile() && /^[0-9a-f]{24}$/.test(entry.name) ? [entry.name] : [],
  );
}

async function openPort(yard: TestYard) {
  const server = await listen(yard.app, { host: "127.0.0.1", port: 0 }, { clock: systemClock });
  assert.ok(server.ok);
  return { url: server.value.address, [Symbol.asyncDispose]: server.value.close };
}
