import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { once } from "node:events";
import { globSync, readdirSync, statSync, truncateSync, utimesSync } from "node:fs";
import { mkdir, readFile, symlink, writeFile } from "node:fs/promises";
import { request } from "node:http";
import { join } from "node:path";
import { test } from "node:test";
import fc from "fast-check";
import { systemClock } from "../../src/base/clock.ts";
import { ok } from "../../src/base/result.ts";
import { createClient, inProcessFetch } from "../../src/client/client.ts";
import { listen } from "../../src/http/http.ts";
import { localOwner } from "../../src/protocol/ids.ts";
import { Problem } from "../../src/protocol/resources.ts";
import { all, until } from "../world/events.ts";
import { allDoors, gather, sourceOf } from "../world/file-doors.ts";
import { hostilePath, marker } from "../world/hostile-paths.ts";
import { onPort } from "../world/http-reading.ts";
import { openFiles } from "../world/open-files.ts";
import { must, startYard, type TestYard } from "../world/yard.ts";

const MB = 1024 * 1024;
/** What the network and the streams on the way may hold of a file: far less than the file. */
const underWayBytesMax = 16 * MB;

test("a file goes up and comes down as it was, in one process, over a port and over the local socket [F3][C7]", async () => {
  await using yard = await startYard();
  await yard.start("c");
  await using doors = await allDoors(yard.app);
  for (const { name, client } of doors) {
    const bytes = Buffer.from(lines(3 * MB + 17, name));
    const file = `${name} 数据#1?100%.csv`;
    const progress: number[] = [];
    const parts = ReadableStream.from([bytes.subarray(0, 5), new Uint8Array(), bytes.subarray(5)]);
    const sent = await client.upload("c", file, parts, { onProgress: (sentBytes) => progress.push(sentBytes) });
    const path = `uploads/${file}`;
    const expected = { name: file, path, type: "csv", bytes: bytes.length, replaced: false };
    assert.deepEqual([sent, progress], [ok(expected), [5, bytes.length]], name);
    const again = await client.upload("c", file, bytes);
    assert.deepEqual(again, ok({ ...expected, replaced: true }), "bytes that are there already");
    const received = await must(client.download("c", path));
    assert.equal(received.bytes, bytes.length);
    assert.ok((await gather(received.chunks)).equals(bytes), name);
    assert.equal((await must(client.upload("c", "empty.txt", new Uint8Array()))).bytes, 0);
    assert.deepEqual(await gather((await must(client.download("c", "uploads/empty.txt"))).chunks), Buffer.alloc(0));
  }
});

test("a folder is listed page by page, each file once, and the last page says so [F3][C7]", async () => {
  await using yard = await startYard();
  await yard.start("c");
  const { call, upload } = yard.client;
  for (const name of ["b.txt", "a.txt", "c.txt"]) await must(upload("c", name, Buffer.from(name)));
  const list = async (query: object) => {
    const page = await must(call("listFiles", { params: { id: "c" }, query: { path: "uploads", ...query } }));
    return [...page.items.map(({ path }) => path), page.next];
  };
  assert.deepEqual(await list({ limit: 2 }), ["uploads/a.txt", "uploads/b.txt", "b.txt"]);
  assert.deepEqual(await list({ limit: 2, after: "b.txt" }), ["uploads/c.txt", null]);
  assert.deepEqual(await list({ limit: 3 }), ["uploads/a.txt", "uploads/b.txt", "uploads/c.txt", null]);
  assert.deepEqual(await list({ after: "c.txt" }), [null]);
});

test("a large file is never held in memory: who sends waits for who writes, on the way up and down [F4]", async () => {
  const size = 24 * MB;
  await using yard = await startYard();
  await yard.start("c");
  await using doors = await allDoors(yard.app);
  for (const { name, client } of doors) {
    const source = sourceOf(size);
    let ahead = 0;
    const watched = async function* () {
      for await (const piece of source) {
        if (source.taken() % MB === 0) ahead = Math.max(ahead, source.taken() - storedBytes(yard));
        yield piece;
      }
    };
    assert.equal((await must(client.upload("c", `${name}.txt`, watched()))).bytes, size, name);
    assert.ok(ahead <= underWayBytesMax, `${name}: ${ahead} bytes were taken and not yet written`);

    const path = `uploads/${name}.txt`;
    const whole = await must(client.download("c", path));
    assert.equal(await countBytes(whole.chunks), size, name);
    // What the server has not read yet cannot arrive any more, once it is gone from the disk.
    const received = await must(client.download("c", path));
    let bytes = 0;
    await assert.rejects(async () => {
      for await (const chunk of received.chunks) {
        if (bytes === 0) truncateSync(join(yard.data, "workspace/c", path), 0);
        bytes += chunk.length;
      }
    }, name);
    assert.ok(bytes <= underWayBytesMax, `${name}: ${bytes} bytes were read ahead`);
    await must(client.call("removeFile", { params: { id: "c" }, query: { path } }));
  }
});

test("an upload that breaks off is never taken for a whole file, and nothing of it stays [F4][Q2]", async () => {
  await using yard = await startYard();
  await yard.start("c");
  await using doors = await allDoors(yard.app);
  const before = storedBytes(yard);
  for (const { name, client } of doors) {
    const stop = new AbortController();
    const source = sourceOf(Number.MAX_SAFE_INTEGER);
    const onProgress = (sentBytes: number) => sentBytes > 5 * MB && stop.abort();
    const sent = await client.upload("c", "a.csv", source, { signal: stop.signal, onProgress });
    assert.equal(sent.ok, false, name);
    await until("the source is let go", source.isEnded);
    await until("what came is gone", () => storedBytes(yard) === before);

    const broken = ReadableStream.from(failingAfter(5 * MB));
    await assert.rejects(client.upload("c", "a.csv", broken), { message: "the disk of the sender" }, name);
    await until("what came is gone", () => storedBytes(yard) === before);
    assert.deepEqual(await uploadsOf(yard), [], name);
  }
});

test("a refusal arrives while the file is still being sent, and the sender is told to stop [F4]", async () => {
  await using yard = await startYard({ env: { AGENTYARD_UPLOAD_FILE_BYTES_MAX: String(MB) } });
  await yard.start("c");
  await using doors = await allDoors(yard.app);
  for (const { name, client } of doors) {
    for (const [conversation, code, status] of [
      ["c", "too_large", 413],
      ["nowhere", "conversation_not_found", 404],
    ] as const) {
      const source = sourceOf(Number.MAX_SAFE_INTEGER);
      const sent = await client.upload(conversation, "a.csv", source);
      assert.deepEqual(sent.ok || [sent.failure.code, sent.failure.status], [code, status], name);
      await until("the source is let go", source.isEnded);
    }
  }
  assert.deepEqual(await yard.faults(), []);
});

test("a form or script of another site cannot upload: its kinds of content are refused [C6]", async () => {
  await using yard = await startYard();
  await yard.start("c");
  const put = async (type: string | undefined) => {
    const headers = new Headers(type === undefined ? {} : { "content-type": type });
    const response = await yard.app.request(address("uploads/a.txt"), {
      method: "PUT",
      headers,
      body: new Blob(["x"]),
    });
    return response.ok ? response.status : Problem.parse(await response.json()).code;
  };
  const simple = ["text/plain", "Text/Plain;charset=UTF-8", "multipart/form-data; boundary=x", "", " ", undefined];
  for (const type of [...simple, "application/x-www-form-urlencoded"])
    assert.equal(await put(type), "content_type_unfit", `${type}`);
  for (const type of ["application/octet-stream", "text/csv", "text/plainer"]) assert.equal(await put(type), 201, type);
});

test("a file is handed out as an attachment under its own name, never as a page of ours [Q1][S3]", async () => {
  await using yard = await startYard();
  await yard.start("c");
  await put(yard, `outputs/"报告" (1)'s.html`, "<script>");
  const query = new URLSearchParams({ path: `outputs/"报告" (1)'s.html` });
  for (const method of ["GET", "HEAD"]) {
    const response = await yard.app.request(`${address("content")}?${query}`, { method });
    const { "x-request-id": _, etag, ...all } = Object.fromEntries(response.headers);
    assert.match(String(etag), /^"[\w-]+"$/);
    const headers = Object.fromEntries(Object.entries(all).filter(([name]) => !name.startsWith("ratelimit-")));
    assert.deepEqual(
      [response.status, headers],
      [
        200,
        {
          "accept-ranges": "bytes",
          "cache-control": "no-store",
          "content-disposition": `attachment; filename="____ (1)'s.html"; filename*=UTF-8''%22%E6%8A%A5%E5%91%8A%22%20%281%29%27s.html`,
          "content-length": "8",
          "content-type": "application/octet-stream",
          "x-content-type-options": "nosniff",
        },
      ],
    );
    assert.equal(await response.text(), method === "GET" ? "<script>" : "");
  }
});

const ranges: readonly [range: string, status: number, contentRange: string | null, text: string][] = [
  ["bytes=0-0", 206, "bytes 0-0/10", "0"],
  ["bytes=2-4", 206, "bytes 2-4/10", "234"],
  ["bytes=7-", 206, "bytes 7-9/10", "789"],
  ["bytes=-3", 206, "bytes 7-9/10", "789"],
  ["bytes=-99", 206, "bytes 0-9/10", "0123456789"],
  ["Bytes = 8-99999999999999999999", 206, "bytes 8-9/10", "89"],
  ["bytes=10-", 416, "bytes */10", ""],
  ["bytes=-0", 416, "bytes */10", ""],
  ["bytes=4-2", 200, null, "0123456789"],
  ["bytes=0-1,3-4", 200, null, "0123456789"],
  ["bytes=-", 200, null, "0123456789"],
  ["lines=1-2", 200, null, "0123456789"],
  ["bytes=0x1-2", 200, null, "0123456789"],
];

test("a part of a file can be asked for, so that a download goes on where it ended [S3]", async () => {
  await using yard = await startYard();
  await yard.start("c");
  await put(yard, "outputs/digits.txt", "0123456789");
  const read = (headers: Record<string, string>) =>
    yard.app.request(`${address("content")}?path=outputs/digits.txt`, { headers });
  for (const [range, status, contentRange, text] of ranges) {
    const response = await read({ range });
    assert.deepEqual([response.status, response.headers.get("content-range")], [status, contentRange], range);
    const body = await response.text();
    if (status === 416) assert.equal(Problem.parse(JSON.parse(body)).code, "range_unfit");
    else assert.deepEqual([body, response.headers.get("content-length")], [text, String(text.length)], range);
  }
  const etag = (await read({})).headers.get("etag") ?? "";
  assert.equal(await (await read({ range: "bytes=8-", "if-range": etag })).text(), "89");
  await put(yard, "outputs/digits.txt", "another text");
  const changed = await read({ range: "bytes=8-", "if-range": etag });
  assert.deepEqual([changed.status, await changed.text()], [200, "another text"], "not the end of another content");
  await using port = await onPort(yard);
  const overPort = async (method: string) => {
    const init = { method, headers: { range: "bytes=1-3" } };
    const response = await fetch(`${port.url}${address("content")}?path=outputs/digits.txt`, init);
    const { "content-length": length, "content-range": range } = Object.fromEntries(response.headers);
    return [response.status, length, range, await response.text()];
  };
  assert.deepEqual(await overPort("GET"), [206, "3", "bytes 1-3/12", "not"]);
  assert.deepEqual(await overPort("HEAD"), [200, "12", undefined, ""]);
});

test("a download that goes on after its file was replaced in the same moment by one of the same length begins anew [S3]", async () => {
  await using yard = await startYard();
  await yard.start("c");
  const write = async (text: string, microseconds: number) => {
    await put(yard, "outputs/a.txt", text);
    const seconds = 1_700_000_000 + microseconds / 1e6;
    utimesSync(join(yard.data, "workspace/c/outputs/a.txt"), seconds, seconds);
  };
  const read = (headers: Record<string, string>) =>
    yard.app.request(`${address("content")}?path=outputs/a.txt`, { headers });
  await write("old, old", 100);
  const etag = (await read({})).headers.get("etag") ?? "";
  await write("new, new", 200);
  const rest = await read({ range: "bytes=4-", "if-range": etag });
  assert.deepEqual([rest.status, await rest.text()], [200, "new, new"]);
});

test("a download that breaks off is never taken for a whole file, and the log file says why [Q2]", async (t) => {
  const shown = t.mock.method(console, "error", () => {});
  await using yard = await startYard();
  await yard.start("c");
  await using doors = await allDoors(yard.app);
  for (const { name, client } of doors) {
    await must(client.upload("c", "a.txt", Buffer.from(lines(24 * MB, name))));
    const received = await must(client.download("c", "uploads/a.txt"));
    await assert.rejects(
      async () => {
        for await (const _ of received.chunks) truncateSync(join(yard.data, "workspace/c/uploads/a.txt"), 0);
      },
      { message: "uploads/a.txt could not be read: the transfer broke off. Try again." },
      name,
    );
  }
  const faults = await yard.faults();
  assert.equal(faults.length, 3);
  for (const fault of faults) assert.match(fault, /^request \S+ failed at a download: Error: read_failed/);
  assert.equal(shown.mock.callCount(), 0, "nothing is written over the user's screen");
});

test("a file is closed when its reader leaves, also before the first byte [Q2]", async () => {
  await using yard = await startYard();
  await yard.start("c");
  await must(yard.client.upload("c", "a.txt", Buffer.from(lines(24 * MB, "a"))));
  const isClosed = () => !openFiles().some((path) => path.startsWith(yard.data) && path.endsWith("/uploads/a.txt"));
  await using doors = await allDoors(yard.app);
  for (const { client } of doors) {
    const received = await must(client.download("c", "uploads/a.txt"));
    assert.equal(isClosed(), false);
    for await (const _ of received.chunks) break;
    await until("the file is closed", isClosed);

    const stop = new AbortController();
    const left = await must(client.download("c", "uploads/a.txt", { signal: stop.signal }));
    stop.abort();
    await assert.rejects(gather(left.chunks), { name: "AbortError" });
    await until("the file is closed", isClosed);
  }
  assert.deepEqual(await yard.faults(), []);
});

function address(rest: string): string {
  return `/api/v1/conversations/c/files/${rest}`;
}

/** A text of this size, which is another one for each name. */
function lines(bytes: number, name: string): string {
  const line = `${createHash("sha256").update(name).digest("hex")}\n`;
  return line.repeat(Math.ceil(bytes / line.length)).slice(0, bytes);
}

/** As an agent would. */
async function put({ workspaces, log }: TestYard, path: string, text: string): Promise<void> {
  const conversation = await must(log.find(localOwner, "c"));
  await must(workspaces.ofConversation(conversation).write(path, text));
}

async function uploadsOf({ client }: TestYard): Promise<string[]> {
  const { items } = await must(client.call("listFiles", { params: { id: "c" }, query: { path: "uploads" } }));
  return items.map(({ path }) => path);
}

/** All that lies in workspaces and beside them, whole or not; the database and the log files are something else. */
function storedBytes({ data }: TestYard): number {
  const entries = readdirSync(data, { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile() && entry.parentPath !== data && !entry.name.endsWith(".log"));
  const sizes = files.map((file) => statSync(join(file.parentPath, file.name), { throwIfNoEntry: false })?.size ?? 0);
  return sizes.reduce((sum, size) => sum + size, 0);
}

async function countBytes(chunks: AsyncIterable<Uint8Array>): Promise<number> {
  let bytes = 0;
  for await (const chunk of chunks) bytes += chunk.length;
  return bytes;
}

async function* failingAfter(bytes: number): AsyncGenerator<Buffer, void, undefined> {
  yield* sourceOf(bytes);
  throw new Error("the disk of the sender");
}

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

test("a file of the largest size is taken, one more byte is refused with the setting, and what is announced as too large before it is sent [F4]", async () => {
  await using yard = await startYard({ env: { AGENTYARD_UPLOAD_FILE_BYTES_MAX: String(MB) } });
  await must(yard.client.call("createConversation", { body: { id: "c" } }));
  assert.equal((await must(yard.client.upload("c", "large.csv", sourceOf(MB, "0,1\n")))).bytes, MB);
  const refused = await yard.client.upload("c", "larger.csv", sourceOf(MB + 1, "0,1\n"));
  assert.ok(!refused.ok);
  const { setting, ...larger } = refused.failure.params;
  assert.deepEqual(
    [refused.failure.code, refused.failure.status, larger],
    ["too_large", 413, { path: "uploads/larger.csv", sizeBytes: MB + 1, limitBytes: MB }],
  );
  assert.match(String(setting), /file_bytes_max|max_file_size/);
  await using port = await openPort(yard);
  const headers = { "content-type": "application/octet-stream", "content-length": String(10 ** 13) };
  const announced = request(`${port.url}/api/v1/conversations/c/files/uploads/a.csv`, { method: "PUT", headers });
  announced.on("error", () => {}).flushHeaders();
  const [answer] = await once(announced, "response");
  const { code, params } = Problem.parse(JSON.parse(String(await gather(answer))));
  assert.deepEqual([answer.statusCode, code, params.sizeBytes], [413, "too_large", 10 ** 13]);
  announced.destroy();
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
    { numRuns: Number(process.env.AGENTYARD_FUZZ_REQUESTS ?? 40) },
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
  const { client } = doors.find((door) => door.name === "port") ?? assert.fail();
  await must(client.upload("c", "a.csv", sourceOf(10 * MB, "old,\n")));
  const received = await must(client.download("c", "uploads/a.csv"));
  const kept: Uint8Array[] = [];
  for await (const chunk of received.chunks) {
    if (kept.length === 0) await must(client.upload("c", "a.csv", Buffer.from("new\n")));
    kept.push(chunk);
  }
  assert.ok(Buffer.concat(kept).equals(await gather(sourceOf(10 * MB, "old,\n"))));
  const again = await must(client.download("c", "uploads/a.csv"));
  assert.equal(String(await gather(again.chunks)), "new\n");
});

function ask(yard: TestYard, path: string, init: RequestInit): Promise<Response> {
  return Promise.resolve(yard.app.fetch(new Request(new URL(path, "http://localhost"), init)));
}

/** Every name below the data directory. */
function everything({ data }: TestYard): string[] {
  return globSync("**", { cwd: data }).sort();
}

async function openPort(yard: TestYard) {
  const server = await listen(yard.app, { host: "127.0.0.1", port: 0 }, { clock: systemClock });
  assert.ok(server.ok);
  return { url: server.value.address, [Symbol.asyncDispose]: server.value.close };
}
