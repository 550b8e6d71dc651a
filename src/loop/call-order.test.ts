import assert from "node:assert/strict";
import { test } from "node:test";
import { z } from "zod";
import { ok } from "../base/result.ts";
import type { CallState } from "../log/log.ts";
import type { EffectClass } from "../protocol/events.ts";
import { localOwner } from "../protocol/ids.ts";
import { defineTool, openToolkit } from "../tools/tools.ts";
import { asDecided, inOrder } from "./call-order.ts";

/** `at` is what a call is ordered by; `script` what it runs. */
const tool = (name: string, effects: EffectClass) =>
  defineTool({
    ...{ name, description: name, class: effects },
    input: z.object({ at: z.string().optional(), script: z.string().optional() }),
    order: ({ at }) => at,
    run: () => ok({ text: name }),
  });
const kit = openToolkit([tool("look", "pure"), tool("again", "idempotent"), tool("write", "unsafe")]);

function parts() {
  const read: unknown[] = [];
  const toolkit = () => ({
    ...kit,
    open(call: Parameters<typeof kit.open>[0]) {
      read.push(call.arguments);
      return kit.open(call);
    },
  });
  const approvals = {
    judge: () => assert.fail("nothing is judged here"),
    change: () => assert.fail("no rules are changed here"),
    scriptsOf: ({ arguments: { script } }: { readonly arguments: Readonly<Record<string, unknown>> }) =>
      typeof script === "string" ? [script] : [],
  };
  return { parts: { toolkit, approvals }, read };
}

let calls = 0;
function called(name: string, input: object = {}): CallState {
  calls += 1;
  const call = { id: `c${calls}`, name, arguments: JSON.stringify(input) };
  return { call, decision: undefined, started: undefined, result: undefined };
}
const ended = { outcome: "ok", text: "", images: undefined, file: undefined, seq: 1 } as const;

/** Of each call whether it has to wait. */
const behind = (...states: readonly CallState[]) => states.map(inOrder(states, parts().parts, localOwner));

test("calls of one answer that are about the same run one after another, and all others side by side [L5][F2]", () => {
  const [one, two] = [{ at: "a.txt" }, { at: "b.txt" }];
  assert.deepEqual(behind(called("look", one), called("look", two), called("look", one)), [false, false, true]);
  assert.deepEqual(behind(called("write"), called("write"), called("look")), [false, false, false]);
  assert.deepEqual(behind(called("nobody", one), called("write", one), called("nobody", one)), [false, false, false]);
});

test("what runs a script waits for all that could change it, and what could change something waits for scripts; looking waits for nobody [H1][L5]", () => {
  const script = { script: "a.sh" };
  assert.deepEqual(behind(called("write"), called("look", script)), [false, true]);
  assert.deepEqual(behind(called("again"), called("look", script)), [false, true]);
  assert.deepEqual(behind(called("look", script), called("again")), [false, true]);
  assert.deepEqual(behind(called("look", script), called("look", script), called("look")), [false, false, false]);
});

test("who waits for an earlier call waits no longer than until it has its result, also where that came while one looked [L5]", () => {
  const [first, second] = [called("write", { at: "a" }), called("write", { at: "a" })];
  const isBehind = inOrder([first, second], parts().parts, localOwner);
  assert.equal(isBehind(second), true);
  first.result = ended;
  assert.deepEqual([isBehind(second), ...behind(first, second)], [false, false, false]);
});

test("a call is ordered by the arguments that a person put in place of the model's, and each is read once; a single one is not read at all [H2][L5]", () => {
  const { parts: given, read } = parts();
  const [first, second] = [called("write", { at: "a" }), called("write", { at: "b" })];
  const isBehind = () => inOrder([first, second], given, localOwner)(second);
  assert.deepEqual([isBehind(), isBehind(), read.length], [false, false, 2]);
  const about = { seq: 1, at: 0, id: "d", time: 0 };
  const asked = {
    type: "decision.asked",
    ...about,
    turn: 1,
    call: second.call.id,
    kind: "approval",
    tool: "write",
  } as const;
  const made = {
    type: "decision.made",
    ...about,
    verdict: "edit",
    by: "local",
    argumentsHash: "",
    previous: "",
  } as const;
  second.decision = { asked, made: { ...made, arguments: '{"at":"a"}' } };
  assert.deepEqual([isBehind(), isBehind(), read.length], [true, true, 3]);
  assert.deepEqual(asDecided(second), { ...second.call, arguments: '{"at":"a"}' });
  // Asked anew, about what the person wrote.
  second.decision = { asked: { ...asked, arguments: '{"at":"c"}', instead: "d0" }, made: undefined };
  assert.equal(asDecided(second).arguments, '{"at":"c"}');
  second.decision = { asked: { ...asked, arguments: '{"at":"c"}' }, made: undefined };
  assert.equal(asDecided(second).arguments, '{"at":"b"}');
  inOrder([called("write")], given, localOwner);
  assert.equal(read.length, 3);
});
