import type { History } from "../log/log.ts";
import { estimateTokens } from "../models/models.ts";
import type { EventBody } from "../protocol/events.ts";
import type { Message } from "../protocol/message.ts";
import { endsOf } from "../tools/tools.ts";
import { cutText, type DataBlock, dataBlocksIn, forModels } from "../words/words.ts";
import { instructionsIn } from "./instructions.ts";

export type Trims = NonNullable<EventBody<"compacted">["trims"]>;

/** The new text of a message, and how much of it the person said where there is more. */
export type Short = { readonly text: string; readonly own?: number | undefined };

const bytesPerToken = 4;
/** What the note in the gap takes. */
const noteTokens = 48;

/** Head and tail of a message and a note between them; its images go. Short enough already: as it is. */
export function shortenedText(message: Message, tokensMax: number): Short {
  const { gap, imagesGone } = forModels.compact;
  const images = "images" in message ? (message.images?.length ?? 0) : 0;
  const note = images === 0 ? "" : imagesGone(images);
  const said = message.role === "user" ? message.own : undefined;
  const text = withoutReminder(message);
  if (images === 0 && estimateTokens(message.text) <= tokensMax) return { text: message.text, own: said };
  if (estimateTokens(text) <= tokensMax) return { text: text + note, own: said };
  const blocks = dataBlocksIn(text, said);
  const marksTokens = Math.max(0, ...blocks.map(({ begin, end }) => estimateTokens(begin + end)));
  const orders =
    message.role === "user" ? instructionsWithin(ownOf(text, blocks, said), tokensMax * instructionsShare) : [];
  const tokensLeft = tokensMax - noteTokens - marksTokens - estimateTokens(orders.join("\n"));
  const ends = endsWithin(text, tokensLeft);
  const [end, start] = [ends.head.length, text.length - ends.tail.length];
  const file = message.role === "tool" ? message.file : undefined;
  const missing = gap({ left: start - end, all: text.length, file });
  const between = [missing, ...orders.map((line) => `${line}\n`)].join("");
  const [head, tail] = [cutText(text.toWellFormed(), blocks, { end }), cutText(text.toWellFormed(), blocks, { start })];
  return {
    text: `${head}${between}${tail}${note}`,
    ...(said !== undefined && { own: said <= end ? said : end + between.length + Math.max(said - start, 0) }),
  };
}

/** The beginning and the end of a text, as much of it as these tokens hold. */
export function endsWithin(raw: string, tokensMax: number): { head: string; tail: string } {
  // It weighs a character as the estimate does: what fits by bytes fits by tokens, in every language.
  return endsOf(raw.toWellFormed(), Math.max(Math.floor(tokensMax), 0) * bytesPerToken);
}

/** What reminders told there is old; and a tail of one would hide the end of the message itself. */
export function withoutReminder(message: Message): string {
  const added = "reminder" in message ? (message.reminder ?? 0) : 0;
  return message.text.slice(0, message.text.length - added);
}

/** What a user wants for longer is not lost in the middle of a long message. */
const instructionsShare = 0.3;

/** Only what the person said is theirs: not the texts of files that stand behind it, nor blocks that they pasted. */
function ownOf(text: string, blocks: readonly DataBlock[], own: number | undefined): string {
  if (own !== undefined) return text.slice(0, own);
  const starts = [0, ...blocks.map(({ to }) => to)];
  return starts.map((start, index) => text.slice(start, blocks[index]?.from)).join("\n");
}

function instructionsWithin(text: string, tokensMax: number): string[] {
  let left = tokensMax;
  return instructionsIn(text).filter((line) => {
    const tokens = estimateTokens(line) + 1;
    if (tokens > left) return false;
    left -= tokens;
    return true;
  });
}

/** Which messages are shorter from now on, and their new texts; several of one place are all named, in their order. */
export function trimsOf({ messages, seqs }: History, texts: ReadonlyMap<number, Short>): Trims {
  const places = new Set([...texts.keys()].map((index) => seqs[index]));
  return messages.flatMap((message, index) => {
    const seq = seqs[index];
    const isNamed = seq !== undefined && places.has(seq) && (message.role === "user" || message.role === "tool");
    if (!isNamed) return [];
    const { text, own }: Short = texts.get(index) ?? message;
    return [{ seq, text, ...(own === undefined ? {} : { own }) }];
  });
}
