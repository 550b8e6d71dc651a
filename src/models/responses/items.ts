import type { AnswerParts } from "../wire/answer.ts";
import { isObject, type JsonObject, numberOf } from "../wire/json.ts";

/** The items of an answer while they come, each at the place that its events name. */
export interface Items {
  open(place: unknown, item: JsonObject): void;
  say(place: unknown, text: unknown, as: "text" | "reasoning"): void;
  /** Another part of a summary begins. */
  beginParagraph(place: unknown): void;
  addArguments(place: unknown, text: unknown): void;
  /** The item as a whole: what no event has said before is said now, and a call is known with all its arguments. */
  close(place: unknown, item: JsonObject): void;
  /** Nothing follows: what never came as a whole counts with what there is of it. All items, in order. */
  end(): readonly JsonObject[];
}

type Draft = { item: JsonObject; said: string; arguments: string; isDone: boolean };

export function createItems({ calls, say: deliver }: Pick<AnswerParts, "calls" | "say">): Items {
  const drafts = new Map<number, Draft>();

  /** A place that is not named is the next one. */
  function draftAt(place: unknown): Draft {
    const index = numberOf(place) ?? drafts.size;
    const draft = drafts.get(index) ?? { item: {}, said: "", arguments: "", isDone: false };
    drafts.set(index, draft);
    return draft;
  }

  function say(draft: Draft, text: unknown, as: "text" | "reasoning"): void {
    if (typeof text !== "string" || draft.isDone) return;
    draft.said += text;
    deliver({ text: "", reasoning: "", [as]: text });
  }

  function close(draft: Draft, item: JsonObject): void {
    if (draft.isDone) return;
    const rest = wholeText(item).slice(draft.said.length);
    if (rest !== "") say(draft, rest, item.type === "reasoning" ? "reasoning" : "text");
    draft.item = item;
    draft.isDone = true;
    if (item.type !== "function_call") return;
    const whole = typeof item.arguments === "string" ? item.arguments : "";
    const named = { name: item.name, arguments: whole === "" ? draft.arguments : whole };
    calls.add({ index: [...drafts.values()].indexOf(draft), id: item.call_id, function: named });
  }

  return {
    open(place, item) {
      const draft = draftAt(place);
      if (!draft.isDone) draft.item = item;
    },
    say: (place, text, as) => say(draftAt(place), text, as),
    beginParagraph(place) {
      if (draftAt(place).said !== "") say(draftAt(place), paragraph, "reasoning");
    },
    addArguments(place, text) {
      if (typeof text === "string") draftAt(place).arguments += text;
    },
    close: (place, item) => close(draftAt(place), item),
    end() {
      for (const draft of drafts.values()) close(draft, draft.item);
      return [...drafts.values()].map(({ item }) => item);
    },
  };
}

const paragraph = "\n\n";

/** What an item says to people, all of it. */
function wholeText({ type, content, summary }: JsonObject): string {
  const texts = (list: unknown) =>
    (Array.isArray(list) ? list.filter(isObject) : []).map((part) => String(part.text ?? part.refusal ?? ""));
  if (type === "message") return texts(content).join("");
  return type === "reasoning" ? texts(summary).join(paragraph) || texts(content).join(paragraph) : "";
}
