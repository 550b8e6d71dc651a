import { type Budget, type BudgetKind, type BudgetLimits, budgetKinds } from "../protocol/budget.ts";
import type { Words } from "../words/words.ts";
import { type Chat, sayFailure } from "./chat-state.ts";
import { safeLine } from "./safe-text.ts";

/** What people type for each kind, and how many of ours one of theirs is. */
const typedKinds: Readonly<Record<string, readonly [kind: BudgetKind, times: number]>> = {
  tokens: ["tokens", 1],
  usd: ["money", 1],
  money: ["money", 1],
  steps: ["steps", 1],
  seconds: ["ms", 1_000],
  minutes: ["ms", 60_000],
  agents: ["agents", 1],
  depth: ["depth", 1],
};
export const budgetWords: readonly string[] = Object.keys(typedKinds);

/** `/budget` shows what was spent and what is left; `/budget tokens 200k usd 2` and `/budget usd off` change it. */
export async function budget(chat: Chat, argument: string): Promise<undefined> {
  const { client, console, current, words } = chat;
  const texts = words.terminal.budget;
  await current.whenSent;
  if (argument === "" && !current.isStored) return void console.say(texts.nothingYet());
  const wanted = readPairs(argument, words);
  if ("wrong" in wanted) return void console.say(wanted.wrong);
  const stored = await current.store();
  if (!stored.ok) return sayFailure(chat, stored.failure);
  const params = { id: current.id };
  const now = await client.call("getBudget", { params });
  if (!now.ok || argument === "") return now.ok ? showBudget(chat, now.value) : sayFailure(chat, now.failure);
  const body = changed(now.value.set, wanted.changes);
  const set = await client.call("setBudget", { params, body });
  return set.ok ? showBudget(chat, set.value) : sayFailure(chat, set.failure);
}

function showBudget({ console, words }: Chat, { limits, spent, left, unpriced }: Budget): undefined {
  const texts = words.terminal.budget;
  for (const kind of budgetKinds) {
    const used = kind === "depth" ? undefined : spent[kind];
    const limit = limits[kind];
    if (used === undefined || (used === 0 && limit === undefined)) continue;
    const amount = words.amount(kind, used);
    const has = left[kind];
    const isOpen = limit === undefined || has === undefined;
    const line = isOpen
      ? texts.spent({ amount })
      : texts.spentOf({ amount, limit: words.amount(kind, limit), left: words.amount(kind, has) });
    console.say(`  ${line}`);
  }
  if (spent.unpriced > 0 || (limits.money !== undefined && unpriced.length > 0)) {
    const models = unpriced.map((id) => safeLine(id, 60)).join(", ");
    console.say(texts.unpriced({ calls: spent.unpriced, models }));
  }
  console.say(texts.hint());
}

type Change = { readonly kind: BudgetKind; readonly limit: number | undefined };

/** Pairs of a kind and a number, or `off`. */
function readPairs(
  argument: string,
  words: Words,
): { readonly changes: readonly Change[] } | { readonly wrong: string } {
  const typed = argument.split(/[\s=]+/).filter((word) => word !== "");
  const changes: Change[] = [];
  const texts = words.terminal.budget;
  for (let at = 0; at < typed.length; at += 2) {
    const [word = "", number = ""] = typed.slice(at, at + 2);
    const known = Object.hasOwn(typedKinds, word.toLowerCase()) ? typedKinds[word.toLowerCase()] : undefined;
    if (known === undefined)
      return { wrong: texts.unknownKind({ word: safeLine(word, 40), kinds: budgetWords.join(", ") }) };
    const [kind, times] = known;
    const limit = /^(off|none)$/i.test(number) ? undefined : limitOf(number, kind, times);
    if (limit === "wrong") return { wrong: texts.unfit({ word, number: safeLine(number, 40) }) };
    changes.push({ kind, limit });
  }
  return { changes };
}

const suffixes: Readonly<Record<string, number>> = { "": 1, k: 1_000, m: 1_000_000 };
const limitMax = 1_000_000_000;

function limitOf(typed: string, kind: BudgetKind, times: number): number | "wrong" {
  const [, digits = "", suffix = ""] =
    /^\$?(\d{1,12}(?:\.\d{1,6})?)([km]?)$/i.exec(typed.replaceAll(/[,_]/g, "")) ?? [];
  const value = Number(digits) * (suffixes[suffix.toLowerCase()] ?? 1) * times;
  const isFit = digits !== "" && value <= limitMax * times && (kind === "money" || Number.isInteger(value));
  return isFit ? value : "wrong";
}

/** All limits at once, as they are said. */
function changed(set: BudgetLimits, changes: readonly Change[]): BudgetLimits {
  const limits = new Map<string, number | undefined>(Object.entries(set));
  for (const { kind, limit } of changes) {
    if (limit === undefined) limits.delete(kind);
    else limits.set(kind, limit);
  }
  return Object.fromEntries(limits);
}
