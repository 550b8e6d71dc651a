import { truncateToWidth, visibleWidth } from "@earendil-works/pi-tui/dist/utils.js";
import type { Words } from "../../words/words.ts";
import type { Facts, WaitingMessage } from "../console.ts";
import { safeLine } from "../safe-text.ts";
import type { Style } from "../style.ts";

type Shown = { readonly words: Words; readonly style: Style };

/** What the person wants to know at any time, the most urgent first: what does not fit any more is the least of it. */
export function statusLine(facts: Facts | undefined, hint: string, width: number, { words, style }: Shown): string[] {
  const { rich } = words.terminal;
  if (facts === undefined) return [style.dim(truncateToWidth(`${rich.state.opening} · ${hint}`, width, ""))];
  const { tokens, decisions } = facts;
  const parts = [
    { text: rich.state[facts.state], paint: facts.state === "running" ? style.accent : style.dim },
    ...(decisions > 0 ? [{ text: rich.decisions({ count: decisions }), paint: style.attention }] : []),
    ...(tokens === undefined
      ? []
      : [{ text: rich.tokens(tokens), paint: tokens.isMuch ? style.attention : style.dim }]),
    { text: safeLine(facts.model, 40), paint: style.dim },
    { text: facts.conversation.slice(0, 8), paint: style.dim },
    { text: hint, paint: style.dim },
  ];
  const gap = " · ";
  let cells = 0;
  const fitting = parts.filter(({ text }) => {
    const wanted = visibleWidth(text) + (cells === 0 ? 0 : gap.length);
    if (text === "" || cells + wanted > width) return false;
    cells += wanted;
    return true;
  });
  return [fitting.map(({ text, paint }) => paint(text)).join(style.dim(gap))];
}

const waitingShownMax = 3;

/** What was sent and has not been read: the newest of it, and how it comes back. */
export function waitingLines(messages: readonly WaitingMessage[], width: number, { words, style }: Shown): string[] {
  const { rich } = words.terminal;
  if (messages.length === 0) return [];
  const lines = messages
    .slice(-waitingShownMax)
    .map(({ text, mode }) => `↳ ${rich.waits[mode]}: ${safeLine(text, 400)}`);
  const more = messages.length - waitingShownMax;
  const head = more > 0 ? [`↳ ${words.terminal.model.more({ count: more })}`] : [];
  return [...head, ...lines, `  ${rich.withdraw()}`].map((line) => style.dim(truncateToWidth(line, width, "…")));
}
