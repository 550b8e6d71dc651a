import type { Image, Message, ToolCall } from "../../protocol/message.ts";
import type { Profile } from "../profile.ts";
import { replayedArguments } from "../wire/arguments.ts";
import { isObject, type JsonObject, numberOf, stringifyWellFormed } from "../wire/json.ts";
import { keptItems, type Origin } from "../wire/kept.ts";
import type { Paired } from "../wire/pair-calls.ts";
import { wireName } from "../wire/tool-names.ts";
import type { TranscriptForm } from "../wire/transcript.ts";

type Answer = Extract<Message, { role: "assistant" }>;

/** Messages as Responses have them: a list of items, of which an answer is several. */
export function responsesMessages(profile: Profile, origin: Origin): TranscriptForm {
  return {
    write: (message) => itemsOf(message, profile, origin).map(stringifyWellFormed).join(","),
    pairing: { ids: "word64", imagesApart: true, startsWithUser: false, endsWithUser: false },
    isSystemApart: false,
  };
}

function itemsOf(message: Paired, profile: Profile, origin: Origin): object[] {
  switch (message.role) {
    case "system":
      return [{ role: profile.systemRole, content: message.text }];
    case "user":
      return [{ role: "user", content: withImages(message.text, message.images ?? []) }];
    case "assistant":
      return itemsAgain(message, keptItems(message.reasoningDetails, origin) ?? []) ?? plainItems(message);
    case "results":
      return message.results.map(({ toolCallId, text }) => ({
        type: "function_call_output",
        call_id: toolCallId,
        output: text,
      }));
  }
}

function withImages(text: string, images: readonly Image[]): unknown {
  if (images.length === 0) return text;
  const parts = images.map(({ mime, base64 }) => ({
    type: "input_image",
    image_url: `data:${mime};base64,${base64}`,
  }));
  return text.trim() === "" ? parts : [{ type: "input_text", text }, ...parts];
}

/** An answer of another model, or one that nothing was kept of. */
function plainItems({ text, toolCalls = [] }: Answer): object[] {
  const content = [{ type: "output_text", text }];
  return [
    ...(text.trim() === "" ? [] : [{ type: "message", role: "assistant", content }]),
    ...toolCalls.map((call) => writeCall(call, { type: "function_call" })),
  ];
}

function writeCall(call: ToolCall, item: JsonObject): object {
  return { ...item, call_id: call.id, name: wireName(call.name), arguments: replayedArguments(call.arguments) };
}

/**
 * The items as they came, in their order, with the text and the calls of the answer put back into them. Undefined where
 * they do not fit any more: what was sealed must not go back beside another text.
 */
function itemsAgain({ text, toolCalls = [] }: Answer, parts: readonly JsonObject[]): object[] | undefined {
  if (parts.length === 0) return undefined;
  const calls = [...toolCalls];
  let from = 0;
  function textAgain(part: unknown): unknown {
    if (!isObject(part)) return part;
    const { length, ...rest } = part;
    const said = text.slice(from, from + (numberOf(length) ?? 0));
    from += said.length;
    return part.type === "refusal" ? { ...rest, refusal: said } : { ...rest, text: said };
  }
  const items = parts.flatMap((part): object[] => {
    if (part.type === "reasoning") return [part];
    if (part.type === "message" && Array.isArray(part.content))
      return [{ ...part, content: part.content.map(textAgain) }];
    const call = calls.shift();
    return part.type === "function_call" && call !== undefined ? [writeCall(call, part)] : [];
  });
  return items.length === parts.length && calls.length === 0 && from === text.length ? items : undefined;
}
