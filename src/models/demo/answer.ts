import { assert } from "../../base/assert.ts";
import type { DoneCall, TalkFacts } from "./facts.ts";
import { outcomeText } from "./failures.ts";
import { pagesOf } from "./file-results.ts";
import { type Intent, paragraphs, type WantedCall, type World } from "./intent.ts";
import { intents } from "./intents.ts";
import { isForSkill } from "./skills.ts";

/** Either words for the user, or calls to make first. */
export type Answer = { readonly text: string; readonly calls: readonly WantedCall[] };

/** Calls what the matching intent wants to know, then lets it speak; says so where a tool is missing or failed. */
export async function answerTo(facts: TalkFacts, world: World): Promise<Answer> {
  const intent = intents.find(({ matches }) => matches(facts.text, facts));
  assert(intent !== undefined, "the last intent matches everything");
  const hasFailed = intent.tellsFailures !== true && counted(facts.done).some(({ failure }) => failure !== undefined);
  const wanted = hasFailed ? [] : (intent.calls?.(facts, world) ?? []);
  const missing = wanted.find(({ name }) => !facts.tools.has(name) && !facts.tools.has("use_tool"));
  if (wanted.length > 0 && missing === undefined) return { text: "", calls: wanted };

  const text =
    missing !== undefined
      ? world.words.toolNotThere(missing.name)
      : hasFailed
        ? await afterFailure(intent, facts, world)
        : await intent.answer(facts, world);
  const introduces = facts.isFirst && intent.introduces !== true;
  return { text: introduces ? `${world.words.introduction}\n\n${text}` : text, calls: [] };
}

async function afterFailure(intent: Intent, facts: TalkFacts, world: World): Promise<string> {
  const told = counted(facts.done);
  const isCodeRun = facts.done.some((call) => !told.includes(call) && call.failure === undefined);
  const isAnswered = intent.answersInPart === true && (pagesOf(told).length > 0 || isCodeRun);
  return paragraphs(outcomeText(told, world.words), isAnswered ? await intent.answer(facts, world) : "");
}

/** Who runs code or follows a skill goes another way where that does not work. */
function counted(done: readonly DoneCall[]): readonly DoneCall[] {
  return done.filter((call) => call.name !== "execute_code" && !isForSkill(call));
}
