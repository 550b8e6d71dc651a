import type { Language } from "../../words/words.ts";
import type { ChatRequest } from "./wire.ts";

/** What the demo model goes by: the last words of the user, and what tools have said since. */
export type Facts = {
  readonly text: string;
  readonly language: Language;
  /** Nothing has been said to the user yet in this conversation. */
  readonly isFirst: boolean;
  /** The tools that may be called now. */
  readonly tools: ReadonlySet<string>;
  /** The calls of this turn that have a result, in order. */
  readonly done: readonly DoneCall[];
};

export type DoneCall = {
  readonly name: string;
  readonly result: string;
  /** The code of an error result, as in `Error: tool_rejected: …`. */
  readonly failure?: string | undefined;
};

type Message = ChatRequest["messages"][number];

const resultCharactersMax = 2_000;

export function readFacts({ messages, tools, tool_choice }: ChatRequest): Facts {
  const asked = messages.findLastIndex((message) => message.role === "user" && wordsOf(message) !== "");
  const userTexts = messages.filter(({ role }) => role === "user").map(wordsOf);
  return {
    text: wordsOf(messages[asked]),
    language: userTexts.map(languageOfText).findLast((language) => language !== undefined) ?? "en",
    isFirst: !messages.some((message) => message.role === "assistant" && wordsOf(message) !== ""),
    tools: new Set(tool_choice === "none" ? [] : tools?.map((tool) => tool.function.name)),
    done: doneCalls(messages.slice(asked + 1)),
  };
}

/** A message without the reminders that AgentYard attaches to it. */
function wordsOf(message: Message | undefined): string {
  const content = message?.content ?? "";
  const text = typeof content === "string" ? content : content.map((part) => part.text ?? "").join("\n");
  return text.replace(/<system_reminder>[\s\S]*?<\/system_reminder>/g, "").trim();
}

/** Chinese when Han characters weigh enough against words in letters; unknown without either. */
function languageOfText(text: string): Language | undefined {
  const han = text.match(/\p{Script=Han}/gu)?.length ?? 0;
  const words = text.match(/\p{Script=Latin}+/gu)?.length ?? 0;
  if (han + words === 0) return undefined;
  return han / (han + words) >= 0.4 ? "zh" : "en";
}

function doneCalls(messages: readonly Message[]): readonly DoneCall[] {
  const names = new Map(
    messages.flatMap(({ tool_calls }) => (tool_calls ?? []).map((call) => [call.id, call.function.name])),
  );
  return messages.flatMap((message) => {
    const name = message.role === "tool" ? names.get(message.tool_call_id ?? "") : undefined;
    if (name === undefined) return [];
    const result = wordsOf(message).slice(0, resultCharactersMax).toWellFormed();
    return [{ name, result, failure: /^Error: ([a-z_]+)/.exec(result)?.[1] }];
  });
}
