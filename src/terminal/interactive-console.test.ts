import assert from "node:assert/strict";
import { test } from "node:test";
import { keys, openTestTerminal } from "../../test/world/pty.ts";
import { InteractiveConsole } from "./interactive-console.ts";

function open() {
  const terminal = openTestTerminal();
  const console = new InteractiveConsole({
    ...{ ...terminal.streams, prompt: "> ", promptMore: ". " },
    pasteLabel: ({ number, lines }) => `[${number}: ${lines}]`,
    complete: (line) => [["/help", "/new"].filter((command) => command.startsWith(line)), line],
  });
  return { ...terminal, console };
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

test("keys are taken one by one where a key is wanted, and others do nothing [H2]", async () => {
  const { console, type } = open();
  const reading = console.read({ prompt: "y/n ", want: "key", keys: ["y", "n"] });
  type(`x${keys.enter}${keys.paste("y")}N`);
  assert.deepEqual(await reading, { kind: "key", key: "n" });
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
