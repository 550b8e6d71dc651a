import { derivedHex } from "../../base/ids.ts";
import type { Image, Message, ToolCall } from "../../protocol/message.ts";
import type { Profile } from "../profile.ts";

const missingResult = "There is no result: the call was stopped before it finished.";
const imagesLabel = "Images from the tool results above:";

export interface Pairing {
  /** Takes the next message of the history. */
  add(message: Message): void;
  /** What has been made of the history so far; it only ever grows. */
  readonly paired: readonly Message[];
  /** What must stand behind it if the history ends here. */
  ending(): Message[];
}

type OpenCall = { readonly id: string; readonly wireId: string };

/**
 * Makes a history one that servers accept: behind each turn with calls stands exactly one result per call, a missing one
 * made up and a stray one left out; ids are short enough and used once; images of results follow in a user message,
 * since tool messages carry text only.
 *
 * Reads from front to back and never looks ahead, so that a longer history begins with what a shorter one became.
 */
export function createPairing(idStyle: Profile["toolCallIds"]): Pairing {
  const paired: Message[] = [];
  const used = new Set<string>();
  let open: OpenCall[] = [];
  let images: Image[] = [];

  function ending(): Message[] {
    const end: Message[] = open.map(({ wireId }) => ({ role: "tool", toolCallId: wireId, text: missingResult }));
    if (images.length > 0) end.push({ role: "user", text: imagesLabel, images });
    return end;
  }

  function takeResult(message: Extract<Message, { role: "tool" }>): void {
    const index = open.findIndex(({ id }) => id === message.toolCallId);
    const call = open[index];
    if (call === undefined) return;
    open.splice(index, 1);
    if (message.images?.length) images.push(...message.images);
    else if (call.wireId === message.toolCallId) return void paired.push(message);
    paired.push({ role: "tool", toolCallId: call.wireId, text: message.text });
  }

  function takeAssistant(message: Extract<Message, { role: "assistant" }>): void {
    const calls = message.toolCalls ?? [];
    // A turn that was cut before its first word says nothing, and some servers refuse it; blanks alone as well.
    if (calls.length === 0 && message.text.trim() === "") return;
    for (const { id } of calls) open.push({ id, wireId: wireId(id, idStyle, used) });
    const isUnchanged = open.every((call) => call.id === call.wireId);
    paired.push(isUnchanged ? message : { ...message, toolCalls: renamed(calls, open) });
  }

  return {
    paired,
    ending,
    add(message) {
      if (message.role === "tool") return takeResult(message);
      if (open.length > 0 || images.length > 0) {
        paired.push(...ending());
        open = [];
        images = [];
      }
      if (message.role === "assistant") takeAssistant(message);
      else paired.push(message);
    },
  };
}

function renamed(calls: readonly ToolCall[], open: readonly OpenCall[]): ToolCall[] {
  return calls.map((call, index) => ({ ...call, id: open[index]?.wireId ?? call.id }));
}

/** Takes the id as it is where it fits and is new; else one made from it, the same in every request. */
function wireId(id: string, style: Profile["toolCallIds"], used: Set<string>): string {
  let candidate = fits(id, style) ? id : madeId(style, id);
  for (let attempt = 2; used.has(candidate); attempt += 1) candidate = madeId(style, id, String(attempt));
  used.add(candidate);
  return candidate;
}

function fits(id: string, style: Profile["toolCallIds"]): boolean {
  return style === "alnum9" ? /^[a-zA-Z0-9]{9}$/.test(id) : id.length <= 40;
}

function madeId(style: Profile["toolCallIds"], ...parts: string[]): string {
  return style === "alnum9" ? derivedHex(9, ...parts) : `call_${derivedHex(32, ...parts)}`;
}
