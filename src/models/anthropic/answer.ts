import type { AnswerForm, AnswerParts } from "../wire/answer.ts";
import { isObject, type JsonObject } from "../wire/json.ts";
import { keepItems, type Origin } from "../wire/kept.ts";

/** Answers of Anthropic: the events of a stream, or a whole message. Pings say nothing. */
export function anthropicAnswer(origin: Origin): AnswerForm {
  return {
    isPart: ({ type }) => typeof type === "string" && partTypes.has(type),
    open: (parts) => openAnthropicAnswer(parts, origin),
  };
}

const partTypes = new Set([
  ...["message", "message_start", "message_delta", "message_stop"],
  ...["content_block_start", "content_block_delta", "content_block_stop"],
]);

/** A block of the answer as it is kept: a thought as it goes back, of text and calls only where they stood. */
type Item = { type: string; thinking?: string; signature?: unknown; characters?: number };

function openAnthropicAnswer(parts: AnswerParts, origin: Origin) {
  const { usage, calls, details, say, begin, finish, complete } = parts;
  const items: Item[] = [];
  const byIndex = new Map<unknown, Item>();

  function addItem(index: unknown, item: Item): Item {
    const isThought = isThinking(item);
    if (isThought && !items.some(isThinking)) keepItems(details, origin, items);
    items.push(item);
    byIndex.set(index, item);
    return item;
  }

  function startBlock(index: unknown, block: JsonObject): void {
    const { type } = block;
    if (type === "text") return sayText(addItem(index, { type, characters: 0 }), block.text);
    if (type === "thinking") return think(addItem(index, { ...block, type, thinking: "" }), block.thinking);
    if (type === "redacted_thinking") return void addItem(index, { ...block, type });
    if (type !== "tool_use") return;
    addItem(index, { type });
    calls.add({ index, id: block.id, function: { name: block.name, arguments: block.input } });
  }

  function addDelta(index: unknown, delta: JsonObject): void {
    const { type } = delta;
    // A piece whose beginning was lost counts as the beginning.
    const open = (type: string): Item => {
      const item = byIndex.get(index);
      return item?.type === type ? item : addItem(index, { type });
    };
    if (type === "text_delta") sayText(open("text"), delta.text);
    else if (type === "thinking_delta") think(open("thinking"), delta.thinking);
    else if (type === "signature_delta") open("thinking").signature = delta.signature;
    else if (type === "input_json_delta") calls.add({ index, function: { arguments: delta.partial_json } });
  }

  function sayText(item: Item, text: unknown): void {
    if (typeof text !== "string") return;
    item.characters = (item.characters ?? 0) + text.length;
    say({ text, reasoning: "" });
  }

  function think(item: Item, thinking: unknown): void {
    if (typeof thinking !== "string") return;
    item.thinking = (item.thinking ?? "") + thinking;
    say({ text: "", reasoning: thinking });
  }

  function takeMessage(message: JsonObject): void {
    begin();
    usage.take(message.usage);
    const blocks = Array.isArray(message.content) ? message.content : [];
    for (const [index, block] of blocks.entries()) if (isObject(block)) startBlock(index, block);
    finish(message.stop_reason);
  }

  return (payload: JsonObject): undefined => {
    const { type, index, delta } = payload;
    if (type === "message") takeMessage(payload);
    else if (type === "message_start" && isObject(payload.message)) takeMessage(payload.message);
    else if (type === "content_block_start" && isObject(payload.content_block))
      startBlock(index, payload.content_block);
    else if (type === "content_block_delta" && isObject(delta)) addDelta(index, delta);
    else if (type === "message_delta") {
      usage.take(cumulative(payload.usage));
      if (isObject(delta)) finish(delta.stop_reason);
    }
    if (type === "message" || type === "message_stop") complete();
  };
}

function isThinking({ type }: Item): boolean {
  return type === "thinking" || type === "redacted_thinking";
}

/** At the end the counts of the prompt may be null: then those from the beginning stand. */
function cumulative(usage: unknown): unknown {
  if (!isObject(usage) || typeof usage.input_tokens === "number") return usage;
  return { output_tokens: usage.output_tokens, output_tokens_details: usage.output_tokens_details };
}
