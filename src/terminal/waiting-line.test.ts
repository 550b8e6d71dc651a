import assert from "node:assert/strict";
import { test } from "node:test";
import { manualClock } from "../../test/world/manual-clock.ts";
import { openTestTerminal } from "../../test/world/pty.ts";
import type { FollowFrame } from "../client/client.ts";
import { wordsFor } from "../words/words.ts";
import { InteractiveConsole } from "./interactive-console.ts";
import { styleFor } from "./style.ts";
import { WaitingLine } from "./waiting-line.ts";

const place = { turn: 1, step: 1, attempt: 1 };
const request = { slot: "base", model: "m", reason: "default", hash: "", bytes: 0, reused: 0 } as const;
const asked: FollowFrame = { frame: "event", event: { seq: 1, at: 0, type: "step.started", ...place, ...request } };
const text: FollowFrame = { frame: "delta", ...place, kind: "text", offset: 0, text: "Hello" };

function open() {
  const terminal = openTestTerminal();
  const clock = manualClock();
  const console = new InteractiveConsole({
    ...{ ...terminal.streams, clock, prompt: "> ", promptMore: ". " },
    pasteLabel: () => "",
    complete: () => [[], ""],
  });
  const line = new WaitingLine({ console, clock, words: wordsFor("en"), style: styleFor({ color: false }) });
  const before = terminal.raw().length;
  return { ...terminal, console, clock, line, written: () => terminal.raw().slice(before) };
}

const clear = "\u001b[1G\u001b[2K";

test("a model that says nothing for two seconds is said to be waited for, in one line that counts [U1]", () => {
  const { clock, line, written, console } = open();
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

test("the line makes way for whatever is printed or typed, and does not come over it [U1]", async () => {
  const { clock, line, written, console, type, waitFor } = open();
  const reading = console.read({ prompt: "> ", want: "aside" });
  line.take(asked);
  clock.move(2_000);
  console.note("a note");
  assert.ok(written().endsWith(`(2 s)${clear}a note\n`));
  clock.move(1_000);
  type("x");
  await waitFor("> x");
  const shown = written();
  clock.move(1_000);
  assert.equal(written(), shown, "somebody types there");
  line.stop();
  console.end();
  await reading;
  console.close();
});

test("while a program runs the last line of what it says is shown in passing [X1][U1]", () => {
  const { line, written, console } = open();
  line.take({ frame: "output", call: "1", offset: 0, text: "one\ntwo \u001b[31mred\n" });
  line.take({ frame: "output", call: "1", offset: 13, text: "\n" });
  assert.equal(written(), "  │ two ␛[31mred");
  line.take(asked);
  assert.equal(written(), `  │ two ␛[31mred${clear}`);
  line.stop();
  console.close();
});
