import type { AnswerForm, AnswerParts } from "../wire/answer.ts";
import { type ErrorFacts, errorFacts } from "../wire/error-body.ts";
import { isObject, type JsonObject } from "../wire/json.ts";
import { keepItems, type Origin } from "../wire/kept.ts";
import { itemPlaces } from "./item-places.ts";
import { createItems, type Items } from "./items.ts";

/** Answers of Responses: events of a stream, or a whole response. */
export function responsesAnswer(origin: Origin): AnswerForm {
  return {
    isPart: (payload) =>
      payload.object === "response" || (typeof payload.type === "string" && payload.type.startsWith("response.")),
    open: (parts) => openAnswer(parts, origin),
  };
}

function openAnswer(parts: AnswerParts, origin: Origin) {
  const items = createItems(parts);

  function takeWhole(response: JsonObject): ErrorFacts | undefined {
    parts.usage.take(response.usage);
    if (response.status === "failed") return errorFacts(response.error ?? { message: "", code: "server_error" });
    const output = Array.isArray(response.output) ? response.output.filter(isObject) : [];
    for (const [place, item] of output.entries()) items.close(place, item);
    const all = items.end();
    parts.finish(finishOf(response, all));
    const places = itemPlaces(all);
    if (places.length > 0) keepItems(parts.details, origin, places);
    parts.complete();
    return undefined;
  }

  return (payload: JsonObject): ErrorFacts | undefined => {
    const { type, response } = payload;
    const isWhole = payload.object === "response";
    if (!isWhole && !(typeof type === "string" && type.startsWith("response."))) return undefined;
    parts.begin();
    if (isWhole) return takeWhole(payload);
    if (isObject(response) && terminal.has(type)) return takeWhole(response);
    takeEvent(payload, items);
    return undefined;
  };
}

const terminal = new Set<unknown>([
  "response.completed",
  "response.incomplete",
  "response.failed",
  "response.cancelled",
]);

function takeEvent({ type, delta, item, output_index: place }: JsonObject, items: Items): void {
  switch (type) {
    case "response.output_item.added":
      return isObject(item) ? items.open(place, item) : undefined;
    case "response.output_item.done":
      return isObject(item) ? items.close(place, item) : undefined;
    case "response.output_text.delta":
    case "response.refusal.delta":
      return items.say(place, delta, "text");
    case "response.reasoning_summary_text.delta":
    case "response.reasoning_text.delta":
      return items.say(place, delta, "reasoning");
    case "response.reasoning_summary_part.added":
      return items.beginParagraph(place);
    case "response.function_call_arguments.delta":
      return items.addArguments(place, delta);
  }
}

/** Whether the model waits for its tools is not said: the calls are there, or they are not. */
function finishOf({ status, incomplete_details: details }: JsonObject, items: readonly JsonObject[]): unknown {
  if (status === "incomplete" && isObject(details)) return details.reason;
  const isDone = status === "completed" || status === undefined;
  return isDone && items.some(({ type }) => type === "function_call") ? "tool_calls" : (status ?? "stop");
}
