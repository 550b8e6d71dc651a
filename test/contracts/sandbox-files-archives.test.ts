import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { OwnerId } from "../../src/protocol/ids.ts";
import { type FileDoor, openFileDoor, refusal, session } from "./sandbox-files.ts";

const python = "/usr/bin/python3";
const noPython = !existsSync(python) && "needs /usr/bin/python3";
type Bytes = Buffer<ArrayBuffer>;
const base = `/sessions/${session}/files`;

test("a folder of many files comes as a ZIP file that other programs open, names and bytes as they are [S3]", {
  skip: noPython,
}, async (t) => {
  await using door = await openFileDoor();
  const workspace = await workspaceOf(door, "c1");
  for (let number = 0; number < 200; number += 1) {
    const written = await workspace.write(
      `outputs/报告/${number % 7}/文件 ${number}.txt`,
      `content ${number}\n`.repeat(99),
    );
    assert.ok(written.ok);
  }
  await workspace.write("outputs/报告/empty", "");
  const zip = await door.call("GET", `${base}/c1/outputs/${encodeURIComponent("报告")}`);
  assert.deepEqual(
    ["content-type", "content-disposition", "content-length"].map((name) => zip.headers.get(name)),
    ["application/zip", `attachment; filename="__.zip"; filename*=UTF-8''${encodeURIComponent("报告.zip")}`, null],
  );
  const look = `
import zipfile, sys, json
with zipfile.ZipFile(sys.argv[1]) as z:
    assert z.testzip() is None
    names = z.namelist()
    print(json.dumps([len(names), z.read("0/文件 7.txt").decode(), z.read("empty").decode(), sorted(names)[-2]]))
`;
  assert.deepEqual(JSON.parse(runPython(t, look, zip.bytes)), [201, "content 7\n".repeat(99), "", "6/文件 97.txt"]);
  assert.ok(zip.bytes.length < 500_000, "it is compressed");
  const head = await door.call("HEAD", `${base}/c1/outputs/${encodeURIComponent("报告")}`);
  assert.deepEqual([head.status, head.headers.get("content-type")], [200, "application/zip"]);

  // One file, and the whole conversation by our own route.
  const names = "import zipfile, sys, json; print(json.dumps(sorted(zipfile.ZipFile(sys.argv[1]).namelist())[:2]))";
  const one = await door.call("GET", `${base}/c1/outputs/${encodeURIComponent("报告")}/empty?format=zip`);
  assert.deepEqual(JSON.parse(runPython(t, names, one.bytes)), ["empty"]);
  const headers = { "x-account-id": "ann" };
  const all = await door.call("GET", "/conversations/c1/files/archive", { headers });
  assert.deepEqual(JSON.parse(runPython(t, names, all.bytes)), [
    "outputs/报告/0/文件 0.txt",
    "outputs/报告/0/文件 105.txt",
  ]);
  const nothing = await door.call("GET", "/conversations/c1/files/archive?path=../x", { headers });
  assert.deepEqual(refusal(nothing), [400, "path_traversal_blocked"]);
});

test("a ZIP file is unpacked into its folder; what is there stays, unless it is to be replaced [S3][F4]", {
  skip: noPython,
}, async (t) => {
  await using door = await openFileDoor();
  const zip = makeZip(
    t,
    `
z.writestr("a.csv", "a,b\\n1,2\\n")
z.writestr("./数据/b.txt", "text " * 1000)
z.writestr(zipfile.ZipInfo("folder/"), "")
z.writestr("c.csv", "stored\\n" * 20_000, compress_type=zipfile.ZIP_STORED)
z.comment = b"made by hand"
`,
  );
  const fields = { conversation_id: "c1" };
  const file = new File([zip], "set.zip");
  const unpacked = await door.upload(file, fields, "?extract=true");
  assert.deepEqual(
    [unpacked.status, unpacked.json],
    [
      200,
      {
        mode: "archive_extract",
        session_id: session,
        conversation_id: "c1",
        extract_path: "c1/uploads/temparea",
        extracted_file_count: 3,
        skipped_file_count: 0,
        size: 8 + 5000 + 140_000,
      },
    ],
  );
  const listed = await door.call("GET", `${base}?conversation_id=c1`);
  assert.deepEqual(listed.json.files, ["a.csv", "c.csv", "数据/b.txt"]);
  const again = await door.upload(file, { ...fields, extract: "true" });
  assert.deepEqual([again.json.extracted_file_count, again.json.skipped_file_count], [0, 3]);
  const said = { ...fields, extract: "1", overwrite: "1" };
  for (const over of [await door.upload(file, fields, "?extract=true&overwrite=true"), await door.upload(file, said)])
    assert.deepEqual([over.json.extracted_file_count, over.json.skipped_file_count], [3, 0]);
  const elsewhere = await door.upload(file, {}, "?extract=true&path=c1/outputs/set");
  assert.deepEqual([elsewhere.status, elsewhere.json.extract_path], [200, "c1/outputs/set"]);
});

test("names in the encoding of a Chinese Windows are read as they were meant [S3]", { skip: noPython }, async (t) => {
  await using door = await openFileDoor();
  // Little that packs very well is no bomb.
  const zip = makeZip(t, 'z.writestr("XXXXXXXX.csv", "a,b\\n" * 200_000)');
  const gbk = Buffer.from([0xca, 0xfd, 0xbe, 0xdd, 0xb1, 0xed, 0xb8, 0xf1]); // 数据表格
  const renamed = replaceAll(zip, Buffer.from("XXXXXXXX"), gbk);
  const unpacked = await door.upload(new File([renamed], "a.zip"), { conversation_id: "c1" }, "?extract=true");
  assert.equal(unpacked.status, 200, JSON.stringify(unpacked.json));
  const listed = await door.call("GET", `${base}?conversation_id=c1`);
  assert.deepEqual(listed.json.files, ["数据表格.csv"]);
});

test("an archive that would lead out of its folder, or blow up, is refused before anything is unpacked [S3][S5][F4]", {
  skip: noPython,
}, async (t) => {
  await using door = await openFileDoor();
  const refuse = async (zip: Bytes) => {
    const { status, json } = await door.upload(new File([zip], "a.zip"), { conversation_id: "c1" }, "?extract=true");
    const { why, what } = Object(json.params);
    return `${status} ${json.code} ${why ?? what}`;
  };
  const first = 'z.writestr("a.csv", "a,b\\n")\n';
  const info = (name: string, mode: string) =>
    `i = zipfile.ZipInfo("${name}"); i.create_system = 3; i.external_attr = ${mode} << 16; z.writestr(i, "/etc/passwd")`;
  const zeros = 'z.writestr("z.txt", "0" * (20 * 1024 * 1024))';
  const cases = [
    ['z.writestr("../x.csv", "a")', "400 archive_unfit path"],
    ['z.writestr("a/../../x.csv", "a")', "400 archive_unfit path"],
    ['z.writestr("/etc/x", "a")', "400 archive_unfit path"],
    ['z.writestr("C:/x", "a")', "400 archive_unfit path"],
    ['i = zipfile.ZipInfo("a"); i.filename = "..\\\\x"; z.writestr(i, "a")', "400 archive_unfit path"],
    ['z.writestr("a\\nb.csv", "a")', "400 archive_unfit path"],
    [info("a link", "0o120777"), "400 archive_unfit link"],
    [info("a device", "0o020666"), "400 archive_unfit link"],
    [zeros, "413 archive_too_large ratio"],
    ['for n in range(10001): z.writestr(f"{n}", "")', "413 archive_too_large files"],
    ['z.writestr("l.txt", "a" * 100, compress_type=zipfile.ZIP_LZMA)', "400 archive_unfit method"],
    ["", undefined],
  ] as const;
  const zips = makeZips(
    t,
    cases.map(([program]) => first + program),
  );
  for (const [index, [what, told]] of cases.entries())
    if (told !== undefined) assert.equal(await refuse(zips[index] ?? assert.fail()), told, what);
  const plain = zips.at(-1) ?? assert.fail();
  const bomb = zips[cases.findIndex(([what]) => what === zeros)] ?? assert.fail();
  for (const [what, bytes, told] of [
    [
      "a size that lies",
      replaceAll(bomb, sized(20 * 1024 ** 2), sized(513 * 1024 ** 2)),
      "413 archive_too_large bytes",
    ],
    ["a text", Buffer.from("text"), "400 archive_unfit broken"],
    ["nothing", Buffer.alloc(0), "400 archive_unfit broken"],
    ["half of one", plain.subarray(0, plain.length / 2), "400 archive_unfit broken"],
    ["an end without a beginning", plain.subarray(40), "400 archive_unfit broken"],
    [
      "a count that lies",
      replaceAll(plain, Buffer.from([1, 0, 1, 0]), Buffer.from([9, 0, 9, 0])),
      "400 archive_unfit broken",
    ],
    ["one with a password", withPassword(plain), "400 archive_unfit encrypted"],
  ] as const)
    assert.equal(await refuse(bytes), told, what);
  const listed = await door.call("GET", `${base}?path=c1&format=names`);
  assert.deepEqual(listed.json.files, []);
  assert.ok(!existsSync(join(door.yard.data, "x.csv")));
});

test("what an archive says of its sizes is held to: entries that lie or share bytes are not stored [S3][F4]", {
  skip: noPython,
}, async (t) => {
  await using door = await openFileDoor();
  const made = makeZip(t, 'z.writestr("a.txt", "0123456789" * 100)');
  for (const [what, bytes] of [
    ["it has more", replaceAll(made, sized(1000), sized(999))],
    ["it has less", replaceAll(made, sized(1000), sized(1001))],
    ["another content", replaceAll(made, sized(crcOf(made)), sized(7))],
  ] as const) {
    const refused = await door.upload(new File([bytes], "a.zip"), { conversation_id: "c1" }, "?extract=true");
    assert.deepEqual([...refusal(refused), refused.json.extracted_file_count], [400, "archive_unfit", 0], what);
  }
  const shared = makeZip(
    t,
    `
z.writestr("a.txt", "text")

import copy
info = copy.copy(z.infolist()[0]); info.filename = "b.txt"; info.orig_filename = "b.txt"
z.filelist.append(info)
`,
  );
  const twins = await door.upload(new File([shared], "a.zip"), { conversation_id: "c1" }, "?extract=true");
  assert.deepEqual(refusal(twins), [400, "archive_unfit"]);
  const listed = await door.call("GET", `${base}?path=c1&format=names`);
  assert.deepEqual(listed.json.files, []);
});

test("files of an archive obey the rules of uploads: type by content, and how many there may be [F4]", {
  skip: noPython,
}, async (t) => {
  await using door = await openFileDoor();
  const program = makeZip(t, 'z.writestr("a.csv", "a,b\\n"); z.writestr("b.csv", b"\\x7fELF" + bytes(200))');
  const refused = await door.upload(new File([program], "a.zip"), { conversation_id: "c1" }, "?extract=true");
  assert.deepEqual([...refusal(refused), refused.json.extracted_file_count], [415, "unsupported_type", 1]);
  const many = makeZip(t, 'for n in range(60): z.writestr(f"d/{n}.txt", "text")');
  const over = await door.upload(new File([many], "a.zip"), { conversation_id: "c2" }, "?extract=true");
  assert.deepEqual([...refusal(over), over.json.extracted_file_count], [409, "quota_exceeded", 50]);
});

async function workspaceOf({ yard }: FileDoor, id: string) {
  const made = await yard.engine.create(OwnerId.parse("ann"), { id });
  assert.ok(made.ok);
  return yard.workspaces.ofConversation(made.value);
}

/** Runs a program with a file of these bytes as its argument. */
function runPython(t: TestContext, program: string, bytes: Uint8Array = Buffer.alloc(0)): string {
  const folder = mkdtempSync(join(tmpdir(), "agentyard-zip-"));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  const path = join(folder, "a.zip");
  writeFileSync(path, bytes);
  return execFileSync(python, ["-c", program, path], { encoding: "utf8" });
}

/** ZIP files as Python makes them; `z` is what each program fills. */
function makeZips(t: TestContext, programs: readonly string[]): Bytes[] {
  const bodies = programs.map((program) => `if True:\n    ${`${program.trim()}\npass`.replaceAll("\n", "\n    ")}`);
  const printed = runPython(
    t,
    `
import zipfile, sys, warnings
warnings.simplefilter("ignore")
for index, body in enumerate(${JSON.stringify(bodies)}):
    with zipfile.ZipFile(f"{sys.argv[1]}.{index}", "w", zipfile.ZIP_DEFLATED) as z:
        exec(body)
print(sys.argv[1])
`,
  );
  return programs.map((_, index) => readFileSync(`${printed.trim()}.${index}`));
}

function makeZip(t: TestContext, program: string): Bytes {
  const [zip = assert.fail()] = makeZips(t, [program]);
  return zip;
}

/** A number of the format, as it stands in the file. */
function sized(bytes: number): Buffer {
  const field = Buffer.alloc(4);
  field.writeUInt32LE(bytes);
  return field;
}

function crcOf(zip: Buffer): number {
  return zip.readUInt32LE(14);
}

function replaceAll(bytes: Bytes, from: Buffer, to: Buffer): Bytes {
  const copy = Buffer.from(bytes);
  for (let at = copy.indexOf(from); at >= 0; at = copy.indexOf(from, at + 1)) to.copy(copy, at);
  return copy;
}

/** By its flags: what is in it nobody looks at. */
function withPassword(zip: Buffer<ArrayBuffer>): Buffer<ArrayBuffer> {
  const locked = Buffer.from(zip);
  for (const [head, at] of [
    ["PK\x03\x04", 6],
    ["PK\x01\x02", 8],
  ] as const)
    locked[zip.indexOf(head) + at] = 1;
  return locked;
}
