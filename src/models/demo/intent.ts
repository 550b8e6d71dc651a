import type { Words } from "../../words/words.ts";
import type { FoundServer } from "../detect.ts";
import type { DoneCall, TalkFacts } from "./facts.ts";

/** One thing the demo model can do. Texts come from words/; a new ability is a new row in a table of these. */
export type Intent = {
  readonly name: string;
  matches(text: string, facts: TalkFacts): boolean;
  /** The calls to make next, all at once, given those that are done; none when it knows enough. */
  calls?(facts: TalkFacts, world: World): readonly WantedCall[];
  /** The answer, when no call is wanted any more and none has failed. */
  answer(facts: TalkFacts, world: World): string | Promise<string>;
  /** It looks into several files: those that could be read are answered also where another could not. */
  readonly answersInPart?: true;
  /** The answer itself tells of calls that failed, and none is made after them unless the intent wants it. */
  readonly tellsFailures?: true;
  /** The answer itself says that this is no AI. */
  readonly introduces?: true;
};

export type WantedCall = { readonly name: string; readonly arguments: Readonly<Record<string, unknown>> };

/** What the demo model knows beside the conversation. */
export type World = {
  readonly words: DemoWords;
  readonly notes: NoteWords;
  findServers(): Promise<readonly FoundServer[]>;
  /** The user's time zone, for `now`. */
  readonly timezone?: string | undefined;
};
export type DemoWords = Words["demo"];
export type NoteWords = Words["models"]["notes"];

export function said(pattern: RegExp): (text: string) => boolean {
  return (text) => pattern.test(text);
}

/** For intents whose calls are all made at the start of the turn. */
export function first(calls: Required<Intent>["calls"]): Required<Intent>["calls"] {
  return (facts, world) => (facts.done.length === 0 ? calls(facts, world) : []);
}

export function resultOf(done: readonly DoneCall[], name: string): string {
  return done.findLast((call) => call.name === name)?.result ?? "";
}

export function paragraphs(...parts: readonly string[]): string {
  return parts.filter((part) => part !== "").join("\n\n");
}
