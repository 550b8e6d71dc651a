import { derivedHex } from "../base/ids.ts";
import { askedHash, type CallState } from "../log/log.ts";
import type { EventBody, NewEvent } from "../protocol/events.ts";
import { readArguments } from "../tools/tools.ts";
import { functionsOf } from "./agent-tools.ts";
import type { Parts } from "./parts.ts";
import type { Run } from "./run.ts";
import { settled } from "./run-tool.ts";
import { boundedText } from "./tool-result.ts";

/** Whether the caller runs this call itself. */
export function isFunction({ call }: CallState, { history, conversation }: Run, parts: Parts): boolean {
  if (call.wrapped !== undefined) return false;
  return functionsOf(history, parts, conversation.owner).some(({ name }) => name === call.name);
}

/** What comes next for such a call: the caller is asked, and what it answers is the result. Undefined while it works. */
export function planFunction(run: Run, parts: Parts, { call, decision }: CallState): NewEvent | undefined {
  if (decision === undefined) {
    const read = readArguments(call.name, call);
    return read.ok ? asked(run, parts, call) : settled(call.id, "error", read.failure);
  }
  const { made } = decision;
  if (made === undefined) return undefined;
  const text = boundedText(run, parts, made.answer ?? "");
  return { type: "call.finished", call: call.id, outcome: "ok", text, untrusted: true };
}

function asked({ conversation, history }: Run, { clock }: Parts, call: CallState["call"]): NewEvent {
  const { turn = 0, step = 0 } = history.turn ?? {};
  const body: EventBody<"decision.asked"> = {
    ...{ turn, id: derivedHex(12, conversation.id, String(turn), String(step), call.id) },
    ...{ call: call.id, kind: "function", tool: call.name, arguments: call.arguments, time: clock.now() },
  };
  return { type: "decision.asked", ...body, hash: askedHash(body) };
}
