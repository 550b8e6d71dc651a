import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { createHash, randomBytes } from "node:crypto";
import { once } from "node:events";
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
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
import { OwnerId } from "../../src/protocol/ids.ts";
import type { Storage } from "../../src/storage/storage.ts";
import { until } from "../world/events.ts";
import { caller, type FileDoor, openFileDoor, type Reply, refusal, session } from "./sandbox-files.ts";

// What may be uploaded over HTTP, in forms and piece by piece; what goes wrong on the way, and what is left of it.

const MB = 1024 * 1024;
const boundary = "----x";
const type = { "content-type": `multipart/form-data; boundary=${boundary}` };

test("100 MB go up while the server grows by 32 MB at the most, whichever way the form is ordered [F4]", {
  skip: process.platform !== "linux" && "reads /proc",
}, async (t) => {
  const server = await startServer(t);
  await sendForm(server.url, { bytes: 5 * MB, name: "warm.csv", isFileFirst: true });
  await sendForm(server.url, { bytes: 5 * MB, name: "warm.csv", isFileFirst: false });
  for (const isFileFirst of [true, false]) {
    const before = server.memory();
    server.forgetPeak();
    const bytes = (isFileFirst ? 100 : 50) * MB - 1;
    const answer = await sendForm(server.url, { bytes, name: "large.csv", isFileFirst });
    const grown = server.peak() - before;
    t.diagnostic(`${isFileFirst ? "file first" : "fields first"}: ${Math.round(grown / MB)} MB`);
    assert.equal(answer.status, 200, answer.text);
    assert.ok(grown <= 32 * MB, `${Math.round(grown / MB)} MB`);
  }
});

test("101 MB are refused while they are being sent, and nobody reads on [F4]", async (t) => {
  await using door = await openFileDoor();
  for (const isFileFirst of [true, false]) {
    const answer = await sendForm(door.url, { bytes: 400 * MB, name: "large.csv", isFileFirst });
    assert.equal(answer.status, 413, answer.text);
    assert.match(answer.text, /large\.csv.*sandbox_platform\.file_upload_config\.max_file_size/);
    t.diagnostic(`${Math.round(answer.sentBytes / MB)} MB were sent`);
    assert.ok(answer.sentBytes < 150 * MB);
    // One that says beforehand how large it is need not send a byte.
    const announced = { bytes: 101 * MB, name: "large.csv", isFileFirst, isAnnounced: true };
    const refused = await sendForm(door.url, announced);
    assert.deepEqual([refused.status, refused.sentBytes < 10 * MB], [413, true]);
  }
  assert.deepEqual(await left(door), []);
});

test("the 51st file is refused, in folders of the temparea too; a file of the same name still replaces [F4]", async () => {
  await using door = await openFileDoor();
  const deep = "?subdir=temparea/deep";
  for (let number = 1; number <= 50; number += 1)
    assert.equal(
      (await door.upload(text(`${number}.txt`), { conversation_id: "c1" }, number === 1 ? deep : "")).status,
      200,
    );
  for (const [query, name] of [
    ["", "51.txt"],
    [deep, "51.txt"],
    [`${deep}&keep=true`, "1.txt"],
    ["?path=c1/uploads/temparea/deep/51.txt", "x.txt"],
  ] as const) {
    const refused = await door.upload(text(name), { conversation_id: "c1" }, query);
    const { limit, setting } = Object(refused.json.params);
    assert.deepEqual(
      [...refusal(refused), limit, setting],
      [409, "quota_exceeded", 50, "sandbox_platform.file_upload_config.max_file_count"],
    );
  }
  assert.equal((await door.upload(text("50.txt"), { conversation_id: "c1" })).status, 200);
  assert.equal((await door.upload(text("51.txt"), { conversation_id: "c1", subdir: "outputs" })).status, 200);
  assert.equal((await door.upload(text("51.txt"), { conversation_id: "c2" })).status, 200);
});

test("a type that is not allowed is refused by its content, whatever its name says [F4]", async () => {
  await using door = await openFileDoor();
  const program = Buffer.concat([Buffer.from("\x7fELF\x02\x01\x01"), Buffer.alloc(200)]);
  for (const name of ["data.csv", "data.txt", "data"]) {
    const refused = await door.upload(new File([program], name), { conversation_id: "c1" });
    assert.deepEqual(refusal(refused), [415, "unsupported_type"]);
    assert.match(String(refused.json.detail), /sandbox_platform\.file_upload_config\.allowed_file_types/);
  }
  assert.equal((await door.upload(text("data.elf"), { conversation_id: "c1" })).status, 200);
  assert.deepEqual(await left(door), []);
});

test("an upload that is broken off leaves nothing [F4][Q2]", async () => {
  await using door = await openFileDoor();
  for (const isFileFirst of [true, false]) {
    const broken = { bytes: 50 * MB, name: "half.csv", isFileFirst, breakAfterBytes: 10 * MB };
    await assert.rejects(sendForm(door.url, broken));
    await until("nothing is left", async () => (await left(door)).length === 0);
  }
  const found = await door.call("GET", `/sessions/${session}/files?conversation_id=c1`);
  assert.ok(found.status === 404 || Object(found.json.files).length === 0);
});

const part = (headers: string, body: string) => `--${boundary}\r\n${headers}\r\n\r\n${body}\r\n`;
const field = (name: string, value: string) => part(`content-disposition: form-data; name="${name}"`, value);

const file = (name: string, body = "a,b\n") =>
  part(`content-disposition: form-data; name="file"; filename="${name}"`, body);

const encoded = (name: string) =>
  part(`content-disposition: form-data; name="file"; filename*=UTF-8''${name}`, "a,b\n");

const end = `--${boundary}--\r\n`;
const named = field("conversation_id", "c1");

test("a form that is no good is refused in words, and nothing of it is stored [F4][S5]", async () => {
  await using door = await openFileDoor();
  const [a, b] = [file("a.csv"), file("b.csv")];
  const known = field("conversation_id", "c2") + field("subdir", "temparea");
  const many = field("x", "y").repeat(10_000);
  const asJson = { "content-type": "application/json" };
  const bare = { "content-type": "multipart/form-data" };
  for (const [what, body, told, headers] of [
    ["no boundary", a + named + end, "400 form_unfit no_boundary", bare],
    ["not a form", "{}", "400 form_unfit broken", asJson],
    ["another boundary", `--y\r\n${a}--y--`, "400 form_unfit broken"],
    ["nothing", "", "400 form_unfit broken"],
    ["no file", named + end, "400 form_unfit no_file"],
    ["two files", a + b + named + end, "400 form_unfit several_files"],
    ["two files at a known place", known + a + b + end, "400 form_unfit several_files"],
    ["10,000 parts", many + a + named + end, "400 form_unfit too_many_parts"],
    ["10,000 parts behind the file", a + many + named + end, "400 form_unfit too_many_parts"],
    ["a huge field", field("x", "y".repeat(MB)) + a + named + end, "400 form_unfit field_too_long"],
    ["a huge header", field("x".repeat(MB), "") + end, "400 form_unfit no_file"],
    ["no end", a + named, "400 form_unfit broken"],
    ["no end of its file", a.slice(0, -4), "400 form_unfit broken"],
    ["no conversation", a + end, "400 conversation_not_named"],
    ["no name", file("") + named + end, "400 path_invalid"],
    ["a name above", file("../x") + named + end, "400 path_traversal_blocked"],
    ["a name elsewhere", file("/etc/passwd") + named + end, "400 path_invalid"],
    ["a folder of Windows", file("C:\\\\temp\\\\x.csv") + named + end, "400 path_traversal_blocked"],
    ["a NUL", file("a\0.csv") + named + end, "400 path_invalid"],
    ["a line break", file("a%0Ab\u2028.csv") + named + end, "400 path_invalid"],
    ["a name over two lines", encoded("a%0D%0Aset-cookie:x.csv") + named + end, "400 form_unfit no_file"],
    ["a name with an escape", encoded("a%1B%5B2J.csv") + named + end, "400 path_invalid"],
    ["a name of 256 bytes", file("界".repeat(86)) + named + end, "400 path_invalid"],
    ["another folder", a + named + field("subdir", "skills") + end, "400 bad_request"],
    ["a folder above", a + named + field("subdir", "outputs/../..") + end, "400 path_traversal_blocked"],
    ["a bad conversation", a + field("conversation_id", "../c2") + end, "400 bad_request"],
  ] as const) {
    const answer = await door.call("POST", `/sessions/${session}/files/upload`, { body, headers: headers ?? type });
    const [status, code] = refusal(answer);
    const { why } = Object(answer.json.params);
    assert.equal(`${status} ${code}${code === "form_unfit" ? ` ${why}` : ""}`, told, what);
  }
  assert.deepEqual(await left(door), []);
  const there = await door.call("GET", `/sessions/${session}/files?conversation_id=c2`);
  assert.deepEqual(there.json.files, []);
  assert.equal((await door.yard.log.find(OwnerId.parse("ann"), "c1")).ok, false, "nothing is adopted for it");
});

test("a form within a form is a text, and a field called __proto__ is a field [F4]", async () => {
  await using door = await openFileDoor();
  const nested = part(
    'content-disposition: form-data; name="file"; filename="a.txt"\r\ncontent-type: multipart/mixed; boundary=y',
    '--y\r\ncontent-disposition: attachment; filename="../evil"\r\n\r\nx\r\n--y--',
  );
  const body = field("__proto__", "x") + nested + named + end;
  const stored = await door.call("POST", `/sessions/${session}/files/upload`, { body, headers: type });
  assert.deepEqual([stored.status, stored.json.file_path], [200, "c1/uploads/temparea/a.txt"]);
  const utf8 = await door.call("POST", `/sessions/${session}/files/upload`, {
    ...{ body: file("数据 表.csv") + named + end, headers: type },
  });
  assert.equal(utf8.json.file_name, "数据 表.csv");
});

const text = (name: string) => new File(["text"], name);

/** What lies in the staging folder, which only holds what is under way. */
async function left({ yard }: FileDoor): Promise<string[]> {
  const folder = join(yard.data, "staging");
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}

type Large = {
  readonly bytes: number;
  readonly name: string;
  readonly isFileFirst: boolean;
  readonly isAnnounced?: boolean;
  readonly breakAfterBytes?: number;
};

/** Sends a form with a file that is made while it goes out; stops when it is answered. */
async function sendForm(url: string, { bytes, name, isFileFirst, isAnnounced, breakAfterBytes = Infinity }: Large) {
  const head = `--${boundary}\r\ncontent-disposition: form-data; name="file"; filename="${name}"\r\n\r\n`;
  const fields = field("conversation_id", "c1") + field("subdir", "temparea");
  const [front, back] = isFileFirst ? [head, `\r\n${fields}${end}`] : [fields + head, `\r\n${end}`];
  const length = isAnnounced ? { "content-length": String(front.length + bytes + back.length) } : {};
  const sending = request(`${url}/sessions/${session}/files/upload`, {
    ...{ method: "POST", headers: { ...type, ...length } },
  });
  let answer: { readonly status: number; readonly text: string } | undefined;
  const pieces: string[] = [];
  const answered = new Promise<void>((resolve, reject) => {
    sending.on("error", (error) => (answer === undefined ? reject(error) : resolve()));
    sending.on("response", (response) => {
      response.setEncoding("utf8").on("data", (piece: string) => pieces.push(piece));
      response.on("end", () => {
        answer = { status: response.statusCode ?? 0, text: pieces.join("") };
        resolve();
      });
    });
  });
  const piece = Buffer.alloc(64 * 1024, "0123456789,abcde\n");
  let sentBytes = 0;
  sending.write(front);
  const isOver = () => answer !== undefined || sending.destroyed;
  while (sentBytes < bytes && !isOver()) {
    if (sentBytes >= breakAfterBytes) sending.destroy(new Error("broken off"));
    const next = piece.subarray(0, Math.min(piece.length, bytes - sentBytes));
    sentBytes += next.length;
    if (!isOver() && !sending.write(next)) await Promise.race([once(sending, "drain"), answered.catch(() => {})]);
  }
  if (!isOver()) sending.end(back);
  await answered;
  sending.destroy();
  return { status: answer?.status, text: answer?.text ?? "", sentBytes };
}

// Uploads that come piece by piece.

const spoken = { "tus-resumable": "1.0.0" };
const base = `/sessions/${session}/files/uploads`;
const octets = { ...spoken, "content-type": "application/offset+octet-stream" };
type Call = FileDoor["call"];

test("an upload goes on after the server was killed, with the right checksum at its end; one that was whole is put into its place [S3][Q2]", async (t) => {
  const data = mkdtempSync(join(tmpdir(), "agentyard-test-"));
  t.after(() => rmSync(data, { recursive: true, force: true }));
  const bytes = Buffer.from(randomBytes(12 * MB).toString("base64"));
  const sha256 = createHash("sha256").update(bytes).digest("hex");
  let server = await startServer(t, data);
  const whole = pathOf(await create(server.call, { bytes: 4, filename: "a.txt", conversation_id: "c1" }));
  const made = await create(server.call, { bytes: bytes.length, filename: "数据.txt", conversation_id: "c1", sha256 });
  assert.equal(made.status, 201, `${made.bytes}`);
  const path = pathOf(made);
  const partOf = (upload: string) => join(data, "incoming", `${upload.slice(upload.lastIndexOf("/") + 1)}.part`);
  assert.equal(statSync(join(data, "incoming")).mode & 0o777, 0o700);

  // In the middle of a part, so that some of it has come and nobody has been told.
  const sending = request(`${server.url}${path}`, { method: "PATCH", headers: { ...octets, "upload-offset": "0" } });
  sending.on("error", () => {});
  sending.write(bytes.subarray(0, 5 * MB));
  await until("most of it has come", () => statSync(partOf(path)).size >= 3 * MB);
  await server.kill();
  writeFileSync(partOf(whole), "text");

  server = await startServer(t, data);
  const { call } = server;
  assert.equal((await call("HEAD", whole, { headers: spoken })).headers.get("upload-offset"), "4");
  assert.equal(`${(await call("GET", `/sessions/${session}/files/a.txt`)).bytes}`, "text");
  const head = await call("HEAD", path, { headers: spoken });
  const offset = Number(head.headers.get("upload-offset"));
  assert.deepEqual([head.status, head.headers.get("upload-length")], [200, String(bytes.length)]);
  assert.ok(offset >= 3 * MB && offset <= 5 * MB);
  const rest = await call("PATCH", path, {
    ...{ body: bytes.subarray(offset), headers: { ...octets, "upload-offset": String(offset) } },
  });
  assert.deepEqual([rest.status, rest.headers.get("upload-offset")], [204, String(bytes.length)]);
  const file = await call("GET", `/sessions/${session}/files/${encodeURIComponent("数据.txt")}`);
  assert.equal(createHash("sha256").update(file.bytes).digest("hex"), sha256);
  assert.equal(existsSync(partOf(path)), false);
  const state = await call("GET", path);
  assert.deepEqual([state.json.offset, state.json.file_path], [bytes.length, "c1/uploads/temparea/数据.txt"]);
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

async function startServer(t: TestContext, data = mkdtempSync(join(tmpdir(), "agentyard-test-"))) {
  const program = fileURLToPath(import.meta.resolve("./sandbox-files-server.ts"));
  const child = spawn(process.execPath, [program, data], { stdio: ["ignore", "pipe", "inherit"] });
  const ended = once(child, "close");
  const kill = async () => {
    child.kill("SIGKILL");
    await ended;
  };
  t.after(async () => {
    await kill();
    rmSync(data, { recursive: true, force: true });
  });
  const { value } = await createInterface({ input: child.stdout })[Symbol.asyncIterator]().next();
  const url = String(value);
  const bytesOf = (name: string) => {
    const status = readFileSync(`/proc/${child.pid}/status`, "utf8");
    return Number(new RegExp(`^${name}:\\s+(\\d+) kB`, "m").exec(status)?.[1]) * 1024;
  };
  return {
    ...{ url, call: caller(url), kill },
    memory: () => bytesOf("VmRSS"),
    peak: () => bytesOf("VmHWM"),
    forgetPeak: () => writeFileSync(`/proc/${child.pid}/clear_refs`, "5"),
  };
}
