import { parsedJson } from "../../base/json.ts";
import type { Image, Message, ToolCall } from "../../protocol/message.ts";
import { replayedArguments } from "../wire/arguments.ts";
import { type JsonObject, stringifyWellFormed } from "../wire/json.ts";
import { keptItems, type Origin } from "../wire/kept.ts";
import type { Paired } from "../wire/pair-calls.ts";
import { wireName } from "../wire/tool-names.ts";
import type { TranscriptForm } from "../wire/transcript.ts";

const blankText = "(no text)";

/** Messages as Anthropic has them: the system text apart, and everything a list of blocks. */
export function anthropicMessages(origin: Origin): TranscriptForm {
  return {
    write: (message, isApart) => stringifyWellFormed(toWire(message, isApart, origin)),
    pairing: { ids: "word64", imagesApart: false, startsWithUser: true, endsWithUser: true },
    isSystemApart: true,
  };
}

function toWire(message: Paired, isApart: boolean, origin: Origin): object {
  switch (message.role) {
    case "system":
      // Further on there is no such role for all models, and the text at the front must stay as it is.
      return isApart ? textBlock(message.text) : { role: "user", content: withImages(message.text, []) };
    case "user":
      return { role: "user", content: withImages(message.text, message.images ?? []) };
    case "assistant":
      return { role: "assistant", content: answerBlocks(message, keptItems(message.reasoningDetails, origin) ?? []) };
    case "results":
      return {
        role: "user",
        content: message.results.map(({ toolCallId, text, images = [] }) => ({
          type: "tool_result",
          tool_use_id: toolCallId,
          content: images.length === 0 ? text : withImages(text, images),
        })),
      };
  }
}

function textBlock(text: string): object {
  return { type: "text", text };
}

/** Images come first, as the vendor advises; a block without any visible text is refused. */
function withImages(text: string, images: readonly Image[]): object[] {
  const blocks: object[] = images.map(({ mime, base64 }) => ({
    type: "image",
    source: { type: "base64", media_type: mime, data: base64 },
  }));
  if (text.trim() !== "") blocks.push(textBlock(text));
  return blocks.length === 0 ? [textBlock(blankText)] : blocks;
}

/**
 * The blocks of an answer in the order they came. Of those that were kept, thoughts go back as they are, and the others only
 * say where the text and the calls stood among them. What has no place there stands behind it.
 */
function answerBlocks(
  { text, toolCalls = [] }: Extract<Message, { role: "assistant" }>,
  kept: readonly JsonObject[],
): object[] {
  const blocks: object[] = [];
  const calls = toolCalls.values();
  const lastText = kept.findLastIndex(({ type }) => type === "text");
  let said = 0;

  function sayUpTo(end: number): void {
    const piece = text.slice(said, end);
    if (piece.trim() !== "") blocks.push(textBlock(piece));
    said = Math.max(said, end);
  }

  for (const [index, item] of kept.entries()) {
    if (item.type === "text") sayUpTo(index === lastText ? text.length : said + Number(item.characters));
    else if (item.type === "tool_use") blocks.push(...calls.take(1).map(callBlock));
    else blocks.push(item);
  }
  sayUpTo(text.length);
  return [...blocks, ...calls.map(callBlock)];
}

function callBlock({ id, name, arguments: text }: ToolCall): object {
  return { type: "tool_use", id, name: wireName(name), input: parsedJson(replayedArguments(text)) };
}
