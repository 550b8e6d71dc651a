import { roundMoney } from "../protocol/budget.ts";
import type { Usage } from "../protocol/message.ts";

/** US dollars for a million tokens. What a server had in its cache costs `cachedInput`, or as much as the rest. */
export type Price = { readonly input: number; readonly output: number; readonly cachedInput?: number | undefined };

/** By the id of a model; a `*` at the end of one stands for whatever follows. */
export type PriceTable = Readonly<Record<string, Price>>;

const free: Price = { input: 0, output: 0 };

/** What a model costs; undefined where nobody has said so. The longest id that fits counts. */
export function priceOf({ id, isDemo }: { id: string; isDemo: boolean }, table: PriceTable): Price | undefined {
  if (isDemo) return free;
  if (Object.hasOwn(table, id)) return table[id];
  const fitting = Object.keys(table).filter((name) => name.endsWith("*") && id.startsWith(name.slice(0, -1)));
  const [longest] = fitting.toSorted((a, b) => b.length - a.length);
  return longest === undefined ? undefined : table[longest];
}

const tokensPerPrice = 1_000_000;

/** US dollars for these tokens. */
export function costOf({ input, output, cachedInput = 0 }: Usage, price: Price): number {
  const cached = Math.min(cachedInput, input);
  const dollars = (input - cached) * price.input + cached * (price.cachedInput ?? price.input) + output * price.output;
  return roundMoney(dollars / tokensPerPrice);
}
