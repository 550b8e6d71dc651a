import assert from "node:assert/strict";
import { PassThrough, Readable } from "node:stream";
import { test } from "node:test";
import { manualClock } from "../../test/world/manual-clock.ts";
import { keys, openTestTerminal } from "../../test/world/pty.ts";
import type { FollowFrame } from "../client/client.ts";
import { wordsFor } from "../words/words.ts";
import { InteractiveConsole } from "./interactive-console.ts";
import { readAll, readIfReady, readLines } from "./lines.ts";
import { PipedConsole } from "./piped-console.ts";
import { styleFor } from "./style.ts";
import { WaitingLine } from "./waiting-line.ts";

function open({ clock = manualClock() } = {}) {
  const terminal = openTestTerminal();
  const console = new InteractiveConsole({
    ...{ ...terminal.streams, clock, prompt: "> ", promptMore: ". " },
    pasteLabel: ({ number, lines }) => `[${number}: ${lines}]`,
    complete: (line) => [["/help", "/new"].filter((command) => command.startsWith(line)), line],
  });
  /** The program has seen it. */
  const typed = async (text: string) => {
    const { promise, resolve } = Promise.withResolvers<void>();
    terminal.streams.input.once("data", () => setImmediate(resolve));
    terminal.type(text);
    await promise;
  };
  return { ...terminal, console, clock, typed };
}

test("what happens while a line is typed is printed above it, in whole lines [U1]", async () => {
  const { console, type, waitFor, raw } = open();
  const reading = console.read({ prompt: "> ", want: "aside" });
  console.answer("one ");
  type("abc");
  await waitFor("> abc");
  const before = raw().length;
  console.answer("two");
  assert.equal(raw().length, before, "an unfinished line waits");
  console.answer(" three\nfo");
  await waitFor("two three\n> abc");
  type(`d${keys.enter}`);
  assert.deepEqual(await reading, { kind: "line", text: "abcd" });
  await waitFor("d\nfo");
  console.close();
});

const choice = { prompt: "y/n ", want: "key", keys: ["y", "n"] } as const;

test("a key is a choice where it was pressed alone, after a moment of quiet; other keys do nothing [H2]", async () => {
  const { console, type, clock, waitFor, typed } = open();
  const reading = console.read(choice);
  await typed("y");
  clock.move(399);
  await typed("y");
  clock.move(400);
  await waitFor("y/n ");
  // “why”, key by key as somebody types it; then in one piece, and pasted.
  for (const key of "why") {
    clock.move(150);
    await typed(key);
  }
  clock.move(1_000);
  await typed(`why is that?${keys.enter}`);
  clock.move(1_000);
  await typed(keys.paste("y"));
  clock.move(1_000);
  await typed("x");
  clock.move(1_000);
  type("N");
  assert.deepEqual(await reading, { kind: "key", key: "n" });
  console.close();
});

test("what was typed before the line to edit stood there is not what somebody wrote into it [H2]", async () => {
  const { console, type, clock, waitFor, typed } = open();
  await typed(`lp${keys.enter}half`);
  const reading = console.read({ prompt: "Command> ", want: "line", prefill: "rm outputs/q" });
  await waitFor("Command> rm outputs/q");
  type(keys.enter);
  assert.deepEqual(await reading, { kind: "line", text: "rm outputs/q" });
  const chosen = console.read(choice);
  clock.move(400);
  await waitFor("y/n ");
  type("y");
  assert.deepEqual(await chosen, { kind: "key", key: "y" });
  await typed("yy");
  assert.ok(!console.isTyping(), "keys for the next question are no message");
  console.close();
});

test("input that is taken away, or whose terminal is gone, has ended, also in the middle of a line", async () => {
  const gone = Object.assign(new Error("read EIO"), { code: "EIO", syscall: "read" });
  const ends: ((input: PassThrough, console: PipedConsole) => void)[] = [
    (input) => void input.end(),
    (_, console) => console.close(),
    (input) => void input.destroy(gone),
  ];
  for (const end of ends) {
    const input = new PassThrough();
    const console = new PipedConsole({ input, output: new PassThrough(), errors: new PassThrough() });
    input.write("one\nhal");
    assert.deepEqual(await console.read({ want: "line", prompt: "" }), { kind: "line", text: "one" });
    const reading = console.read({ want: "line", prompt: "" });
    end(input, console);
    const expected = input.destroyed ? { kind: "end" } : { kind: "line", text: "hal" };
    assert.deepEqual(await reading, expected);
  }
});

test("lines end at line feeds alone, wherever the bytes are cut", async () => {
  const bytes = Buffer.from("你好\r\nzwei\u2028drei\n\nlast");
  const whole = ["你好", "zwei\u2028drei", "", "last"];
  for (const size of [1, 2, 7, bytes.length]) {
    const pieces = Array.from({ length: Math.ceil(bytes.length / size) }, (_, at) =>
      bytes.subarray(at * size, (at + 1) * size),
    );
    const lines: string[] = [];
    for await (const line of readLines(Readable.from(pieces))) lines.push(line);
    assert.deepEqual(lines, whole);
    assert.equal(await readAll(Readable.from(pieces)), bytes.toString());
  }
});

test("input that has come is read, also where its time was over before anybody could look; what stays silent is not waited for [P2]", async () => {
  const clock = manualClock();
  const late = new PassThrough();
  const reading = readIfReady(late, clock);
  clock.move(300);
  late.end("a text");
  assert.equal(await reading, "a text");

  const silent = new PassThrough();
  const waiting = readIfReady(silent, clock);
  clock.move(300);
  assert.equal(await waiting, undefined);
  assert.deepEqual([silent.destroyed, clock.timers()], [true, 0]);
});

const place = { turn: 1, step: 1, attempt: 1 };
const request = { slot: "base", model: "m", reason: "default", hash: "", bytes: 0, reused: 0 } as const;
const asked: FollowFrame = { frame: "event", event: { seq: 1, at: 0, type: "step.started", ...place, ...request } };
const text: FollowFrame = { frame: "delta", ...place, kind: "text", offset: 0, text: "Hello" };

function openWaitingLine() {
  const opened = open();
  const { console, clock, raw } = opened;
  const line = new WaitingLine({ console, clock, words: wordsFor("en"), style: styleFor({ color: false }) });
  const before = raw().length;
  return { ...opened, line, written: () => raw().slice(before) };
}

const clear = "\u001b[1G\u001b[2K";

test("a model that says nothing for two seconds is said to be waited for, in one line that counts [U1]", () => {
  const { clock, line, written, console } = openWaitingLine();
  line.take(asked);
  clock.move(1_900);
  assert.equal(written(), "");
  clock.move(100);
  clock.move(1_000);
  assert.equal(written(), `… waiting for the model (2 s)${clear}… waiting for the model (3 s)`);
  line.take(text);
  console.answer("Hello");
  assert.ok(written().endsWith(`(3 s)${clear}Hello`));
  clock.move(10_000);
  assert.ok(written().endsWith("Hello"));
  assert.equal(clock.timers(), 0);
  console.close();
});
