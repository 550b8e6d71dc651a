import type { Clock } from "../../base/clock.ts";
import type { Words } from "../../words/words.ts";
import type { Suggest } from "../console.ts";
import type { JobControl } from "../job-control.ts";
import type { Style } from "../style.ts";
import type { Displays } from "./displays.ts";

/** What a drawn terminal needs before there is a conversation. */
export type RichOptions = {
  readonly words: Words;
  readonly style: Style;
  readonly clock: Pick<Clock, "monotonic" | "after">;
  readonly jobControl: JobControl | undefined;
  /** The terminal cannot show more than ASCII. */
  readonly isAscii: boolean;
  /** Where what was typed is kept, and from which folder it was. */
  readonly history: { readonly file: string | undefined; readonly folder: string };
  /** Ctrl+C while there is no conversation yet. */
  readonly onLeave: () => void;
};

/** What there is as soon as there is a conversation. */
export type RichChat = {
  readonly words: Words;
  readonly suggest: Suggest;
  readonly prompt: string;
  readonly displays: Displays;
};
