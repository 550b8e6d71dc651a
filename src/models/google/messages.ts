import { parsedJson } from "../../base/json.ts";
import type { Image, Message, ToolCall } from "../../protocol/message.ts";
import { replayedArguments } from "../wire/arguments.ts";
import { type JsonObject, numberOf, stringifyWellFormed } from "../wire/json.ts";
import { keptItems, type Origin } from "../wire/kept.ts";
import type { Paired } from "../wire/pair-calls.ts";
import { wireName } from "../wire/tool-names.ts";
import type { TranscriptForm } from "../wire/transcript.ts";

type Answer = Extract<Message, { role: "assistant" }>;

/** Messages as Google has them: contents of a user and a model, made of parts. */
export function googleMessages(origin: Origin): TranscriptForm {
  return {
    write: (message, isApart) => stringifyWellFormed(contentOf(message, isApart, origin)),
    pairing: { ids: "word64", imagesApart: true, startsWithUser: true, endsWithUser: true },
    isSystemApart: true,
  };
}

function contentOf(message: Paired, isApart: boolean, origin: Origin): object {
  switch (message.role) {
    case "system":
      // Further on there is no such role, and the text at the front must stay as it is.
      return isApart ? { text: message.text } : { role: "user", parts: [{ text: message.text }] };
    case "user":
      return { role: "user", parts: withImages(message.text, message.images ?? []) };
    case "assistant":
      return { role: "model", parts: answerParts(message, origin) };
    case "results":
      return {
        role: "user",
        parts: message.results.map(({ toolCallId: id, name, text }) => ({
          functionResponse: { id, name: wireName(name), response: { output: text } },
        })),
      };
  }
}

function withImages(text: string, images: readonly Image[]): object[] {
  const parts = images.map(({ mime, base64 }) => ({ inlineData: { mimeType: mime, data: base64 } }));
  return text.trim() === "" && parts.length > 0 ? parts : [{ text }, ...parts];
}

function answerParts(message: Answer, origin: Origin): object[] {
  const kept = keptItems(message.reasoningDetails, origin) ?? [];
  return partsAgain(message, kept) ?? plainParts(message, origin);
}

/** What Google says to write where a call has no signature, because another model made it. Without, Gemini 3 refuses it. */
const noSignature = "skip_thought_signature_validator";

/** An answer of another model, or one that nothing was kept of. */
function plainParts({ text, toolCalls = [] }: Answer, { model }: Origin): object[] {
  const isSigned = !/gemini-[12]/.test(model);
  return [
    ...(text.trim() === "" ? [] : [{ text }]),
    ...toolCalls.map((call, index) =>
      writeCall(call, isSigned && index === 0 ? { thoughtSignature: noSignature } : {}),
    ),
  ];
}

function writeCall({ id, name, arguments: text }: ToolCall, signature: object): object {
  return { functionCall: { id, name: wireName(name), args: parsedJson(replayedArguments(text)) }, ...signature };
}

/** The parts as they came, in their order, with the text and the calls of the answer put back into them. */
function partsAgain({ text, toolCalls = [] }: Answer, kept: readonly JsonObject[]): object[] | undefined {
  if (kept.length === 0) return undefined;
  const calls = [...toolCalls];
  let from = 0;
  const parts = kept.flatMap(({ thought, length, ...signature }): object[] => {
    if (typeof thought === "string") return [{ text: thought, thought: true, ...signature }];
    if (length === undefined) return calls.splice(0, 1).map((call) => writeCall(call, signature));
    const said = text.slice(from, from + (numberOf(length) ?? 0));
    from += said.length;
    return [{ text: said, ...signature }];
  });
  return parts.length === kept.length && calls.length === 0 && from === text.length ? parts : undefined;
}
