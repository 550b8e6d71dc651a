import { first, type Intent } from "./intent.ts";

const asks = /\b(let|ask|have|hand\b.{0,12}\bover to|transfer\b.{0,12}\bto)\b|让|请|转交给?|转给|交给/i;

/** The tool that leads to an agent whom the user names: `let Simple answer this`, `让 simple 来回答`. */
function transferTo(text: string, tools: ReadonlySet<string>): string | undefined {
  const words = new Set(text.toLowerCase().match(/[a-z0-9._-]+/g) ?? []);
  return [...tools].find((tool) => tool.startsWith(prefix) && words.has(tool.slice(prefix.length).toLowerCase()));
}

const prefix = "transfer_to_";

/** What comes behind the first colon is what the other one is to do. */
function taskIn(text: string): string {
  return /[:：]\s*(\S.*)$/s.exec(text)?.[1] ?? text;
}

export const handOffIntents: readonly Intent[] = [
  {
    name: "hand over",
    matches: (text, { tools }) => asks.test(text) && transferTo(text, tools) !== undefined,
    calls: first(({ text, tools }) => {
      const name = transferTo(text, tools);
      return name === undefined ? [] : [{ name, arguments: { task: taskIn(text) } }];
    }),
    answer: (_, { words }) => words.handedBack,
  },
  {
    name: "budget",
    matches: (text) => /\bbudget\b|预算/i.test(text),
    answer: ({ budget }, { words }) => (budget === undefined ? words.noBudget : words.budget(budget)),
  },
];

/** Somebody handed the user over, and no rule knows what to do about it. */
export const handedIntent: Intent = {
  name: "handed over",
  matches: (_, { isHanded }) => isHanded,
  answer: ({ text }, { words }) => words.handedOver(text),
};
