import type { History } from "../log/log.ts";
import { estimateTokens } from "../models/models.ts";
import type { ModelAnswer } from "../models/provider.ts";
import type { EventBody } from "../protocol/events.ts";
import type { Message } from "../protocol/message.ts";
import { shortened } from "../tools/tools.ts";
import { cutText, dataBlocksIn, forModels, type Language } from "../words/words.ts";
import { bodyStart } from "./keep.ts";
import { markFor } from "./own-marks.ts";
import { withoutReminder } from "./shorten.ts";

export type Strategy = "compact" | "summarize";

type Wanted = {
  /** The messages before this one are summed up. */
  readonly first: number;
  readonly strategy: Strategy;
  readonly focus: string | undefined;
  /** What the summary may have. */
  readonly tokensMax: number;
  /** What the summariser may be sent. */
  readonly inputTokensMax: number;
};

/** The request for a summary: the history as one text, inside a block that it cannot close. No tools. */
export function summaryRequest(history: History, wanted: Wanted): Message[] {
  const { compact } = forModels;
  const { strategy, focus } = wanted;
  const language = languageIn(history);
  const system = compact.summariser({ language, strategy, words: wordsMax(wanted) });
  const previous = history.summary?.text ?? "";
  const linesMax = wanted.inputTokensMax - estimateTokens(system) - estimateTokens(previous) - askTokens;
  const lines = history.messages.slice(bodyStart(history), wanted.first).map(lineOf);
  const { text, dropped } = newestThatFit(lines, linesMax);
  const mark = markFor(text + previous);
  const content = compact.ask({
    ...{ history: { mark, text }, previous: previous === "" ? undefined : { mark, text: previous }, dropped },
    focus: focus?.trim() === "" ? undefined : focus,
  });
  return [
    { role: "system", text: system },
    { role: "user", text: content },
  ];
}

/** What stands around the history. */
const askTokens = 200;

type Because = NonNullable<EventBody<"compacted">["because"]>;

/** The model's summary, or why it cannot be used. */
export function readSummary(
  answer: Pick<ModelAnswer, "text" | "finish" | "error">,
  { strategy, tokensMax }: Pick<Wanted, "strategy" | "tokensMax">,
): { readonly text: string } | { readonly because: Because } {
  const text = answer.text.trim().replace(ownHead, "").toWellFormed();
  if (answer.error !== undefined) return { because: "error" };
  if (text === "") return { because: "empty" };
  if (answer.finish === "length" || estimateTokens(text) > tokensMax) return { because: "too_long" };
  const isRefused = strategy === "compact" ? partsIn(text) < partsMin : refusal.test(text);
  return isRefused ? { because: "refused" } : { text };
}

/** The heading is ours. */
const ownHead = /^# *(?:conversation (?:history )?summary|对话历史摘要)[^\n]*\n+/i;
/** Fewer of the seven headings are no summary, whatever else was said. */
const partsMin = 4;
const refusal =
  /^\W*(?:i['’]?m sorry|i am sorry|sorry|i can(?:not|['’]t)|i am unable|i['’]m unable|as an ai|抱歉|对不起|很遗憾|我无法|我不能)/i;

function partsIn(text: string): number {
  return new Set([...text.matchAll(/^#{1,4} *([1-7])\s*[.、．):：]/gm)].map(([, number]) => number)).size;
}

const summarizeWordsMax = 200;
const tokensPerWord = 1.5;
/** Models count badly: they are told of less than there is room for. */
const toldShare = 0.75;

function wordsMax({ strategy, tokensMax }: Wanted): number {
  const words = Math.floor((tokensMax * toldShare) / tokensPerWord / 10) * 10;
  return strategy === "summarize" ? Math.min(words, summarizeWordsMax) : words;
}

const wordsLookedAt = 8;

/** The language that the user speaks here. */
export function languageIn({ said }: Pick<History, "said">): Language {
  const words = said
    .slice(-wordsLookedAt)
    .map(({ text }) => text.slice(0, 2_000))
    .join("");
  const han = words.match(/\p{Script=Han}/gu)?.length ?? 0;
  const letters = words.match(/\p{Script=Latin}/gu)?.length ?? 0;
  return 2 * han > letters ? "zh" : "en";
}

const said = { head: 1_200, tail: 800 };
const result = { head: 500, tail: 200 };
const argumentBytesMax = 200;

function lineOf(message: Message): string {
  const { line, images } = forModels.compact;
  const text = withoutReminder(message);
  const shown = "images" in message && message.images !== undefined ? message.images.length : 0;
  const pictures = shown === 0 ? "" : ` ${images(shown)}`;
  if (message.role === "tool") return line("result", ends(text, result) + pictures);
  if (message.role !== "assistant")
    return line("user", ends(text, said, message.role === "user" ? message.own : undefined) + pictures);
  const calls = (message.toolCalls ?? []).map(({ name, arguments: written }) =>
    line("call", `${shortened(name, 64)} ${mainArgument(written)}`),
  );
  return [...(text.trim() === "" ? [] : [line("assistant", ends(text, said))]), ...calls].join("\n");
}

/** Text of files, which stands behind the person's own words, stays in its blocks. */
function ends(raw: string, { head, tail }: typeof said, own = 0): string {
  const text = raw.toWellFormed();
  if (text.length <= head + tail) return text;
  const blocks = dataBlocksIn(text, own);
  const start = text.length - tail;
  return `${cutText(text, blocks, { end: head })} ... ${cutText(text, blocks, { start })}`.toWellFormed();
}

/** The first one that says something, which is a path or a command mostly. */
function mainArgument(written: string): string {
  return shortened(written.replaceAll(/\s+/g, " "), argumentBytesMax);
}

function newestThatFit(lines: readonly string[], tokensMax: number): { text: string; dropped: number } {
  let [first, tokens] = [lines.length, 0];
  while (first > 0) {
    tokens += estimateTokens(lines[first - 1] ?? "") + 1;
    if (tokens > tokensMax) break;
    first -= 1;
  }
  return { text: lines.slice(first).join("\n"), dropped: first };
}
