import type { Decided, Deeds, History, SaidLine } from "../log/log.ts";
import { estimateTokens } from "../models/models.ts";
import { ownWordsOf } from "../protocol/events.ts";
import { hasVisible } from "../protocol/message.ts";
import { forModels, shownName } from "../words/words.ts";
import { instructionsIn, instructionTokensMax, isInstruction } from "./instructions.ts";
import { markedRest, markedWords, oneLine } from "./own-marks.ts";
import { endsWithin } from "./shorten.ts";

/** What stands beside a summary: what the log has, byte for byte, and how many of each kind. */
export type Pins = { readonly text: string; readonly kept: Readonly<Record<string, number>> };

type Wanted = {
  readonly tokensMax: number;
  /** Beyond this nothing is added that the user only said. */
  readonly saidTokensMax?: number | undefined;
  /** Whether the words of this message are not sent otherwise. */
  readonly isGone: (seq: number) => boolean;
  readonly canSearch: boolean;
};

type Section = keyof typeof forModels.compact.sections;
type Entry = { readonly section: Section; readonly order: number; readonly text: string };

/** The user's instructions go before everything, but what is open has to have room as well. */
const standingShareMax = 0.7;
/** What else was said is worth less than messages that are sent as they are. */
const saidShareMax = 0.75;
const filesMax = 40;
const decidedMax = 30;

/**
 * Taken from the log anew each time, never from an earlier summary. The most important is chosen first, as long as
 * there is room; what is chosen stands in an order that one can read.
 */
export function pinsOf(history: History, wanted: Wanted): Pins {
  for (let tokensMax = wanted.tokensMax; ; ) {
    const pins = chosen(history, { ...wanted, tokensMax });
    // Headings and notes take some of it too; how much, what was chosen tells.
    const over = estimateTokens(pins.text) - wanted.tokensMax;
    if (over <= 0 || tokensMax <= 0) return pins;
    tokensMax -= over;
  }
}

function chosen(history: History, { tokensMax, saidTokensMax = tokensMax, isGone, canSearch }: Wanted): Pins {
  const words = wordsOf(history, isGone);
  const budget = openBudget(tokensMax);
  budget.take(words.standing, standingShareMax);
  budget.take(openOf(history));
  budget.take(todosOf(history));
  budget.take(selectedOf(history, isGone));
  budget.takeAgain("standing");
  budget.take(requestOf(words.request, Math.min(requestShareMax * tokensMax, requestLeftShareMax * budget.left())));
  budget.take(decidedOf(history.decided));
  budget.take(filesOf(history.deeds));
  budget.shrinkTo(saidTokensMax);
  budget.take(words.others, saidShareMax);
  const { sections, wordForWord, notRepeated } = forModels.compact;
  const parts = keysOf(sections).flatMap((section) => {
    const taken = budget.taken.filter((entry) => entry.section === section);
    const missing = budget.missing.filter((entry) => entry.section === section).length;
    // That there is more of what was said, the beginning tells.
    if (taken.length + (section === "said" ? 0 : missing) === 0) return [];
    const lines = taken.sort((a, b) => a.order - b.order).map(({ text }) => text);
    return [[sections[section], ...lines, ...(missing > 0 ? [notRepeated(missing, canSearch)] : [])].join("\n")];
  });
  const kept = Object.fromEntries(
    keysOf(sections).flatMap((section) => {
      const count = budget.taken.filter((entry) => entry.section === section).length;
      return count === 0 ? [] : [[section, count]];
    }),
  );
  return { text: parts.length === 0 ? "" : [wordForWord, ...parts].join("\n\n"), kept };
}

/** Headings and notes of all kinds. */
export const headingsTokens = 60;

function openBudget(tokensMax: number) {
  const taken: Entry[] = [];
  const missing: Entry[] = [];
  const all = Math.max(tokensMax, 0);
  let left = all;
  const take = (entries: readonly Entry[], shareMax = 1) => {
    const reserve = (1 - shareMax) * all;
    for (const entry of entries) {
      const tokens = estimateTokens(entry.text) + 1;
      const isFitting = tokens <= left - reserve;
      if (isFitting) left -= tokens;
      (isFitting ? taken : missing).push(entry);
    }
  };
  return {
    taken,
    missing,
    take,
    left: () => left,
    shrinkTo(tokens: number): void {
      left -= Math.max(tokensMax - tokens, 0);
    },
    /** Where less was open than could have been. */
    takeAgain(section: Section): void {
      const all = missing.splice(0);
      missing.push(...all.filter((entry) => entry.section !== section));
      take(all.filter((entry) => entry.section === section));
    },
  };
}

/** A longer message is repeated in part: what sounds like an instruction, and its beginning and end. */
const requestTokensMax = 2_000;
const requestShareMax = 0.35;
const requestLeftShareMax = 0.5;

function wordsOf({ said, turn }: History, isGone: Wanted["isGone"]) {
  const left = unrepeated(said.filter(({ seq }) => isGone(seq)));
  const gone = left.filter(({ text }) => hasVisible(text));
  // What the turn is about, and what was thrown in last.
  const asked = new Set([said.at(-1)?.text, turn === undefined ? undefined : ownWordsOf(turn.message)]);
  const isRequest = ({ text }: SaidLine) => asked.has(text);
  const isLong = ({ text }: SaidLine) => estimateTokens(text) > instructionTokensMax;
  const [long, short] = [gone.filter(isLong), gone.filter((entry) => !isLong(entry))];
  const instructions = [...short.filter(({ text }) => isInstruction(text)), ...long.flatMap(linesOf)];
  const others = [...short.filter(({ text }) => !isInstruction(text)), ...long];
  return {
    // One that is an instruction stands among them.
    request: left.filter((entry) => {
      const isElsewhere = !hasVisible(entry.text) || (!isLong(entry) && isInstruction(entry.text));
      return isRequest(entry) && (entry.rest !== undefined || !isElsewhere);
    }),
    standing: newestFirst(unrepeated(instructions)).map((entry) => entryOf("standing", entry, instructionTokensMax)),
    others: newestFirst(others.filter((entry) => !isRequest(entry))).map((entry) =>
      entryOf("said", entry, instructionTokensMax),
    ),
  };
}

function requestOf(request: readonly SaidLine[], tokensMax: number): Entry[] {
  const each = Math.floor(Math.min(requestTokensMax, tokensMax / Math.max(request.length, 1)) - wordsTokens);
  return request.map((entry) => withRest(entryOf("request", entry, each), entry, each));
}

/** What the user's line stands for comes behind it, in what is left of its room: without it nobody knows the task. */
function withRest(entry: Entry, { text, rest }: SaidLine, tokensMax: number): Entry {
  if (rest === undefined) return entry;
  const own = hasVisible(text) ? [entry.text] : [];
  const left = tokensMax - estimateTokens(own.join("")) - restTokens;
  return left <= gapTokens ? entry : { ...entry, text: [...own, markedRest(fitted(rest, left))].join("\n") };
}

/** What stands around it. */
const restTokens = 48;

/** What stands around the words of the user, and in the gap of those that are shortened. */
const wordsTokens = 8;
const gapTokens = 36;

/** The lines worth keeping of a message that is not repeated as a whole. */
function linesOf({ seq, text }: SaidLine): SaidLine[] {
  return instructionsIn(text).map((line) => ({ seq, text: line }));
}

/** Said twice, it is repeated once, as it was said last. */
function unrepeated(said: readonly SaidLine[]): SaidLine[] {
  return [...new Map(said.map((entry) => [entry.text, entry])).values()];
}

function newestFirst(said: readonly SaidLine[]): SaidLine[] {
  return [...said].sort((a, b) => b.seq - a.seq);
}

function entryOf(section: Section, { seq, text }: SaidLine, tokensMax: number): Entry {
  return { section, order: seq, text: markedWords(fitted(text, tokensMax)) };
}

function fitted(text: string, tokensMax: number): string {
  if (estimateTokens(text) <= tokensMax) return text;
  const { head, tail } = endsWithin(text, tokensMax - gapTokens);
  const note = forModels.compact.gap({
    left: text.length - head.length - tail.length,
    all: text.length,
    file: undefined,
  });
  return `${head}${note}${tail}`;
}

const lineBytesMax = 200;

function inLine(text: string): string {
  return oneLine(text, lineBytesMax);
}

/** What is open before what is done. */
function todosOf({ todos }: History): Entry[] {
  const entries = todos.map((todo, order) => {
    const text = forModels.todoList([{ ...todo, content: oneLine(todo.content, 2 * lineBytesMax) }]);
    return { isDone: todo.status === "completed", entry: { section: "todos", order, text } as const };
  });
  return [...entries.filter(({ isDone }) => !isDone), ...entries.filter(({ isDone }) => isDone)].map(
    ({ entry }) => entry,
  );
}

function openOf({ decisions }: History): Entry[] {
  const { decision, waits } = forModels.compact;
  const open = [...decisions.values()].filter(({ asked, made }) => made === undefined && asked.kind !== "function");
  return open.map(({ asked: { tool, seq, question, arguments: written = "" } }) => {
    const about = question ?? written;
    const text = decision({ verdict: waits, tool: inLine(tool), about: inLine(about), word: undefined });
    return { section: "open", order: seq, text };
  });
}

/** Newest first; selected twice, it stands where it was selected last. */
function selectedOf({ selected }: History, isGone: Wanted["isGone"]): Entry[] {
  const gone = selected.filter(({ seq }) => isGone(seq)).flatMap(({ files }) => files);
  const sent = new Set(selected.filter(({ seq }) => !isGone(seq)).flatMap(({ files }) => files));
  const files = [...new Set(gone.toReversed())].filter((path) => !sent.has(path)).slice(0, filesMax);
  return files.map((path, order) => ({ section: "selected", order, text: `- ${shownName(path)}` }));
}

function decidedOf(decided: readonly Decided[]): Entry[] {
  const { decision, verdict } = forModels.compact;
  const newest = decided.slice(-decidedMax).reverse();
  return newest.map(({ seq, tool, about, word, ...made }) => {
    const reason = word === undefined || word === "" ? undefined : inLine(word);
    const text = decision({ verdict: verdict[made.verdict], tool: inLine(tool), about: inLine(about), word: reason });
    return { section: "decided", order: seq, text };
  });
}

function filesOf(deeds: History["deeds"]): Entry[] {
  const newestOf = (done: Deeds) => Math.max(...Object.values(done));
  const files = [...deeds].sort(([, a], [, b]) => newestOf(b) - newestOf(a)).slice(0, filesMax);
  return files.map(([path, done], order) => {
    const inOrder = keysOf(done).sort((a, b) => (done[a] ?? 0) - (done[b] ?? 0));
    return { section: "files", order, text: forModels.compact.file(shownName(path), inOrder) };
  });
}

function keysOf<T extends object>(value: T): (keyof T)[] {
  return Object.keys(value).filter((key): key is keyof T & string => key in value);
}
