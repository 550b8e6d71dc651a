import assert from "node:assert/strict";
import { test } from "node:test";
import { gather } from "../../../test/world/file-doors.ts";
import { BrokenOff } from "../../workspace/workspace.ts";
import { openForm } from "./multipart.ts";

const type = "multipart/form-data; boundary=b";
const field = (name: string, value: string) =>
  `--b\r\ncontent-disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`;
const file = (name: string, content = "text") =>
  `--b\r\ncontent-disposition: form-data; name="file"; filename="${name}"\r\n\r\n${content}\r\n`;
const end = "--b--\r\n";

/** A sender, and how far it has come: how many pieces were taken, and whether nobody wants more. */
function sender(pieces: Iterable<string>) {
  const seen = { taken: 0, isOver: false };
  async function* source() {
    try {
      for (const piece of pieces) {
        seen.taken += 1;
        yield Buffer.from(piece);
      }
    } finally {
      seen.isOver = true;
    }
  }
  return { source: source(), seen };
}

async function told(...pieces: string[]) {
  const form = await openForm(sender(pieces).source, type);
  if (!form.ok) return form.failure.params.why;
  try {
    const content = await gather(form.value.file.chunks);
    return [form.value.file.name, content.toString(), Object.fromEntries(form.value.fields)];
  } catch (error) {
    assert.ok(error instanceof BrokenOff);
    return form.value.fault()?.params.why;
  }
}

test("a form may have as many fields, and fields as long, as the limits say, before its file and behind it [F4]", async () => {
  const fields = Array.from({ length: 33 }, (_, n) => field(`f${n}`, "x"));
  const all = Object.fromEntries(fields.slice(0, 32).map((_, n) => [`f${n}`, "x"]));
  assert.deepEqual(await told(fields.slice(0, 32).join("") + file("a.txt") + end), ["a.txt", "text", all]);
  assert.deepEqual(await told(file("a.txt") + fields.slice(0, 32).join("") + end), ["a.txt", "text", all]);
  assert.equal(await told(fields.join("") + file("a.txt") + end), "too_many_parts");
  assert.equal(await told(file("a.txt") + fields.join("") + end), "too_many_parts");
  const longest = "x".repeat(8 * 1024);
  assert.deepEqual(await told(field("f", longest) + file("a.txt") + end), ["a.txt", "text", { f: longest }]);
  assert.equal(await told(`${field("f", `${longest}x`)}${file("a.txt")}${end}`), "field_too_long");
  assert.equal(await told(`${file("a.txt")}${field("f", `${longest}x`)}${end}`), "field_too_long");
  assert.equal(await told(file("a.txt") + file("b.txt") + end), "several_files");
  const late = await told(file("a.txt"), "--b\r\n", field("f", "x").slice(5), end);
  assert.deepEqual(late, ["a.txt", "text", { f: "x" }], "the file ends with the form, not before");
  assert.equal(await told(file("a.txt"), "--b\r\n", file("b.txt").slice(5), end), "several_files");
});

/** A file without end, of which each piece is larger than what is held of it. */
function* endless() {
  yield file("a.txt", "").slice(0, -2);
  for (;;) yield "x".repeat(256 * 1024);
}

test("a file is taken no faster than it is read, and no further once nobody wants more of it [F4]", async () => {
  const soon = () => new Promise((resolve) => setImmediate(resolve));
  for (const leave of ["close", "return"] as const) {
    const { source, seen } = sender(endless());
    const form = await openForm(source, type);
    assert.ok(form.ok);
    for (let turn = 0; turn < 20; turn += 1) await soon();
    assert.ok(seen.taken <= 3, `${seen.taken} pieces were taken that nobody has read`);
    const chunks = form.value.file.chunks[Symbol.asyncIterator]();
    assert.equal((await chunks.next()).done, false);
    if (leave === "close") form.value.close();
    else await chunks.return?.();
    while (!seen.isOver) await soon();
    assert.equal(form.value.fault(), undefined);
  }
});

test("the sender of a form that is refused before its file has come is not listened to any further [F4][S5]", async () => {
  const { source, seen } = sender(
    (function* () {
      yield field("f", "x".repeat(9 * 1024));
      for (;;) yield field("g", "x");
    })(),
  );
  const form = await openForm(source, type);
  assert.deepEqual(form.ok ? undefined : form.failure.params, { why: "field_too_long" });
  while (!seen.isOver) await new Promise((resolve) => setImmediate(resolve));
});

test("a form whose sender goes away in the middle of its file breaks off for whoever reads it [F4][Q2]", async () => {
  async function* cut() {
    yield Buffer.from(file("a.txt").slice(0, -4));
    throw new BrokenOff("the sender has gone");
  }
  const form = await openForm(cut(), type);
  assert.ok(form.ok);
  await assert.rejects(gather(form.value.file.chunks), BrokenOff);
  assert.deepEqual(form.value.fault()?.params, { why: "broken_off" });
});

test("a mistake of ours while a form comes in is told as one, and not as a form that its sender broke off [F4]", async () => {
  async function* broken(beginning: string) {
    yield Buffer.from(beginning);
    throw new RangeError("a mistake of ours");
  }
  await assert.rejects(openForm(broken(field("f", "x")), type), RangeError);
  const form = await openForm(broken(file("a.txt").slice(0, -4)), type);
  assert.ok(form.ok);
  await assert.rejects(gather(form.value.file.chunks), RangeError);
});
