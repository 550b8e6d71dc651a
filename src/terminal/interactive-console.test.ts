import assert from "node:assert/strict";
import { test } from "node:test";
import { manualClock } from "../../test/world/manual-clock.ts";
import { keys, openTestTerminal } from "../../test/world/pty.ts";
import { InteractiveConsole } from "./interactive-console.ts";

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

test("a wake waits for the typed line; the text stays where it is [U1]", async () => {
  const { console, type, waitFor } = open();
  const reading = console.read({ prompt: "> ", want: "line" });
  type("a");
  await waitFor("> a");
  console.wake();
  assert.ok(console.isTyping());
  type(keys.backspace);
  assert.deepEqual(await reading, { kind: "woken" });
  assert.ok(!console.isTyping());
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

test("a key that is pressed the moment the keys stand there is a choice, though timers fire a little early [H2]", async () => {
  const time = manualClock();
  const { console, type, waitFor, typed } = open({ clock: { ...time, monotonic: () => time.monotonic() * 0.99 } });
  const first = console.read(choice);
  time.move(400);
  await waitFor("y/n ");
  type("y");
  assert.deepEqual(await first, { kind: "key", key: "y" });
  const second = console.read(choice);
  time.move(400);
  await waitFor("y/n ");
  await typed("y");
  assert.deepEqual(await second, { kind: "key", key: "y" });
  console.close();
});

test("at a choice / opens the line for a command, and an emptied line leads back to the choice [H2][U1]", async () => {
  const { console, type, clock, waitFor, typed } = open();
  const first = console.read(choice);
  type(`/help${keys.enter}`);
  assert.deepEqual(await first, { kind: "line", text: "/help" });
  const second = console.read(choice);
  clock.move(400);
  await waitFor("y/n ");
  await typed("/");
  await waitFor("> /");
  await typed(`ne${keys.backspace}${keys.backspace}${keys.backspace}`);
  clock.move(400);
  await waitFor("y/n ");
  await typed("/x");
  await typed(keys.interrupt);
  clock.move(400);
  await waitFor("y/n ");
  clock.move(400);
  type("y");
  assert.deepEqual(await second, { kind: "key", key: "y" });
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

test("the line has history and completion; Ctrl+C tells whether something was typed [U1]", async () => {
  const { console, type, waitFor } = open();
  type(`first${keys.enter}`);
  assert.deepEqual(await console.read({ prompt: "> ", want: "line" }), { kind: "line", text: "first" });
  const again = console.read({ prompt: "> ", want: "line" });
  type(`${keys.up}${keys.enter}`);
  assert.deepEqual(await again, { kind: "line", text: "first" });
  const completed = console.read({ prompt: "> ", want: "line" });
  type("/h");
  await waitFor("/h");
  type("\t");
  await waitFor("elp");
  type(keys.interrupt);
  assert.deepEqual(await completed, { kind: "interrupt", isTyped: true });
  console.clear();
  assert.ok(!console.isTyping());
  console.close();
});

test("a prefilled line is edited from its end [H2]", async () => {
  const { console, type, waitFor } = open();
  const reading = console.read({ prompt: "Arguments> ", want: "line", prefill: '{"a":1}' });
  await waitFor('Arguments> {"a":1}');
  type(`${keys.backspace}${keys.backspace}2}${keys.enter}`);
  assert.deepEqual(await reading, { kind: "line", text: '{"a":2}' });
  console.close();
});
