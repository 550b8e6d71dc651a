import { hash } from "node:crypto";
import { parsedJson } from "../../base/json.ts";
import type { Image, Message, ToolCall } from "../../protocol/message.ts";
import type { Profile } from "../profile.ts";
import { isObject, stringifyWellFormed } from "./json.ts";
import { wireName } from "./tool-names.ts";

/** One message as the bytes that are sent. */
export type Fragment = {
  readonly json: string;
  readonly bytes: number;
  /** Taken from the content: equal bytes have equal keys, in whatever object they were found. */
  readonly key: number;
};

/** Writes messages, each message object once: a long request is then a concatenation. */
export function createFragments(profile: Profile): (message: Message) => Fragment {
  const written = new WeakMap<Message, Fragment>();
  return (message) => {
    const known = written.get(message);
    if (known !== undefined) return known;
    const json = stringifyWellFormed(toWire(message, profile));
    const fragment = { json, bytes: Buffer.byteLength(json), key: contentKey(json) };
    written.set(message, fragment);
    return fragment;
  };
}

const keyBytes = 6;

function contentKey(json: string): number {
  return hash("sha1", json, "buffer").readUIntBE(0, keyBytes);
}

function toWire(message: Message, profile: Profile): object {
  switch (message.role) {
    case "system":
      return { role: profile.systemRole, content: message.text };
    case "user":
      return { role: "user", content: withImages(message.text, message.images ?? []) };
    case "assistant":
      return assistantToWire(message, profile);
    case "tool":
      return { role: "tool", tool_call_id: message.toolCallId, content: message.text };
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

function assistantToWire(message: Extract<Message, { role: "assistant" }>, profile: Profile): object {
  const calls = message.toolCalls ?? [];
  const nothing = profile.emptyToolCallContent === "null" ? null : "";
  const reasoning =
    profile.reasoningReplay === "tool_calls" && calls.length > 0 ? { reasoning_content: message.reasoning ?? "" } : {};
  const details =
    profile.reasoningReplay === "details" && message.reasoningDetails
      ? { reasoning_details: message.reasoningDetails }
      : {};
  return {
    role: "assistant",
    content: message.text.trim() === "" && calls.length > 0 ? nothing : message.text,
    ...reasoning,
    ...details,
    ...(calls.length > 0 ? { tool_calls: calls.map(callToWire) } : {}),
  };
}

function callToWire(call: ToolCall): object {
  return {
    ...call.extra,
    id: call.id,
    type: "function",
    function: { name: wireName(call.name), arguments: replayedArguments(call.arguments) },
  };
}

/**
 * Arguments go back as they came, byte for byte. Those that never were an object go back as `{}`: servers refuse any
 * other, and the result of the call already tells the model that its arguments could not be read.
 */
function replayedArguments(text: string): string {
  const value = parsedJson(text);
  if (!isObject(value)) return "{}";
  return escapedSurrogate.test(text) ? stringifyWellFormed(value) : text;
}

const escapedSurrogate = /\\u[dD][89a-fA-F]/;
