import type { AnswerForm, AnswerParts } from "../wire/answer.ts";
import { type ErrorFacts, errorFacts } from "../wire/error-body.ts";
import { isObject, type JsonObject, numberOf } from "../wire/json.ts";
import { keepItems, type Origin } from "../wire/kept.ts";
import { itemPlaces } from "./item-places.ts";

/** Answers of Responses: events of a stream, or a whole response. */
export function responsesAnswer(origin: Origin): AnswerForm {
  return {
    isPart: (payload) =>
      payload.object === "response" || (typeof payload.type === "string" && payload.type.startsWith("response.")),
    open: (parts) => openAnswer(parts, origin),
  };
}

/** An item in the making. What its events said so far tells what is new in the item itself, when it is whole. */
type Draft = { item: JsonObject; said: string; arguments: string; isDone: boolean };

function openAnswer(parts: AnswerParts, origin: Origin) {
  const drafts = new Map<number, Draft>();
  const order: Draft[] = [];

  function draftAt(place: unknown, item: JsonObject = {}): Draft {
    const index = numberOf(place) ?? drafts.size;
    const known = drafts.get(index);
    if (known !== undefined) return known;
    const draft = { item, said: "", arguments: "", isDone: false };
    drafts.set(index, draft);
    order.push(draft);
    return draft;
  }

  function say(draft: Draft, text: unknown, as: "text" | "reasoning"): void {
    if (typeof text !== "string" || draft.isDone) return;
    draft.said += text;
    parts.say({ text: "", reasoning: "", [as]: text });
  }

  /** The item as a whole: what no event has said before is said now, and a call is known with all its arguments. */
  function close(draft: Draft, item: JsonObject): void {
    if (draft.isDone) return;
    draft.item = item;
    const rest = wholeText(item).slice(draft.said.length);
    if (rest !== "") say(draft, rest, item.type === "reasoning" ? "reasoning" : "text");
    draft.isDone = true;
    if (item.type !== "function_call") return;
    const whole = typeof item.arguments === "string" ? item.arguments : "";
    const named = { name: item.name, arguments: whole === "" ? draft.arguments : whole };
    parts.calls.add({ index: order.indexOf(draft), id: item.call_id, function: named });
  }

  function takeEvent(event: JsonObject): void {
    const { type, delta, item, output_index: place } = event;
    switch (type) {
      case "response.output_item.added":
        return void draftAt(place, isObject(item) ? item : {});
      case "response.output_item.done":
        return isObject(item) ? close(draftAt(place, item), item) : undefined;
      case "response.output_text.delta":
      case "response.refusal.delta":
        return say(draftAt(place), delta, "text");
      case "response.reasoning_summary_text.delta":
      case "response.reasoning_text.delta":
        return say(draftAt(place), delta, "reasoning");
      case "response.reasoning_summary_part.added":
        return draftAt(place).said === "" ? undefined : say(draftAt(place), paragraph, "reasoning");
      case "response.function_call_arguments.delta":
        if (typeof delta === "string") draftAt(place).arguments += delta;
    }
  }

  function takeWhole(response: JsonObject): ErrorFacts | undefined {
    parts.usage.take(response.usage);
    if (response.status === "failed") return errorFacts(response.error ?? { message: "", code: "server_error" });
    const output = Array.isArray(response.output) ? response.output.filter(isObject) : [];
    for (const [index, item] of output.entries()) close(draftAt(index, item), item);
    // A call that was cut in the middle of its arguments, and never came as a whole.
    for (const draft of order) close(draft, draft.item);
    parts.finish(finishOf(response, order));
    const places = itemPlaces(order.map(({ item }) => item));
    if (places.length > 0) keepItems(parts.details, origin, places);
    parts.complete();
    return undefined;
  }

  return (payload: JsonObject): ErrorFacts | undefined => {
    const { type, response } = payload;
    if (payload.object === "response") {
      parts.begin();
      return takeWhole(payload);
    }
    if (typeof type !== "string" || !type.startsWith("response.")) return undefined;
    parts.begin();
    if (terminal.has(type))
      return takeWhole(isObject(response) ? response : { status: type.slice("response.".length) });
    takeEvent(payload);
    return undefined;
  };
}

/** Whether the model waits for its tools is not said: the calls are there, or they are not. */
function finishOf({ status, incomplete_details: details }: JsonObject, drafts: readonly Draft[]): unknown {
  if (status === "incomplete" && isObject(details)) return details.reason;
  const isDone = status === "completed" || status === undefined;
  return isDone && drafts.some(({ item }) => item.type === "function_call") ? "tool_calls" : (status ?? "stop");
}

const paragraph = "\n\n";
const terminal = new Set(["response.completed", "response.incomplete", "response.failed", "response.cancelled"]);

/** What an item says to people, all of it. */
function wholeText({ type, content, summary }: JsonObject): string {
  const texts = (list: unknown) =>
    (Array.isArray(list) ? list.filter(isObject) : []).map((part) => String(part.text ?? part.refusal ?? ""));
  if (type === "message") return texts(content).join("");
  return type === "reasoning" ? texts(summary).join(paragraph) || texts(content).join(paragraph) : "";
}
