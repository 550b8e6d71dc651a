import type { Clock } from "../../base/clock.ts";
import { type Language, wordsFor } from "../../words/words.ts";
import { processJobControl } from "../job-control.ts";
import { styleFor } from "../style.ts";
import { RichConsole } from "./rich-console.ts";

export type { RichConsole } from "./rich-console.ts";

type Options = {
  readonly language: Language;
  readonly color: boolean;
  readonly isAscii: boolean;
  readonly history: { readonly file: string | undefined; readonly folder: string };
  readonly clock: Clock;
  /** Ctrl+C before there is a chat. */
  readonly onLeave: () => void;
};

/** Draws the prompt of a chat that is yet to be opened. Reads as little as it can: whoever waits for it sees nothing else. */
export function drawPrompt({ language, color, ...options }: Options): RichConsole {
  const style = styleFor({ color });
  return new RichConsole({ ...options, words: wordsFor(language), style, jobControl: processJobControl });
}
