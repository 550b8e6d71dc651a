import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { test } from "node:test";
import { systemClock } from "../../src/base/clock.ts";
import { ok } from "../../src/base/result.ts";
import { createClient, type Fetch, inProcessFetch } from "../../src/client/client.ts";
import { socketFetch } from "../../src/client/socket-fetch.ts";
import { failure } from "../../src/protocol/failure.ts";
import { Problem } from "../../src/protocol/resources.ts";
import { until } from "../world/events.ts";
import { allDoors, gather, sourceOf, whenStalled } from "../world/file-doors.ts";
import { onPort } from "../world/http-reading.ts";
import { chunksOf } from "../world/memory-files.ts";
import { smallYard } from "../world/small-yard.ts";

const MB = 1024 * 1024;
/** What the network and the streams on the way may hold of a file: far less than the file. */
const underWayBytesMax = 16 * MB;

test("a file goes up and comes down as it was, in one process, over a port and over the local socket [F3][C7]", async () => {
  const yard = smallYard();
  await yard.start("c");
  await using doors = await allDoors(yard.app);
  for (const { name, client } of doors) {
    const bytes = randomBytes(3 * MB + 17);
    const file = `${name} 数据#1?100%.csv`;
    const progress: number[] = [];
    const parts = ReadableStream.from([bytes.subarray(0, 5), new Uint8Array(), bytes.subarray(5)]);
    const sent = await client.upload("c", file, parts, { onProgress: (sentBytes) => progress.push(sentBytes) });
    const path = `uploads/${file}`;
    const expected = { name: file, path, type: "text", bytes: bytes.length, replaced: false };
    assert.deepEqual([sent, progress], [ok(expected), [5, bytes.length]], name);
    const again = await client.upload("c", file, bytes, { keep: true });
    assert.deepEqual(again, ok({ ...expected, replaced: true }), "bytes that are there already");
    const received = await client.download("c", path);
    assert.ok(received.ok);
    assert.equal(received.value.bytes, bytes.length);
    assert.ok((await gather(received.value.chunks)).equals(bytes), name);
    const empty = await client.upload("c", "empty.txt", new Uint8Array());
    assert.equal(empty.ok && empty.value.bytes, 0);
    const nothing = await client.download("c", "uploads/empty.txt");
    assert.ok(nothing.ok);
    assert.deepEqual(await gather(nothing.value.chunks), Buffer.alloc(0));
  }
});

test("a large file is never held in memory: who sends waits for who reads, on the way up and down [F4]", async () => {
  const size = 100 * MB;
  let source = sourceOf(size);
  const stalledAt: number[] = [];
  const yard = smallYard({
    engine: {
      async upload(_, { name, chunks }) {
        let bytes = 0;
        for await (const chunk of chunks) {
          if (bytes === 0) stalledAt.push(await whenStalled(source));
          bytes += chunk.length;
        }
        return ok({ name, path: name, type: "text", bytes, replaced: false });
      },
      files: () => ({
        list: async () => ok({ path: ".", entries: [], isUnwritten: false }),
        stat: async (path) => ok(statOf(path, size)),
        stream: async (path) => ok({ stat: statOf(path, size), chunks: chunksOf(source) }),
      }),
    },
  });
  await yard.start("c");
  await using doors = await allDoors(yard.app);
  for (const { name, client } of doors) {
    source = sourceOf(size);
    const sent = await client.upload("c", "large.csv", source);
    assert.equal(sent.ok && sent.value.bytes, size, name);
    source = sourceOf(size);
    const received = await client.download("c", "large.csv");
    assert.ok(received.ok);
    let bytes = 0;
    for await (const chunk of received.value.chunks) {
      if (bytes === 0) stalledAt.push(await whenStalled(source));
      bytes += chunk.length;
    }
    assert.equal(bytes, size, name);
  }
  assert.equal(stalledAt.length, 6);
  assert.deepEqual(
    stalledAt.filter((bytes) => bytes > underWayBytesMax),
    [],
  );
});

test("an upload that breaks off is never taken for a whole file [F4][Q2]", async () => {
  const ends: string[] = [];
  const yard = smallYard({
    engine: {
      async upload(_, { name, chunks }) {
        try {
          for await (const _chunk of chunks);
          ends.push("whole");
        } catch {
          ends.push("broken off");
        }
        return failure("write_failed", { path: name, why: "broken_off" });
      },
    },
  });
  await yard.start("c");
  await using doors = await allDoors(yard.app);
  for (const { name, client } of doors) {
    const stop = new AbortController();
    const source = sourceOf(Number.MAX_SAFE_INTEGER);
    const onProgress = (sentBytes: number) => sentBytes > 5 * MB && stop.abort();
    const sent = await client.upload("c", "a.csv", source, { signal: stop.signal, onProgress });
    assert.equal(sent.ok, false, name);
    await until("the source is let go", source.isEnded);
    await until("the server knows", () => ends.length === 1);

    const broken = ReadableStream.from(failingAfter(5 * MB));
    await assert.rejects(client.upload("c", "a.csv", broken), { message: "the disk of the sender" }, name);
    await until("the server knows", () => ends.length === 2);
    assert.deepEqual(ends.splice(0), ["broken off", "broken off"], name);
  }
});

test("a refusal arrives while the file is still being sent, and the sender is told to stop [F4]", async () => {
  const refusal = { path: "uploads/a.csv", sizeBytes: 1, limitBytes: 0, setting: "max_file_size" };
  const yard = smallYard({
    engine: {
      async upload(_, { chunks }) {
        for await (const _chunk of chunks) break;
        return failure("too_large", refusal);
      },
    },
  });
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
  assert.deepEqual(yard.faults, []);
});

test("a source that was begun is not sent a second time: what is left of it would pass for the file [Q2]", async () => {
  const yard = smallYard();
  await yard.start("c");
  const fails: Fetch[] = [
    socketFetch("/nowhere.sock", systemClock),
    (_, { body }) => Promise.reject(new Error(`gone with ${body instanceof ReadableStream && body.getReader()}`)),
  ];
  for (const first of fails) {
    const client = createClient({
      // As a client does whose owner process ends: it asks the next one.
      fetch: (url, init) => first(url, init).catch(() => inProcessFetch(yard.app)(url, init)),
    });
    const sent = await client.upload("c", "a.csv", sourceOf(MB));
    assert.equal(sent.ok || sent.failure.code, "network");
  }
  assert.deepEqual([...yard.files], []);
});

test("a form or script of another site cannot upload: its kinds of content are refused [C6]", async () => {
  const yard = smallYard();
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
  const yard = smallYard();
  await yard.start("c");
  yard.files.set(`outputs/"报告" (1)'s.html`, Buffer.from("<script>"));
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
  const yard = smallYard();
  await yard.start("c");
  yard.files.set("outputs/digits.txt", Buffer.from("0123456789"));
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
  yard.files.set("outputs/digits.txt", Buffer.from("another text"));
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

test("a download that breaks off is never taken for a whole file, and the log file says why [Q2]", async (t) => {
  const shown = t.mock.method(console, "error", () => {});
  const yard = smallYard({
    engine: {
      files: () => ({
        list: async () => ok({ path: ".", entries: [], isUnwritten: false }),
        stat: async (path) => ok(statOf(path, 10 * MB)),
        async stream(path, { offset = 0 } = {}) {
          const until = offset === 0 ? 5 * MB : 1;
          return ok({ stat: statOf(path, 10 * MB), chunks: chunksOf(failingAfter(until)) });
        },
      }),
    },
  });
  await yard.start("c");
  await using doors = await allDoors(yard.app);
  for (const { name, client } of doors) {
    const received = await client.download("c", "outputs/a.bin");
    assert.ok(received.ok);
    let bytes = 0;
    await assert.rejects(
      async () => {
        for await (const chunk of received.value.chunks) bytes += chunk.length;
      },
      { message: "outputs/a.bin could not be read: the transfer broke off. Try again; the log file has the details." },
      name,
    );
    assert.ok(bytes <= 5 * MB + 65_536, name);
  }
  assert.equal(yard.faults.length, 3);
  for (const fault of yard.faults)
    assert.match(fault, /^request \S+ failed at a download: Error: the disk of the sender/);
  assert.equal(shown.mock.callCount(), 0, "nothing is written over the user's screen");
});

test("a file is closed when its reader leaves, also before the first byte [Q2]", async () => {
  let source = sourceOf(Number.MAX_SAFE_INTEGER);
  const yard = smallYard({
    engine: {
      files: () => ({
        list: async () => ok({ path: ".", entries: [], isUnwritten: false }),
        stat: async (path) => ok(statOf(path, 2 ** 40)),
        stream: async (path) => ok({ stat: statOf(path, 2 ** 40), chunks: chunksOf(source) }),
      }),
    },
  });
  await yard.start("c");
  await using doors = await allDoors(yard.app);
  for (const { client } of doors) {
    source = sourceOf(Number.MAX_SAFE_INTEGER);
    const received = await client.download("c", "a.bin");
    assert.ok(received.ok);
    for await (const _ of received.value.chunks) break;
    await until("the file is closed", source.isEnded);

    source = sourceOf(Number.MAX_SAFE_INTEGER);
    const stop = new AbortController();
    const left = await client.download("c", "a.bin", { signal: stop.signal });
    assert.ok(left.ok);
    stop.abort();
    await assert.rejects(gather(left.value.chunks), { name: "AbortError" });
    await until("the file is closed", source.isEnded);
  }
  assert.deepEqual(yard.faults, []);
});

function address(rest: string): string {
  return `/api/v1/conversations/c/files/${rest}`;
}

function statOf(path: string, bytes: number) {
  return { path, type: "file", bytes, mode: 0o644, modifiedAt: 1_700_000_000_000 } as const;
}

async function* failingAfter(bytes: number): AsyncGenerator<Buffer, void, undefined> {
  yield* sourceOf(bytes);
  throw new Error("the disk of the sender");
}
