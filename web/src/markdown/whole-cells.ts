/** A short heading, a date, an hour, an amount: it is read as a whole, and no line ends within it. */
export function staysWhole(text: string, isHead: boolean): boolean {
  if (isHead) return text.length <= headCharactersMax;
  return text.length <= figureCharactersMax && (amount.test(text) || date.test(text));
}

const headCharactersMax = 24;
const figureCharactersMax = 40;
/** Digits, and what stands before, between and behind them: `≈ 12,480.00 €`, `2026-09-01 10:42`, `1 Sept. 2026`, `48 KB`. */
const amount = /^[-+−–~≈<>≤≥\p{Sc}\s]*\d[\d\s.,:/%‰°+−–\-\p{Sc}]*(?:\p{L}{1,10}\.?,?[\d\s.,:/+-]*)?$/u;
const date = /^(?:\d[\d\s:]*\p{Script=Han}\s*){1,6}$/u;
