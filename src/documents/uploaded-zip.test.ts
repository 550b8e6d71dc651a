import assert from "node:assert/strict";
import { test } from "node:test";
import { deflateRawSync } from "node:zlib";
import { gather } from "../../test/world/file-doors.ts";
import { type Entry, zip } from "../../test/world/odd-zip.ts";
import { BrokenOff } from "../workspace/workspace.ts";
import { readUploadedZip } from "./uploaded-zip.ts";

function sourceOf(bytes: Buffer) {
  const lengths: number[] = [];
  const read = async (offset: number, length: number) => {
    lengths.push(length);
    return bytes.subarray(offset, offset + length);
  };
  return { bytes: bytes.length, read, lengths };
}

/** What an archive holds, or why it is refused. */
async function held(bytes: Buffer) {
  const read = await readUploadedZip(sourceOf(bytes), "a.zip");
  if (!read.ok) return read.failure.params;
  return read.value.map(({ path, bytes: size }) => `${path} ${size}`);
}

async function content(bytes: Buffer) {
  const read = await readUploadedZip(sourceOf(bytes), "a.zip");
  assert.ok(read.ok);
  const contents: string[] = [];
  for (const file of read.value) contents.push((await gather(file.chunks())).toString());
  return contents;
}

const text = Buffer.from("0123456789".repeat(10));
const packed = { content: text, packed: deflateRawSync(text), method: 8 };

test("an archive is read as other programs write it: packed or not, with more in its heads, a comment behind, folders by name or by mode [S3]", async () => {
  const entries = [
    { name: "a/b.txt", content: text, extra: 28, added: [Buffer.alloc(9), Buffer.from("a word")] },
    { name: "a/", mode: 0o040755 },
    { name: "folder", mode: 0o040755 },
    { name: "./a//c.txt", ...packed, mode: 0o100644 },
    { name: Buffer.from("数据.csv"), ...packed, flags: 0x800 },
    { name: Buffer.from("ä.txt", "latin1") },
  ];
  const listed = await held(zip(entries));
  assert.deepEqual(Array.isArray(listed) && listed.slice(0, 3), ["a/b.txt 100", "a/c.txt 100", "数据.csv 100"]);
  assert.equal(Array.isArray(listed) && listed.length, 4);
  assert.deepEqual(await content(zip(entries.slice(0, 4))), [text, text].map(String));
  const plain = [{ name: "a.txt", content: text }];
  // A comment may look like an end of its own.
  const comment = Buffer.concat([zip([]), Buffer.from("x")]);
  assert.deepEqual(await held(zip(plain, { comment })), ["a.txt 100"]);
  assert.deepEqual(await held(zip(plain, { comment: Buffer.alloc(65_535) })), ["a.txt 100"]);
  const large = Buffer.alloc(150_000, "x");
  const source = sourceOf(zip([{ name: "a.txt", content: large }]));
  const read = await readUploadedZip(source, "a.zip");
  assert.ok(read.ok && read.value[0]);
  source.lengths.length = 0;
  assert.ok((await gather(read.value[0].chunks())).equals(large));
  assert.deepEqual(source.lengths, [65_536, 65_536, 18_928]);
});

test("an archive whose parts do not fit together is refused as broken, whichever part it is [S3][F4]", async () => {
  const plain = [{ name: "a.txt", content: text }];
  const broken = { name: "a.zip", entry: "", why: "broken" };
  const changed = (at: number) => {
    const bytes = zip(plain);
    bytes[at] = 0x7f;
    return bytes;
  };
  const row = 30 + 5 + 100;
  for (const [what, bytes] of [
    ["the second of several", zip(plain, { disk: 1 })],
    ["another count beside", zip(plain, { entriesHere: 2 })],
    ["a directory that is longer than there is room", zip(plain, { bytesMore: 1 })],
    ["no head before the bytes", changed(0)],
    ["no row in the directory", changed(row)],
    ["a name that is longer than its row", changed(row + 29)],
    ["bytes that reach into the directory", changed(26)],
    ["two that share their bytes", zip([...plain, { name: "b.txt", content: text, at: 0 }])],
    ["something behind the end", Buffer.concat([zip(plain), Buffer.from("x")])],
    ["bytes that would begin behind the end of all", zip([{ name: "a.txt", content: text, at: 1_000_000 }])],
    ["a head that is cut off by the end", zip([{ name: "a.txt", at: 70 }])],
    ["what is shorter than any archive", zip([]).subarray(1)],
  ] as const)
    assert.deepEqual(await held(bytes), broken, what);
  const named = (why: string, entry = "a.txt") => ({ name: "a.zip", entry, why });
  const one = (entry: Partial<Entry>) => held(zip([{ name: "a.txt", content: text, ...entry }]));
  assert.deepEqual(await one({ bytes: 99 }), named("broken"), "stored, and of another size");
  assert.deepEqual(await one({ method: 9 }), named("method"));
  assert.deepEqual(await one({ flags: 1 }), named("encrypted"));
  for (const kind of [0o120777, 0o010644, 0o060644, 0o140755])
    assert.deepEqual(await one({ mode: kind }), named("link"), kind.toString(8));
  assert.deepEqual(await one({ name: "./" }), named("path", "./"));
  assert.deepEqual(await held(zip([])), []);
});

test("an archive may hold as many files and bytes as the limits say, and unpack to a hundred times its size [F4][S3]", async () => {
  const claims = (...bytes: number[]) => bytes.map((size, n) => ({ name: `${n}`, ...packed, bytes: size }));
  const over = (what: string, limit: number) => ({ name: "a.zip", what, limit });
  const mebi = 1024 ** 2;
  assert.deepEqual(await held(zip(claims(mebi))), [`0 ${mebi}`], "little that packs very well is no bomb");
  assert.deepEqual(await held(zip(claims(mebi + 1))), over("ratio", 100));
  const pad = { name: "pad", content: Buffer.alloc(20_000) };
  const size = zip([pad, ...claims(1)]).length;
  const most = size * 100 - pad.content.length;
  assert.deepEqual(await held(zip([pad, ...claims(most)])), ["pad 20000", `0 ${most}`]);
  assert.deepEqual(await held(zip([pad, ...claims(most + 1)])), over("ratio", 100));
  assert.deepEqual(await held(zip(claims(256 * mebi, 256 * mebi))), over("ratio", 100));
  assert.deepEqual(await held(zip(claims(256 * mebi, 256 * mebi + 1))), over("bytes", 512 * mebi));
  const many = Array.from({ length: 10_001 }, (_, n) => ({ name: `${n}` }));
  const all = await held(zip(many.slice(1)));
  assert.equal(Array.isArray(all) && all.length, 10_000);
  assert.deepEqual(await held(zip(many)), over("files", 10_000));
});

test("a file of an archive breaks off where it is not what the archive says of it, and a disk that fails is told as that [F4][Q2]", async () => {
  const chunks = async (entry: Entry) => content(zip([entry]));
  const isBroken = (error: unknown) => error instanceof BrokenOff;
  await assert.rejects(chunks({ name: "a", ...packed, bytes: 99 }), isBroken, "it has more");
  await assert.rejects(chunks({ name: "a", ...packed, bytes: 101 }), isBroken, "it has less");
  await assert.rejects(chunks({ name: "a", content: text, crc: 7 }), isBroken, "another content");
  const garbage = { packed: Buffer.from([0xff, 0xff, 0xff]), method: 8 };
  await assert.rejects(chunks({ name: "a", content: text, ...garbage }), isBroken, "it cannot be unpacked");
  const bytes = zip([{ name: "a", ...packed }]);
  let isDead = false;
  const plain = sourceOf(bytes);
  const dying = {
    ...plain,
    read: async (at: number, length: number) =>
      isDead ? Promise.reject(Object.assign(new Error("EIO"), { code: "EIO" })) : plain.read(at, length),
  };
  const read = await readUploadedZip(dying, "a.zip");
  isDead = true;
  assert.ok(read.ok && read.value[0]);
  await assert.rejects(gather(read.value[0].chunks()), /EIO/);
});

test("a directory without end is not read, however few files it says it has [F4][Q1]", async () => {
  const most = 16 * 1024 ** 2;
  const told = async (directoryBytes: number) => {
    const end = zip([], { bytesMore: directoryBytes });
    const lengths: number[] = [];
    const read = async (offset: number, length: number) => {
      lengths.push(length);
      const bytes = Buffer.alloc(length);
      if (offset + length === directoryBytes + end.length) end.copy(bytes, length - end.length);
      return bytes;
    };
    const archive = await readUploadedZip({ bytes: directoryBytes + end.length, read }, "a.zip");
    return [archive.ok || archive.failure.params, lengths.slice(1)];
  };
  assert.deepEqual(await told(most), [true, [most]]);
  assert.deepEqual(await told(most + 1), [{ name: "a.zip", entry: "", why: "broken" }, []]);
});

test("a name in another encoding is read as the archive means it where it says so, else as what it is [S3]", async () => {
  const gbk = Buffer.from([0xca, 0xfd, 0xbe, 0xdd, 0xb1, 0xed, 0xb8, 0xf1, 0x2e, 0x63, 0x73, 0x76]);
  assert.deepEqual(await held(zip([{ name: gbk }])), ["数据表格.csv 0"]);
  const marked = await held(zip([{ name: gbk, flags: 0x800 }]));
  assert.match(String(marked), /\ufffd.*\.csv 0$/u);
});
