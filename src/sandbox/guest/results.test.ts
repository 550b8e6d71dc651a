import assert from "node:assert/strict";
import { test } from "node:test";
import { outcomeOf } from "../../../test/world/bare-supervisor.ts";
import { execution, exited, playSupervisor } from "./played-supervisor.testing.ts";
import { createResults, type ResultKind } from "./results.ts";

const typeOf = (kind: ResultKind, text: string) => {
  const taken = createResults().take(kind, Buffer.from(text), false);
  return typeof taken === "string" ? taken : taken.type;
};

test("a value is handed on as JSON where it is some, no deeper than a hundred, whatever its texts say [X1][X4]", () => {
  const deep = (depth: number) => "[".repeat(depth) + "]".repeat(depth);
  const texts = [deep(100), deep(101), `{"a":${deep(99)}}`, `{"a":${deep(100)}}`, JSON.stringify("[".repeat(101))];
  const more = [JSON.stringify(`"${"{".repeat(101)}\\`), `[${Array(101).fill("[{}]").join()}]`, "{", ""];
  assert.deepEqual(
    [...texts, ...more].map((text) => typeOf("json", text)),
    ["json", "text", "json", "text", "json", "json", "json", "text", "text"],
  );
  assert.equal(typeOf("text", "[]"), "text");
});

test("a figure is a picture in outputs, and no other place is named as one [X1][X6]", () => {
  const names = ["outputs/a.png", "outputs/b/c d.png", `outputs/${"x".repeat(500)}.png`, "outputs/..a.png"];
  const others = ["a.png", "outputs/.png", `outputs/${"x".repeat(501)}.png`, "outputs/../a.png", "outputs/a/./b.png"];
  const odd = ["outputs/a.svg", "/outputs/a.png", "outputs/a\n.png", "outputs/a\\b.png", "outputs/a.png\n"];
  assert.deepEqual(
    [...names, ...others, ...odd].map((name) => typeOf("png", name)),
    [...names.map(() => "png"), ...[...others, ...odd].map(() => "unfit")],
  );
});

test("pieces of a value are put together, and the next value has none of them [X1]", () => {
  const results = createResults();
  const take = (text: string, hasMore: boolean) => results.take("text", Buffer.from(text), hasMore);
  assert.deepEqual(
    [take("a", true), take("", true), take("b", false), take("c", false)],
    ["incomplete", "incomplete", { type: "text", bytes: Buffer.from("ab") }, { type: "text", bytes: Buffer.from("c") }],
  );
});

test("the values of an execution may have a mebibyte together, and a short piece counts as sixty-four bytes [X1][X4]", () => {
  for (const [bytes, count] of [
    [65_536, 16],
    [64, 16_384],
    [0, 16_384],
  ] as const) {
    const results = createResults();
    const piece = Buffer.alloc(bytes, "x");
    const told = Array.from({ length: count + 1 }, () => results.take("text", piece, true));
    assert.deepEqual([told.indexOf("too_much"), told.at(-1)], [count, "too_much"]);
  }
});

test("output and remarks up to their limit are heard on each stream, and a figure elsewhere is not [X1][X4]", async () => {
  const limits = { outputBytesMax: 1000, fileBytesMax: 1 };
  const { guest, far } = await playSupervisor({ limits });
  const outcome = outcomeOf(guest.run(execution({})));
  const streams = ["stdout", "stderr"] as const;
  for (const stream of streams) far.say({ type: "out", id: "e", stream }, "x".repeat(1000 + 4096));
  for (const stream of streams) far.say({ type: "cut", id: "e", stream, bytes: 4 }, "tail");
  far.say({ type: "result", id: "e", kind: "png", more: false }, "/etc/a.png");
  far.say({ ...exited, id: "e" });
  const { stdout, stderr, results, end } = await outcome;
  assert.deepEqual([stdout.length, stderr.length, results, end], [5096, 5096, [], "done 0"]);
  assert.deepEqual([guest.isOpen(), guest.dropped()], [true, 1]);
  void guest.run(execution({}));
  far.say({ type: "out", id: "e", stream: "stderr" }, "x".repeat(1000 + 4096 + 1));
  assert.deepEqual(await guest.ended, { why: "protocol_error" });
});
