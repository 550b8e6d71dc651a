import { ok, type Result } from "../../base/result.ts";
import { type Failure, failure } from "../../protocol/failure.ts";
import type { GivenMessage } from "../../protocol/given.ts";
import type { ToolCall } from "../../protocol/message.ts";
import type { ChatMessage, Item, ResponseRequest } from "../../protocol/openai.ts";
import { readContent } from "./content.ts";

/** What a caller sent, in our words: its instructions apart from what was said. */
export type Sent = { readonly instructions: readonly string[]; readonly messages: readonly GivenMessage[] };
type Given<R extends GivenMessage["role"]> = Extract<GivenMessage, { role: R }>;
type Role = "system" | "developer" | "user" | "assistant";
type Read = Result<{ readonly instruction: string } | GivenMessage, Failure>;

/** The messages of a chat completion. */
export function sentInChat(messages: readonly ChatMessage[]): Result<Sent, Failure> {
  return gathered(
    messages.map((message, index) => {
      const where = `messages.${index}`;
      if (message.role !== "tool") return said(message.role, message, where);
      const { tool_call_id: id } = message;
      return id === undefined || id === null ? missing(`${where}.tool_call_id`) : result(id, message.content, where);
    }),
  );
}

/** The input of a response: a text, or items. */
export function sentInResponse({ input, instructions }: ResponseRequest): Result<Sent, Failure> {
  const items: readonly Item[] = typeof input === "string" ? [{ role: "user", content: input }] : (input ?? []);
  const read = gathered(items.flatMap((item, index) => readItem(item, `input.${index}`)));
  if (!read.ok || instructions === undefined || instructions === null) return read;
  return ok({ ...read.value, instructions: [instructions, ...read.value.instructions] });
}

function readItem(item: Item, where: string): Read[] {
  const { type, role, call_id: id, name, arguments: args, content, output } = item;
  switch (type ?? "message") {
    case "message":
      return [role === undefined || role === null ? missing(`${where}.role`) : said(role, { content }, where)];
    case "function_call":
      if (id === undefined || id === null || name === undefined || name === null) return [missing(`${where}.call_id`)];
      return [ok({ role: "assistant", text: "", toolCalls: [{ id, name, arguments: args ?? "" }] })];
    case "function_call_output":
      return [id === undefined || id === null ? missing(`${where}.call_id`) : result(id, output, where)];
    // What the model thought is not ours to send on.
    case "reasoning":
      return [];
    default:
      return [failure("parameter_unsupported", { parameter: `${where}.type`, hint: "items" })];
  }
}

function missing(what: string) {
  return failure("bad_request", { what, rule: "missing" });
}

function said(role: Role, message: Pick<ChatMessage, "content" | "tool_calls">, where: string): Read {
  const read = readContent(message.content, `${where}.content`);
  if (!read.ok) return read;
  const { text, images } = read.value;
  if (role === "user") return ok({ role, text, ...(images.length > 0 && { images: [...images] }) });
  if (images.length > 0)
    return failure("parameter_unsupported", { parameter: `${where}.content`, hint: "text_and_images" });
  if (role !== "assistant") return ok({ instruction: text });
  const toolCalls = (message.tool_calls ?? []).map(({ id, function: { name, arguments: args } }): ToolCall => {
    return { id, name, arguments: args };
  });
  return ok({ role, text, ...(toolCalls.length > 0 && { toolCalls }) });
}

function result(toolCallId: string, content: ChatMessage["content"], where: string): Read {
  const read = readContent(content, `${where}.content`);
  if (!read.ok) return read;
  if (read.value.images.length > 0)
    return failure("parameter_unsupported", { parameter: `${where}.content`, hint: "text_and_images" });
  return ok({ role: "tool", toolCallId, text: read.value.text });
}

function gathered(reads: readonly Read[]): Result<Sent, Failure> {
  const instructions: string[] = [];
  const messages: GivenMessage[] = [];
  for (const read of reads) {
    if (!read.ok) return read;
    if ("instruction" in read.value) instructions.push(read.value.instruction);
    else push(messages, read.value);
  }
  return ok({ instructions: instructions.filter((text) => text !== ""), messages });
}

/** Calls that come as items of their own belong to one answer. */
function push(messages: GivenMessage[], next: GivenMessage): void {
  const last = messages.at(-1);
  const isMore = next.role === "assistant" && next.text === "" && next.toolCalls !== undefined;
  if (last?.role === "assistant" && isMore)
    messages[messages.length - 1] = { ...last, toolCalls: [...(last.toolCalls ?? []), ...(next.toolCalls ?? [])] };
  else messages.push(next);
}

/** Results at the end, for calls of the last answer. */
export function resultsAtEnd(messages: readonly GivenMessage[]): Given<"tool">[] {
  const last = messages.findLastIndex(({ role }) => role !== "tool");
  return messages.slice(last + 1).filter((message) => message.role === "tool");
}

/** A result that belongs to no call of the answer before it: no model would take such a history. */
export function strayResult(messages: readonly GivenMessage[]): string | undefined {
  let asked = new Set<string>();
  for (const message of messages) {
    if (message.role !== "tool") asked = new Set(message.role === "assistant" ? callIds(message) : []);
    else if (!asked.delete(message.toolCallId)) return message.toolCallId;
  }
  return undefined;
}

export function callIds({ toolCalls = [] }: Given<"assistant">): string[] {
  return toolCalls.map(({ id }) => id);
}
