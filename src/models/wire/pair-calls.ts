import { derivedHex } from "../../base/ids.ts";
import type { Message, ToolCall } from "../../protocol/message.ts";

const missingResult = "There is no result: the call was stopped before it finished.";
const imagesLabel = "Images from the tool results above:";
const openingText = "Let us go on.";
const continueText = "Continue.";

/** The results of all calls of one answer. */
export type Results = { readonly role: "results"; readonly results: readonly Result[] };
type Result = Pick<Extract<Message, { role: "tool" }>, "toolCallId" | "text" | "images"> & {
  /** Of the tool that was called. */
  readonly name: string;
};
export type Paired = Exclude<Message, { role: "tool" }> | Results;

export type PairingRules = {
  /** `max40`: up to 40 characters; `alnum9`: exactly nine letters or digits; `word64`: up to 64 of letters, digits, _ and -. */
  readonly ids: "max40" | "alnum9" | "word64";
  /** Results carry text only: their images follow in a message of the user. */
  readonly imagesApart: boolean;
  /** Nothing but a user's message may come first. */
  readonly startsWithUser: boolean;
  /** A last answer of the model would be taken for the beginning of the next one, or refused. */
  readonly endsWithUser: boolean;
};

export interface Pairing {
  /** Takes the next message of the history. */
  add(message: Message | Paired): void;
  /** What has been made of the history so far; it only ever grows. */
  readonly paired: readonly Paired[];
  /** What must stand behind it if the history ends here. */
  ending(): Paired[];
}

type OpenCall = { readonly id: string; readonly wireId: string; readonly name: string };

/**
 * Makes a history one that servers accept: behind each turn with calls stands exactly one result per call, a missing one
 * made up and a stray one left out; ids are ones that the server takes, and used once.
 *
 * Reads from front to back and never looks ahead, so that a longer history begins with what a shorter one became.
 */
export function createPairing({ ids, imagesApart, startsWithUser, endsWithUser }: PairingRules): Pairing {
  const paired: Paired[] = [];
  const used = new Set<string>();
  let open: OpenCall[] = [];
  let results: Result[] = [];

  function closed(): Paired[] {
    const missing = open.map(({ wireId, name }): Result => ({ toolCallId: wireId, name, text: missingResult }));
    const all = [...results, ...missing];
    if (all.length === 0) return [];
    const images = imagesApart ? all.flatMap((result) => result.images ?? []) : [];
    if (images.length === 0) return [{ role: "results", results: all }];
    return [
      { role: "results", results: all.map(withoutImages) },
      { role: "user", text: imagesLabel, images },
    ];
  }

  function close(): void {
    paired.push(...closed());
    open = [];
    results = [];
  }

  function takeResult({ toolCallId, text, images }: Extract<Message, { role: "tool" }>): void {
    const index = open.findIndex(({ id }) => id === toolCallId);
    const call = open[index];
    if (call === undefined) return;
    open.splice(index, 1);
    results.push({ toolCallId: call.wireId, name: call.name, text, images });
    if (open.length === 0) close();
  }

  function takeAssistant(message: Extract<Message, { role: "assistant" }>): void {
    const calls = message.toolCalls ?? [];
    // A turn that was cut before its first word says nothing, and some servers refuse it; blanks alone as well.
    if (calls.length === 0 && message.text.trim() === "") return;
    const isFirst = !paired.some(({ role }) => role !== "system");
    if (isFirst && startsWithUser) paired.push({ role: "user", text: openingText });
    for (const { id, name } of calls) open.push({ id, wireId: wireId(id, ids, used), name });
    const isUnchanged = open.every((call) => call.id === call.wireId);
    paired.push(isUnchanged ? message : { ...message, toolCalls: renamed(calls, open) });
  }

  return {
    paired,
    ending() {
      const end = closed();
      const isAnswerLast = (end.at(-1) ?? paired.at(-1))?.role === "assistant";
      return endsWithUser && isAnswerLast ? [...end, { role: "user", text: continueText }] : end;
    },
    add(message) {
      if (message.role === "tool") return takeResult(message);
      close();
      if (message.role === "assistant") takeAssistant(message);
      else paired.push(message);
    },
  };
}

function withoutImages({ images: _left, ...result }: Result): Result {
  return result;
}

function renamed(calls: readonly ToolCall[], open: readonly OpenCall[]): ToolCall[] {
  return calls.map((call, index) => ({ ...call, id: open[index]?.wireId ?? call.id }));
}

/** Takes the id as it is where it fits and is new; else one made from it, the same in every request. */
function wireId(id: string, style: PairingRules["ids"], used: Set<string>): string {
  let candidate = fits(id, style) ? id : madeId(style, id);
  for (let attempt = 2; used.has(candidate); attempt += 1) candidate = madeId(style, id, String(attempt));
  used.add(candidate);
  return candidate;
}

function fits(id: string, style: PairingRules["ids"]): boolean {
  if (style === "max40") return id.length <= 40;
  return style === "alnum9" ? /^[a-zA-Z0-9]{9}$/.test(id) : /^[a-zA-Z0-9_-]{1,64}$/.test(id);
}

function madeId(style: PairingRules["ids"], ...parts: string[]): string {
  return style === "alnum9" ? derivedHex(9, ...parts) : `call_${derivedHex(32, ...parts)}`;
}
