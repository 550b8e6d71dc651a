import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { request } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { type TestContext, test } from "node:test";
import { fileURLToPath } from "node:url";
import { OwnerId } from "../../src/protocol/ids.ts";
import { until } from "../world/events.ts";
import { type FileDoor, openFileDoor, refusal, session } from "./sandbox-files.ts";

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
    const answer = await sendForm(server.url, { bytes: 100 * MB - 1, name: "large.csv", isFileFirst });
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
  for (const [what, body, status, code, headers] of [
    [
      "no boundary",
      file("a.csv") + named + end,
      400,
      "form_unfit: no_boundary",
      { "content-type": "multipart/form-data" },
    ],
    ["not a form", "{}", 400, "form_unfit: broken", { "content-type": "application/json" }],
    ["another boundary", `--y\r\n${file("a.csv")}--y--`, 400, "form_unfit: broken"],
    ["nothing", "", 400, "form_unfit: broken"],
    ["no file", named + end, 400, "form_unfit: no_file"],
    ["two files", file("a.csv") + file("b.csv") + named + end, 400, "form_unfit: several_files"],
    [
      "two files at a known place",
      field("conversation_id", "c2") + field("subdir", "temparea") + file("a.csv") + file("b.csv") + end,
      400,
      "form_unfit: several_files",
    ],
    ["10,000 parts", field("x", "y").repeat(10_000) + file("a.csv") + named + end, 400, "form_unfit: too_many_parts"],
    [
      "10,000 parts behind the file",
      file("a.csv") + field("x", "y").repeat(10_000) + named + end,
      400,
      "form_unfit: too_many_parts",
    ],
    ["a huge field", field("x", "y".repeat(MB)) + file("a.csv") + named + end, 400, "form_unfit: field_too_long"],
    [
      "a huge header",
      part(`content-disposition: form-data; name="${"x".repeat(MB)}"`, "") + end,
      400,
      "form_unfit: no_file",
    ],
    ["no end", file("a.csv") + named, 400, "form_unfit: broken"],
    ["no end of its file", `${file("a.csv").slice(0, -4)}`, 400, "form_unfit: broken"],
    ["no conversation", file("a.csv") + end, 400, "conversation_not_named"],
    ["no name", file("") + named + end, 400, "path_invalid"],
    ["a name above", file("../x") + named + end, 400, "path_traversal_blocked"],
    ["a name elsewhere", file("/etc/passwd") + named + end, 400, "path_invalid"],
    ["a folder of Windows", file("C:\\\\temp\\\\x.csv") + named + end, 400, "path_traversal_blocked"],
    ["a NUL", file("a\0.csv") + named + end, 400, "path_invalid"],
    ["a line break", file("a%0Ab\u2028.csv") + named + end, 400, "path_invalid"],
    ["a name over two lines", encoded("a%0D%0Aset-cookie:x.csv") + named + end, 400, "form_unfit: no_file"],
    ["a name with an escape", encoded("a%1B%5B2J.csv") + named + end, 400, "path_invalid"],
    ["a name of 256 bytes", file("界".repeat(86)) + named + end, 400, "path_invalid"],
    ["another folder", file("a.csv") + named + field("subdir", "skills") + end, 400, "bad_request"],
    ["a folder above", file("a.csv") + named + field("subdir", "outputs/../..") + end, 400, "path_traversal_blocked"],
    ["a bad conversation", file("a.csv") + field("conversation_id", "../c2") + end, 400, "bad_request"],
  ] as const) {
    const answer = await door.call("POST", `/sessions/${session}/files/upload`, { body, headers: headers ?? type });
    const [refused, told] = refusal(answer);
    const { why } = Object(answer.json.params);
    assert.deepEqual([refused, told === "form_unfit" ? `${told}: ${why}` : told], [status, code], what);
  }
  assert.deepEqual(await left(door), []);
  const there = await door.call("GET", `/sessions/${session}/files?conversation_id=c2`);
  assert.deepEqual(there.json.files, []);
  assert.equal((await door.yard.log.find(OwnerId.parse("ann"), "c1")).ok, false, "nothing is adopted for it");
});

test("a form whose sender goes away is told as that, and leaves nothing [F4][P4]", async () => {
  await using door = await openFileDoor();
  const cut = ReadableStream.from(
    (async function* () {
      yield Buffer.from(field("conversation_id", "c2") + file("a.csv").slice(0, -4));
      throw new Error("the sender has gone");
    })(),
  );
  const sent: RequestInit & { duplex: "half" } = { method: "POST", body: cut, duplex: "half", headers: type };
  const off = await door.yard.app.request(`/api/v1/sessions/${session}/files/upload`, sent);
  const { code, params } = Object(await off.json());
  assert.deepEqual([off.status, code, params], [400, "form_unfit", { why: "broken_off" }]);
  assert.deepEqual(await left(door), []);
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

async function startServer(t: TestContext) {
  const data = mkdtempSync(join(tmpdir(), "agentyard-test-"));
  const program = fileURLToPath(import.meta.resolve("./sandbox-files-server.ts"));
  const child = spawn(process.execPath, [program, data], { stdio: ["ignore", "pipe", "inherit"] });
  const ended = once(child, "close");
  t.after(async () => {
    child.kill("SIGKILL");
    await ended;
    rmSync(data, { recursive: true, force: true });
  });
  const { value: url } = await createInterface({ input: child.stdout })[Symbol.asyncIterator]().next();
  const bytesOf = (name: string) => {
    const status = readFileSync(`/proc/${child.pid}/status`, "utf8");
    return Number(new RegExp(`^${name}:\\s+(\\d+) kB`, "m").exec(status)?.[1]) * 1024;
  };
  return {
    url: String(url),
    memory: () => bytesOf("VmRSS"),
    peak: () => bytesOf("VmHWM"),
    forgetPeak: () => writeFileSync(`/proc/${child.pid}/clear_refs`, "5"),
  };
}
