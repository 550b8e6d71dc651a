import type { Image, Message, ToolCall } from "../../protocol/message.ts";
import type { Profile } from "../profile.ts";
import { replayedArguments } from "../wire/arguments.ts";
import { stringifyWellFormed } from "../wire/json.ts";
import { plainDetails } from "../wire/kept.ts";
import type { Paired } from "../wire/pair-calls.ts";
import { wireName } from "../wire/tool-names.ts";
import type { TranscriptForm } from "../wire/transcript.ts";
import { arrangement } from "./role-order.ts";

/** Messages as chat completions have them. */
export function chatMessages(profile: Profile): TranscriptForm {
  const pairing = {
    ids: profile.toolCallIds,
    imagesApart: true,
    startsWithUser: false,
    endsWithUser: profile.noPrefill,
  };
  return {
    write: (message) => writeMessage(message, profile),
    pairing,
    isSystemApart: false,
    arrange: arrangement(profile, pairing),
  };
}

function writeMessage(message: Paired, profile: Profile): string {
  switch (message.role) {
    case "system":
      return stringifyWellFormed({ role: profile.systemRole, content: message.text });
    case "user":
      return stringifyWellFormed({ role: "user", content: withImages(message.text, message.images ?? []) });
    case "assistant":
      return stringifyWellFormed(writeAnswer(message, profile));
    case "results":
      return message.results
        .map(({ toolCallId, text }) => stringifyWellFormed({ role: "tool", tool_call_id: toolCallId, content: text }))
        .join(",");
  }
}

function withImages(text: string, images: readonly Image[]): unknown {
  if (images.length === 0) return text;
  const parts = images.map(({ mime, base64 }) => ({
    type: "image_url",
    image_url: { url: `data:${mime};base64,${base64}` },
  }));
  return text.trim() === "" ? parts : [{ type: "text", text }, ...parts];
}

function writeAnswer(message: Extract<Message, { role: "assistant" }>, profile: Profile): object {
  const calls = message.toolCalls ?? [];
  const nothing = profile.emptyToolCallContent === "null" ? null : "";
  const reasoning =
    profile.reasoningReplay === "tool_calls" && calls.length > 0 ? { reasoning_content: message.reasoning ?? "" } : {};
  const details = profile.reasoningReplay === "details" ? plainDetails(message.reasoningDetails) : [];
  return {
    role: "assistant",
    content: message.text.trim() === "" && calls.length > 0 ? nothing : message.text,
    ...reasoning,
    ...(details.length > 0 ? { reasoning_details: details } : {}),
    ...(calls.length > 0 ? { tool_calls: calls.map(writeCall) } : {}),
  };
}

function writeCall(call: ToolCall): object {
  return {
    ...call.extra,
    id: call.id,
    type: "function",
    function: { name: wireName(call.name), arguments: replayedArguments(call.arguments) },
  };
}
