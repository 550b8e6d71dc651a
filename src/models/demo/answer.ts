import { assert } from "../../base/assert.ts";
import type { DoneCall, Facts } from "./facts.ts";
import type { DemoWords, WantedCall, World } from "./intent.ts";
import { intents } from "./intents.ts";

/** Either words for the user, or calls to make first. */
export type Answer = { readonly text: string; readonly calls: readonly WantedCall[] };

/** Calls what the matching intent wants to know, then lets it speak; says so where a tool is missing or failed. */
export async function answerTo(facts: Facts, world: World): Promise<Answer> {
  const intent = intents.find(({ matches }) => matches(facts.text, facts));
  assert(intent !== undefined, "the last intent matches everything");
  const hasFailed = facts.done.some(({ failure }) => failure !== undefined);
  const wanted = hasFailed ? [] : (intent.calls?.(facts, world) ?? []);
  const missing = wanted.find(({ name }) => !facts.tools.has(name));
  if (wanted.length > 0 && missing === undefined) return { text: "", calls: wanted };

  const text =
    missing !== undefined
      ? world.words.toolNotThere(missing.name)
      : hasFailed
        ? facts.done.map((call) => outcome(call, world.words)).join("\n")
        : await intent.answer(facts, world);
  const introduces = facts.isFirst && intent.introduces !== true;
  return { text: introduces ? `${world.words.introduction}\n\n${text}` : text, calls: [] };
}

/** Of a result that is only mentioned beside a failure. */
const mentionedCharactersMax = 500;

function outcome({ name, result, failure }: DoneCall, words: DemoWords): string {
  if (failure === undefined) return words.called(name, result.slice(0, mentionedCharactersMax).toWellFormed());
  return failure === "tool_rejected" ? words.declined(name) : words.failed(name, result);
}
