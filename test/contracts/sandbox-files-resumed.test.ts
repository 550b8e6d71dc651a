import assert from "node:assert/strict";
import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { createHash, randomBytes } from "node:crypto";
import { once } from "node:events";
import {
  closeSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { request } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { type TestContext, test } from "node:test";
import { fileURLToPath } from "node:url";
import { type Clock, systemClock } from "../../src/base/clock.ts";
import { failure } from "../../src/protocol/failure.ts";
import { Problem } from "../../src/protocol/resources.ts";
import type { Storage } from "../../src/storage/storage.ts";
import { until } from "../world/events.ts";
import { caller, type FileDoor, openFileDoor, type Reply, refusal, session } from "./sandbox-files.ts";

const MB = 1024 * 1024;
const spoken = { "tus-resumable": "1.0.0" };
const base = `/sessions/${session}/files/uploads`;
const octets = { ...spoken, "content-type": "application/offset+octet-stream" };
const prlimit = "/usr/bin/prlimit";
type Call = FileDoor["call"];

test("an upload goes on after the server was killed, and ends with the right checksum [S3][Q2]", async (t) => {
  const data = mkdtempSync(join(tmpdir(), "agentyard-test-"));
  t.after(() => rmSync(data, { recursive: true, force: true }));
  const bytes = Buffer.from(randomBytes(12 * MB).toString("base64"));
  const sha256 = createHash("sha256").update(bytes).digest("hex");
  let server = await startServer(t, data);
  const made = await create(server.call, { bytes: bytes.length, filename: "数据.txt", conversation_id: "c1", sha256 });
  assert.equal(made.status, 201, `${made.bytes}`);
  const path = pathOf(made);
  const id = path.slice(path.lastIndexOf("/") + 1);
  assert.equal(statSync(join(data, "incoming")).mode & 0o777, 0o700);

  // In the middle of a part, so that some of it has come and nobody has been told.
  const sending = request(`${server.url}${path}`, { method: "PATCH", headers: { ...octets, "upload-offset": "0" } });
  sending.on("error", () => {});
  sending.write(bytes.subarray(0, 5 * MB));
  const part = join(data, "incoming", `${id}.part`);
  await until("most of it has come", () => statSync(part).size >= 3 * MB);
  await server.kill();

  server = await startServer(t, data);
  const head = await server.call("HEAD", path, { headers: spoken });
  const offset = Number(head.headers.get("upload-offset"));
  assert.deepEqual([head.status, head.headers.get("upload-length")], [200, String(bytes.length)]);
  assert.ok(offset >= 3 * MB && offset <= 5 * MB);
  const rest = await server.call("PATCH", path, {
    ...{ body: bytes.subarray(offset), headers: { ...octets, "upload-offset": String(offset) } },
  });
  assert.deepEqual([rest.status, rest.headers.get("upload-offset")], [204, String(bytes.length)]);
  const file = await server.call("GET", `/sessions/${session}/files/${encodeURIComponent("数据.txt")}`);
  assert.equal(createHash("sha256").update(file.bytes).digest("hex"), sha256);
  assert.deepEqual([existsSync(part), readdirSync(join(data, "incoming"))], [false, [`${id}.json`]]);
  const state = await server.call("GET", path);
  assert.deepEqual([state.json.offset, state.json.file_path], [bytes.length, "c1/uploads/temparea/数据.txt"]);
});

test("an upload that was whole when the server was killed is put into its place when somebody asks for it [S3][Q2]", async (t) => {
  const data = mkdtempSync(join(tmpdir(), "agentyard-test-"));
  t.after(() => rmSync(data, { recursive: true, force: true }));
  const server = await startServer(t, data);
  const made = await create(server.call, { bytes: 4, filename: "a.txt", conversation_id: "c1" });
  await server.kill();
  const path = pathOf(made);
  const id = path.slice(path.lastIndexOf("/") + 1);
  writeFileSync(join(data, "incoming", `${id}.part`), "text");
  const again = await startServer(t, data);
  assert.equal((await again.call("HEAD", path, { headers: spoken })).headers.get("upload-offset"), "4");
  assert.equal(`${(await again.call("GET", `/sessions/${session}/files/a.txt`)).bytes}`, "text");
});

test("resumable uploads speak tus 1.0.0: create, ask, go on, give up [S3]", async () => {
  await using door = await openFileDoor();
  const { call } = door;
  const options = await call("OPTIONS", base);
  assert.deepEqual(
    [
      options.status,
      ...["tus-resumable", "tus-version", "tus-extension", "tus-max-size"].map((name) => options.headers.get(name)),
    ],
    [204, "1.0.0", "1.0.0", "creation,termination,expiration", String(100 * MB)],
  );
  const made = await create(call, { bytes: 8, filename: "a.csv", conversation_id: "c1", subdir: "outputs" });
  assert.deepEqual([made.status, made.headers.get("upload-offset")], [201, "0"]);
  assert.match(String(made.headers.get("location")), new RegExp(`^/api/v1${base}/tus-[0-9a-f]{32}$`));
  const path = pathOf(made);
  const patch = (body: string, offset: string | undefined, headers: Readonly<Record<string, string>> = octets) =>
    call("PATCH", path, { body, headers: { ...headers, ...(offset !== undefined && { "upload-offset": offset }) } });
  assert.equal((await patch("a,b\n", "0")).headers.get("upload-offset"), "4");
  assert.deepEqual(refusal(await patch("1,2\n", "0")), [409, "upload_offset_unfit"]);
  assert.deepEqual(refusal(await patch("1,2\n", "x")), [400, "bad_request"]);
  assert.deepEqual(refusal(await patch("1,2\n", undefined)), [400, "bad_request"]);
  assert.deepEqual(refusal(await patch("1,2\n", "4", { "content-type": octets["content-type"] })), [
    412,
    "upload_version_unfit",
  ]);
  assert.deepEqual(refusal(await patch("1,2\n", "4", { ...spoken, "content-type": "text/plain" })), [
    415,
    "content_type_unfit",
  ]);
  assert.deepEqual(refusal(await patch("1,2\nmore", "4")), [413, "too_large"]);
  const whole = await patch("1,2\n", "4");
  assert.deepEqual([whole.status, whole.headers.get("upload-offset")], [204, "8"]);
  assert.equal((await call("HEAD", path, { headers: spoken })).headers.get("upload-offset"), "8");
  assert.equal(`${(await call("GET", `/sessions/${session}/files/c1/outputs/a.csv`)).bytes}`, "a,b\n1,2\n");

  const empty = await create(call, { bytes: 0, filename: "empty.txt", conversation_id: "c1" });
  assert.deepEqual([empty.status, empty.json.file_path], [201, "c1/uploads/temparea/empty.txt"]);
  const given = pathOf(await create(call, { bytes: 8, filename: "b.csv", conversation_id: "c1" }));
  assert.equal((await call("DELETE", given, { headers: spoken })).status, 204);
  assert.deepEqual(refusal(await call("GET", given)), [404, "upload_not_found"]);
});

test("a part that is sent again while the first try still runs is taken once [S3]", async () => {
  await using door = await openFileDoor();
  const { call, url } = door;
  const path = pathOf(await create(call, { bytes: 8, filename: "a.csv", conversation_id: "c1" }));
  const offset = async () => (await call("HEAD", path, { headers: spoken })).headers.get("upload-offset");
  const first = request(url + path, { method: "PATCH", headers: { ...octets, "upload-offset": "0" } });
  const answered = once(first, "response");
  first.write("a,b\n");
  await until("half of it has come", async () => (await offset()) === "4");
  const second = call("PATCH", path, { body: "1,2\n", headers: { ...octets, "upload-offset": "4" } });
  // Were the second not to wait for the first, it would be in the file by the time that all of these are answered.
  await Promise.race([
    second,
    (async () => {
      for (let n = 0; n < 5; n += 1) await offset();
    })(),
  ]);
  first.end("1,2\n");
  const [response] = await answered;
  response.resume();
  assert.deepEqual([response.statusCode, response.headers["upload-offset"]], [204, "8"]);
  assert.deepEqual(refusal(await second), [409, "upload_offset_unfit"]);
  assert.equal(`${(await call("GET", `/sessions/${session}/files/a.csv`)).bytes}`, "a,b\n1,2\n");
});

test("an upload is refused where a form would be, and a wrong checksum drops it [S3][F4]", async () => {
  await using door = await openFileDoor();
  const { call } = door;
  const text = { bytes: 4, filename: "a.txt", conversation_id: "c1" };
  for (const [what, wanted, status, code] of [
    ["too large", { ...text, bytes: 101 * MB }, 413, "too_large"],
    ["a bad name", { ...text, filename: "../a" }, 400, "path_traversal_blocked"],
    ["no name", { ...text, filename: "" }, 400, "path_invalid"],
    ["no conversation", { bytes: 4, filename: "a.txt" }, 400, "conversation_not_named"],
    ["a bad checksum", { ...text, sha256: "x" }, 400, "bad_request"],
    ["a bad folder", { ...text, subdir: "skills" }, 400, "bad_request"],
  ] as const)
    assert.deepEqual(refusal(await create(call, wanted)), [status, code], what);
  assert.deepEqual(refusal(await call("POST", base)), [412, "upload_version_unfit"]);
  assert.deepEqual(refusal(await call("POST", base, { headers: spoken })), [400, "bad_request"]);

  const send = async (wanted: Wanted, body: string) => {
    const path = pathOf(await create(call, wanted));
    const sent = await call("PATCH", path, { body, headers: { ...octets, "upload-offset": "0" } });
    return [...refusal(sent), ...refusal(await call("GET", path)), sent.headers.get("tus-resumable")];
  };
  const sha256 = createHash("sha256").update("text").digest("hex");
  const dropped = [404, "upload_not_found", "1.0.0"];
  assert.deepEqual(await send({ ...text, sha256 }, "Text"), [409, "upload_checksum_unfit", ...dropped]);
  assert.deepEqual(await send({ ...text, filename: "a.csv" }, "\x7fELF"), [415, "unsupported_type", ...dropped]);
  assert.deepEqual(await send({ ...text, sha256 }, "text"), [204, undefined, 200, undefined, "1.0.0"]);
});

test("an upload that came whole while the disk was full need not be sent again: with room it is put into its place [S3][Q2]", async () => {
  let isFull = false;
  const wrapStorage = (storage: Storage): Storage => ({
    ...storage,
    append: async (batch) => (isFull ? failure("storage_full", {}) : storage.append(batch)),
  });
  await using door = await openFileDoor({ wrapStorage });
  const { call } = door;
  const path = pathOf(await create(call, { bytes: 4, filename: "a.txt", conversation_id: "c1" }));
  isFull = true;
  const sent = await call("PATCH", path, { body: "text", headers: { ...octets, "upload-offset": "0" } });
  assert.deepEqual(refusal(sent), [507, "storage_full"]);
  assert.deepEqual(refusal(await call("GET", path)), [507, "storage_full"]);
  isFull = false;
  const { offset, file_path: stored } = (await call("GET", path)).json;
  assert.deepEqual([offset, stored], [4, "c1/uploads/temparea/a.txt"]);
  assert.equal(`${(await call("GET", `/sessions/${session}/files/a.txt`)).bytes}`, "text");
});

test("an upload that came whole while too many files were open need not be sent again either [S3][Q2]", {
  skip: existsSync(prlimit) ? false : "there is no prlimit here",
}, async () => {
  await using door = await openFileDoor();
  const { call, yard } = door;
  const sha256 = createHash("sha256").update("text").digest("hex");
  await door.upload(new File(["text"], "b.txt"), { conversation_id: "c1" });
  // One is missed where the upload is looked for, or else where its place is.
  for (const descriptorsLeft of [0, 1]) {
    const filename = `a${descriptorsLeft}.txt`;
    const path = pathOf(await create(call, { bytes: 4, filename, conversation_id: "c1", sha256 }));
    writeFileSync(join(yard.data, "incoming", `${path.slice(path.lastIndexOf("/") + 1)}.part`), "text");
    const refused = await withDescriptors(descriptorsLeft, async () => yard.app.request(`/api/v1${path}`));
    assert.deepEqual([refused.status, Problem.parse(await refused.json()).code], [503, "read_failed"]);
    assert.equal((await call("GET", path)).json.file_path, `c1/uploads/temparea/${filename}`);
  }
});

test("an upload that is in its place while the disk is too full to note it is not forgotten: with room it is told where it is [S3][Q2]", async () => {
  await using door = await openFileDoor();
  const { call, yard } = door;
  const path = pathOf(await create(call, { bytes: 4, filename: "a.txt", conversation_id: "c1" }));
  // The note is drafted here before it takes the place of the one before.
  const draft = join(yard.data, "incoming", `${path.slice(path.lastIndexOf("/") + 1)}.new`);
  symlinkSync("/dev/full", draft);
  const sent = await call("PATCH", path, { body: "text", headers: { ...octets, "upload-offset": "0" } });
  assert.deepEqual(refusal(sent), [507, "write_failed"]);
  rmSync(draft);
  const { status, json } = await call("GET", path);
  assert.deepEqual([status, json.offset, json.file_path], [200, 4, "c1/uploads/temparea/a.txt"]);
  assert.deepEqual(readdirSync(join(yard.data, "workspace", "c1", "uploads", "temparea")), ["a.txt"]);
});

test("an upload belongs to who began it, one has 20 at the most, and each is forgotten after a day [S3][S7]", async () => {
  let now = systemClock.now();
  const clock: Clock = { ...systemClock, now: () => now };
  await using door = await openFileDoor({ clock });
  const { call } = door;
  const wanted = { bytes: 4, filename: "a.txt", conversation_id: "c1" };
  const path = pathOf(await create(call, wanted));
  const id = path.slice(path.lastIndexOf("/") + 1);
  const others = `/sessions/sb-session-bob/files/uploads/${id}`;
  const bob = { headers: { ...octets, "upload-offset": "0" }, body: "text" };
  assert.deepEqual(refusal(await call("GET", others)), [404, "upload_not_found"]);
  assert.deepEqual(refusal(await call("PATCH", others, bob)), [404, "upload_not_found"]);
  assert.deepEqual(refusal(await call("DELETE", others, { headers: spoken })), [404, "upload_not_found"]);
  const asBob = { headers: { "x-account-id": "bob" } };
  assert.deepEqual(refusal(await call("GET", path, asBob)), [404, "session_not_found"]);
  assert.equal((await call("GET", `/sessions/sess-agent-default/files/uploads/${id}`)).status, 200);

  for (let count = 1; count < 20; count += 1) assert.equal((await create(call, wanted)).status, 201);
  assert.deepEqual(refusal(await create(call, wanted)), [409, "uploads_too_many"]);
  now += 24 * 3_600_000;
  assert.deepEqual(refusal(await call("GET", path)), [404, "upload_not_found"]);
  assert.equal((await call("POST", "/health/sync")).status, 200);
  assert.deepEqual(readdirSync(join(door.yard.data, "incoming")), [], "who has the server tidy up takes them away");
  assert.equal((await create(call, wanted)).status, 201);
});

test("of uploads that are whole the newest hundred of a user are told of, and nobody else's are looked at [S3][Q1]", async () => {
  let now = systemClock.now();
  await using door = await openFileDoor({ clock: { ...systemClock, now: () => now++ } });
  const { call, yard } = door;
  const made: string[] = [];
  for (let count = 0; count < 105; count += 1) {
    const empty = await create(call, { bytes: 0, filename: "empty.txt", conversation_id: "c1" });
    assert.equal(empty.status, 201);
    made.push(pathOf(empty));
  }
  const folder = join(yard.data, "incoming");
  assert.equal(readdirSync(folder).length, 100);
  const statuses = [];
  for (const path of [made[4] ?? "", made[5] ?? ""]) statuses.push((await call("GET", path)).status);
  assert.deepEqual(statuses, [404, 200]);
  // A note of somebody else that cannot be read would otherwise be met by whoever begins an upload.
  mkdirSync(join(folder, `tus-${"0".repeat(32)}.json`));
  assert.equal((await create(call, { bytes: 0, filename: "empty.txt", conversation_id: "c1" })).status, 201);
});

type Wanted = { readonly bytes: number } & Readonly<Record<string, string | number>>;

/** Begins an upload; what it is comes in one header, each value in base64. */
function create(call: Call, { bytes, ...metadata }: Wanted): Promise<Reply> {
  const pairs = Object.entries(metadata).map(([key, value]) => `${key} ${Buffer.from(`${value}`).toString("base64")}`);
  const headers = { ...spoken, "upload-length": String(bytes), "upload-metadata": pairs.join(",") };
  return call("POST", base, { headers });
}

function pathOf(made: Reply): string {
  return String(made.headers.get("location")).replace("/api/v1", "");
}

/** Works while this process can open only so many files more. */
async function withDescriptors<T>(left: number, work: () => Promise<T>): Promise<T> {
  const limits = readFileSync("/proc/self/limits", "utf8");
  const [, soft = "", hard = ""] = /open files +(\w+) +(\w+)/.exec(limits) ?? [];
  const allow = (most: string | number) =>
    execFileSync(prlimit, ["--pid", `${process.pid}`, `--nofile=${most}:${hard}`]);
  const taken: number[] = [];
  allow(Math.max(...readdirSync("/proc/self/fd").map(Number)) + 16);
  try {
    assert.throws(
      () => {
        for (;;) taken.push(openSync("/dev/null", "r"));
      },
      { code: "EMFILE" },
    );
    for (const descriptor of taken.splice(0, left)) closeSync(descriptor);
    return await work();
  } finally {
    for (const descriptor of taken) closeSync(descriptor);
    allow(soft);
  }
}

async function startServer(t: TestContext, data: string) {
  const program = fileURLToPath(import.meta.resolve("./sandbox-files-server.ts"));
  const child: ChildProcess = spawn(process.execPath, [program, data], { stdio: ["ignore", "pipe", "inherit"] });
  const ended = once(child, "close");
  const kill = async () => {
    child.kill("SIGKILL");
    await ended;
  };
  t.after(kill);
  assert.ok(child.stdout !== null);
  const { value } = await createInterface({ input: child.stdout })[Symbol.asyncIterator]().next();
  const url = String(value);
  return { url, call: caller(url), kill };
}
