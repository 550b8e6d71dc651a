import assert from "node:assert/strict";
import { test } from "node:test";
import { createLiveOutput, type LiveOutput } from "./live-output.ts";
import type { OutputPlace, ProgramOutput } from "./sandbox.ts";

async function readAll(live: LiveOutput, after?: OutputPlace): Promise<ProgramOutput[]> {
  const told: ProgramOutput[] = [];
  for await (const output of live.read(after)) told.push(output);
  return told;
}

const nextTick = () => new Promise((resolve) => setImmediate(resolve));

const numberedLines = (count: number) =>
  Array.from({ length: count }, (_, index) => `${String(index).padStart(7, "0")}\n`).join("");

test("readers hear everything from its beginning on, whenever they come, in the order it was said [X1][X2]", async () => {
  const live = createLiveOutput();
  live.add("stdout", Buffer.from("a"));
  const early = readAll(live);
  await nextTick();
  live.add("stderr", Buffer.from("b"));
  const late = readAll(live);
  live.add("stdout", Buffer.from("c"));
  live.end();
  const told: ProgramOutput[] = [
    { stream: "stdout", text: "a", cutBytes: 0, at: { stdout: 1, stderr: 0 } },
    { stream: "stderr", text: "b", cutBytes: 0, at: { stdout: 1, stderr: 1 } },
    { stream: "stdout", text: "c", cutBytes: 0, at: { stdout: 2, stderr: 1 } },
  ];
  assert.deepEqual([await early, await late, await readAll(live)], [told, told, told]);
});

test("what is not kept any more is told as missing, byte by byte: the pieces and the gaps are the whole [X1][X4]", async () => {
  const live = createLiveOutput();
  const bytes = Buffer.from(numberedLines(300_000));
  live.add("stdout", bytes);
  live.stdout.cut(5000);
  const slow = live.read()[Symbol.asyncIterator]();
  const { value: first } = await slow.next();
  live.end();
  live.shorten();
  // As often as others end after it.
  live.shorten();
  assert.ok(live.keptBytes() <= 530_000, `${live.keptBytes()} bytes are kept`);
  for (const after of [undefined, first.at, { stdout: 1_000_000, stderr: 0 }]) {
    const told = await readAll(live, after);
    let at = after?.stdout ?? 0;
    for (const { text, cutBytes, at: reached } of told) {
      assert.equal(text, bytes.subarray(at + cutBytes, reached.stdout).toString());
      at += cutBytes + text.length;
      assert.equal(at, reached.stdout);
    }
    assert.equal(at, bytes.length + 5000);
    assert.equal(told.filter(({ cutBytes }) => cutBytes > 0).length, 2);
  }
});

test("what was said beyond the limit ends with its last words, whole characters only, told once [X1][X4]", async () => {
  const [said, last] = [Buffer.from("héé"), Buffer.from("é fin")];
  const cases: [heard: number, cut: number, end: Buffer, told: string[]][] = [
    // All of it is there: halves of a character find together.
    [4, 1 + last.length, Buffer.concat([said.subarray(4), last]), ["hé 0", "éé fin 0"]],
    // Both are halves of others: they are missing, too.
    [4, 500, last.subarray(1), ["hé 0", ` ${1 + 500 - 4}`, " fin 0"]],
    [5, 500, Buffer.alloc(0), ["héé 0", " 500"]],
  ];
  for (const [heard, cut, end, wanted] of cases) {
    const live = createLiveOutput();
    live.add("stdout", said.subarray(0, heard));
    live.stdout.cut(cut, end);
    live.end();
    const told = await readAll(live);
    assert.deepEqual(
      told.map(({ text, cutBytes }) => `${text} ${cutBytes}`),
      wanted,
    );
    assert.deepEqual(told.at(-1)?.at, { stdout: heard + cut, stderr: 0 });
    for (const [index, { at }] of told.entries()) assert.deepEqual(await readAll(live, at), told.slice(index + 1));
  }
});
