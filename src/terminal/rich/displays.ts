import type { TurnDisplay, TurnDisplayOptions } from "../console.ts";
import type { Style } from "../style.ts";
import { Answer } from "./answer.ts";
import type { Block } from "./page.ts";
import { RichView, type ViewHost } from "./rich-view.ts";

/** What shows a conversation: read after the prompt is drawn, for the Markdown of the library takes its time to load. */
export type Displays = {
  turnDisplay(options: TurnDisplayOptions, host: ViewHost): TurnDisplay;
  /** A whole answer, block by block. */
  showAnswer(text: string, options: { readonly style: Style; readonly onBlock: (block: Block) => void }): void;
};

export const displays: Displays = {
  turnDisplay: (options, host) => new RichView(options, host),
  showAnswer(text, options) {
    const answer = new Answer(options);
    answer.add(text);
    answer.finish();
  },
};
