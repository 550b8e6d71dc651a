import { derivedHex } from "../base/ids.ts";
import type { History } from "../log/log.ts";
import type { BudgetLine } from "../protocol/budget.ts";
import type { TokenStatus } from "../protocol/resources.ts";
import { forModels } from "../words/words.ts";
import { newlyRepeated } from "./loop-guard.ts";
import { oneLine } from "./own-marks.ts";
import { notesPart, notesShown, ownPartsOf } from "./prompt.ts";

/** What is attached to the newest message, exactly as sent, and what it told. */
export type Reminder = { readonly text: string; readonly told: readonly string[] };

/** Facts the model should know now and was not told yet; undefined when there is nothing to say. */
export function reminderFor(
  history: History,
  now: {
    readonly at: number;
    readonly tokens: TokenStatus;
    readonly instruction?: string | undefined;
    /** The user's memories, where they were looked at: when a turn starts. */
    readonly memories?: readonly string[] | undefined;
    /** What the user named, and which skills there are for new files: told once, when it is new. */
    readonly news?: readonly string[] | undefined;
    /** What may be spent, where a budget holds. */
    readonly budget?: readonly BudgetLine[] | undefined;
  },
): Reminder | undefined {
  const notes = [
    dateNote(history, now.at),
    inputsNote(history),
    newsNote(now.news),
    memoryNote(history, now.memories),
    todoNote(history),
    tokenNote(history, now.tokens),
    budgetNote(history, now.budget),
    loopNote(history),
  ].filter((note) => note !== undefined);
  const lines = [...notes.map((note) => note.line), ...(now.instruction === undefined ? [] : [now.instruction])];
  if (lines.length === 0) return undefined;
  return { text: forModels.reminder(lines), told: notes.map((note) => note.told) };
}

type Note = { readonly line: string; readonly told: string };

/** The prompt has the day the conversation began; a new day is told once. */
function dateNote(history: History, at: number): Note | undefined {
  const today = dayOf(at);
  const known = history.told.get("date")?.value ?? dayOf(history.recipe?.startedAt ?? at);
  return known === today ? undefined : { line: forModels.dateNow(today), told: `date:${today}` };
}

const inputBytesMax = 4_000;
const inputsMax = 50;

/** What the caller sent beside the words of the message, once, at the start of its turn. */
function inputsNote({ turn }: History): Note | undefined {
  if (turn === undefined || turn.step > 0) return undefined;
  const inputs = Object.entries(turn.message.inputs ?? {}).slice(0, inputsMax);
  if (inputs.length === 0) return undefined;
  const lines = inputs.map(([name, value]) => `- ${oneLine(`${name}: ${JSON.stringify(value)}`, inputBytesMax)}`);
  return { line: forModels.inputs(lines), told: "inputs:" };
}

const newsMax = 6;

/** Tools, skills and agents that were named with this message, and skills for the files that came. */
function newsNote(news: readonly string[] = []): Note | undefined {
  return news.length === 0 ? undefined : { line: news.slice(0, newsMax).join("\n"), told: "news:" };
}

/** The prompt has the memories of the conversation's start; others are told once. */
function memoryNote({ recipe, told }: History, memories: readonly string[] | undefined): Note | undefined {
  if (memories === undefined || recipe === undefined) return undefined;
  const digestOf = (notes: string | undefined) => derivedHex(digestCharacters, notes ?? "");
  const known = told.get("memory")?.value ?? digestOf(ownPartsOf(recipe).notes);
  const digest = digestOf(notesPart(memories));
  return known === digest
    ? undefined
    : { line: forModels.memory.notesNow(notesShown(memories)), told: `memory:${digest}` };
}

const digestCharacters = 8;

const quietSteps = 8;

/**
 * The open items at the start of a turn, unless they were told a moment ago and have not changed; in the middle of it
 * only how many there are, after eight steps without an update, and then after twice as many: a reminder that was not
 * heeded helps no more the next time, and each one is paid for in every later request.
 */
function todoNote(history: History): Note | undefined {
  const { turn, todos, steps, told } = history;
  const open = todos.filter((todo) => todo.status !== "completed");
  if (turn === undefined || open.length === 0) return undefined;
  const sinceTold = steps + 1 - (told.get("todos")?.step ?? Number.NEGATIVE_INFINITY);
  if (turn.step === 0) {
    const isDue = sinceTold >= quietSteps || hasUpdate(history, sinceTold);
    return isDue ? { line: openItems(open), told: "todos:" } : undefined;
  }
  const toldAtStep = turn.step + 1 - sinceTold;
  const isDue = sinceTold >= Math.max(quietSteps, toldAtStep) && !hasUpdate(history, quietSteps);
  return isDue ? { line: openCount(open), told: "todos:" } : undefined;
}

const todosShownMax = 5;
const todoBytesMax = 80;

function openItems(open: History["todos"]): string {
  const isActive = (todo: History["todos"][number]) => todo.status === "in_progress";
  const activeFirst = [...open.filter(isActive), ...open.filter((todo) => !isActive(todo))];
  const shown = activeFirst.slice(0, todosShownMax);
  const lines = shown.map((todo) => ({ ...todo, content: oneLine(todo.content, todoBytesMax) }));
  return forModels.todosOpen(lines, open.length - shown.length);
}

function openCount(open: History["todos"]): string {
  const active = open.find((todo) => todo.status === "in_progress")?.content;
  return forModels.todosStillOpen(open.length, active === undefined ? undefined : oneLine(active, todoBytesMax));
}

/** Whether one of the newest answers wrote the list. */
function hasUpdate({ messages }: History, answers: number): boolean {
  let left = answers;
  for (let index = messages.length - 1; index >= 0 && left > 0; index -= 1) {
    const message = messages[index];
    if (message?.role !== "assistant") continue;
    if (message.toolCalls?.some((call) => call.name === "todo_write")) return true;
    left -= 1;
  }
  return false;
}

/** A note on the way down only when much was freed: the count goes up and down a little around each level. */
const freeShare = 0.6;
/** From here on the model is told how room is made, if it can. */
const halfShare = 0.6;

/** Only when the level has changed. */
function tokenNote(history: History, { used, window, level }: TokenStatus): Note | undefined {
  const known = history.told.get("tokens")?.value ?? "info";
  const percent = Math.round((100 * used) / window);
  const canCompact = history.recipe?.descriptions.some(({ name }) => name === "compact_context") === true;
  const now = level === "info" && used / window >= halfShare && canCompact ? "half" : level;
  if (rankOf(now) > rankOf(known)) {
    const line = now === "half" ? forModels.tokensHalf(percent) : forModels.tokens(percent, now, canCompact);
    return { line, told: `tokens:${now}` };
  }
  const isFreed = rankOf(known) > rankOf("half") && used / window < freeShare;
  return isFreed ? { line: forModels.tokensFree(percent), told: "tokens:info" } : undefined;
}

const levels: readonly string[] = ["info", "half", "warning", "high", "critical"] satisfies readonly (
  | TokenStatus["level"]
  | "half"
)[];

function rankOf(level: string): number {
  return levels.indexOf(level);
}

const budgetLevels = [0.5, 0.8, 0.95];

/** When limits have changed, when half, four fifths and nearly all of one is used, and otherwise after eight steps. */
function budgetNote({ told, steps }: History, lines: readonly BudgetLine[] = []): Note | undefined {
  if (lines.length === 0) return undefined;
  const used = Math.max(...lines.map(({ left, limit }) => (limit === 0 ? 1 : 1 - left / limit)));
  const level = budgetLevels.filter((share) => used >= share).length;
  const value = `${lines.map(({ kind, limit }) => `${kind} ${limit}`).join(", ")} ${level}`;
  const known = told.get("budget");
  const isDue = known?.value !== value || steps + 1 - known.step >= quietSteps;
  return isDue ? { line: forModels.budget.left(lines), told: `budget:${value}` } : undefined;
}

const toolBytesMax = 64;

function loopNote({ turn, messages }: History): Note | undefined {
  if (turn === undefined) return undefined;
  const newest = messages.length - 1 - messages.findLastIndex((message) => message.role !== "tool");
  const repeated = newlyRepeated(turn.finished, newest);
  if (repeated === undefined) return undefined;
  return { line: forModels.sameResultAgain(oneLine(repeated.name, toolBytesMax), repeated.times), told: "loop:" };
}

function dayOf(at: number): string {
  return new Date(at).toISOString().slice(0, 10);
}
