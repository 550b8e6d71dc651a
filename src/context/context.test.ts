import assert from "node:assert/strict";
import { test } from "node:test";
import { numbered } from "../../test/world/any-log.ts";
import { foldHistory, type History } from "../log/log.ts";
import { estimateTokens } from "../models/models.ts";
import type { NewEvent } from "../protocol/events.ts";
import { builtins, openToolkit } from "../tools/tools.ts";
import { instructionsPart, notesPart, recipeEvent, requestOf } from "./context.ts";

const toolkit = openToolkit(builtins);
const now = { at: 5_000, size: "full" } as const;
const told = (text: string) => ({ path: "uploads/AGENTS.md", hash: "h", text });

/** A history whose recipe is that of these parts, and the event that set it. */
function begun(parts: Partial<Parameters<typeof recipeEvent>[2]> = {}): { history: History; event: NewEvent } {
  const event = recipeEvent(foldHistory([]), toolkit, { ...now, ...parts }) ?? assert.fail("the first is always set");
  return { history: foldHistory(numbered([event])), event };
}

test("what every request starts with is set once, and anew where something of it has changed, by its cause [L3][Z3][A3]", () => {
  const [first, other] = [told("Answer in verse."), told("Answer in prose.")];
  const own = { instructions: { ...first, text: first.text } };
  const plain = begun();
  const setNow = ({ history }: ReturnType<typeof begun>, parts: object) => {
    const event = recipeEvent(history, toolkit, { ...now, at: 9_000, ...parts });
    return event?.type === "recipe.set" ? [event.cause, event.role, event.startedAt] : undefined;
  };
  assert.deepEqual(plain.event.type === "recipe.set" && [plain.event.cause, plain.event.startedAt], ["start", 5_000]);
  assert.equal(setNow(plain, {}), undefined);
  const draw = { name: "draw", description: "Draws.", parameters: {} };
  assert.deepEqual(setNow(plain, { functions: [draw] }), ["tools_changed", undefined, 5_000]);
  assert.deepEqual(setNow(plain, { callerPart: "Answer in JSON." }), ["prompt_changed", undefined, 5_000]);
  assert.deepEqual(setNow(plain, { own }), ["instructions_changed", undefined, 5_000]);
  assert.equal(setNow(begun({ own }), { own }), undefined);
  const replaced = { own: { instructions: other }, functions: [draw] };
  assert.deepEqual(setNow(begun({ own }), replaced), ["instructions_changed", undefined, 5_000]);
  const handed = { role: "writer", prompt: "You write." };
  const { event } = begun(handed);
  assert.equal(event.type === "recipe.set" && event.cause, "start");
  assert.deepEqual(setNow(plain, handed), ["hand_off", "writer", 5_000]);
  assert.deepEqual(setNow(begun(handed), {}), ["hand_back", undefined, 5_000]);
  assert.deepEqual(setNow(begun(handed), { ...handed, functions: [draw] }), ["tools_changed", "writer", 5_000]);
});

test("a request is the frozen prompt and its tools, then the history as it stands [L3]", () => {
  const { history, event } = begun({ functions: [{ name: "draw", description: "Draws.", parameters: {} }] });
  const said = { role: "user", text: "hi" } as const;
  history.messages.push(said);
  const { messages, tools } = requestOf(history);
  assert.deepEqual(messages, [{ role: "system", text: event.type === "recipe.set" && event.system }, said]);
  assert.equal(tools.at(-1)?.name, "draw");
  assert.deepEqual(requestOf({ ...history, recipe: undefined }), { messages: [said], tools: [] });
});

test("of a long file of instructions the beginning is in force, a tenth of the window and never more than 8,000 tokens [Z3]", () => {
  const shown = (letters: number, windowTokens: number) => {
    const part = instructionsPart(told("x".repeat(letters)), windowTokens);
    return [part?.text.match(/x+/)?.[0].length, part?.cut === true];
  };
  assert.deepEqual(shown(4_000, 10_000), [4_000, false]);
  assert.deepEqual(shown(4_001, 10_000), [4_000, true]);
  assert.deepEqual(shown(40_000, 1_000_000), [32_000, true]);
  assert.equal(instructionsPart(told(" \n"), 10_000), undefined);
});

test("of many memories the newest are told that 400 tokens hold, oldest first, each in a line [Z4]", () => {
  const memory = (n: number) => `${n} ${"word ".repeat(18)}\n${n}`;
  const memories = Array.from({ length: 40 }, (_, n) => memory(n));
  const lines = (notesPart(memories) ?? "").split("\n").filter((line) => line.includes("word"));
  const each = estimateTokens(memory(39).replaceAll(/\s+/g, " ")) + 2;
  assert.equal(lines.length, Math.floor(400 / each));
  assert.deepEqual(
    lines.map((line) => Number(/(\d+)\W*$/.exec(line)?.[1])),
    Array.from({ length: lines.length }, (_, n) => 40 - lines.length + n),
  );
  assert.equal(notesPart([]), undefined);
});
