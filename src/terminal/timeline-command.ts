import type { Words } from "../words/words.ts";
import { type Chat, sayFailure } from "./chat-state.ts";
import { formatDuration } from "./format.ts";
import { alignColumns } from "./model-view.ts";
import { safeLine } from "./safe-text.ts";
import { readAll } from "./said-before.ts";
import { type Span, type Turn, turnsOf } from "./timeline.ts";

const spansShownMax = 200;

/** `/timeline [N]`: what took how long in the last turn, or in turn N. */
export async function timeline(chat: Chat, argument: string): Promise<undefined> {
  const { client, console, current, words } = chat;
  const { timeline: texts } = words.terminal.commands;
  await current.whenSent;
  if (!current.isStored) return void console.say(texts.nothing());
  const events = await readAll(client, current.id);
  if (!events.ok) return sayFailure(chat, events.failure);
  const turns = turnsOf(events.value);
  if (turns.length === 0) return void console.say(texts.nothing());
  const turn = argument === "" ? turns.at(-1) : turns.find((one) => String(one.turn) === argument);
  if (turn === undefined)
    return void console.say(texts.noTurn({ turn: safeLine(argument, 20), count: turns.at(-1)?.turn ?? 0 }));
  for (const line of timelineLines(turn, words, chat.clock.now())) console.say(line);
}

/** When each began, counted from the beginning of the turn, how long it took, and what it was. */
function timelineLines(turn: Turn, words: Words, now: number): string[] {
  const { timeline: texts } = words.terminal.commands;
  const { model } = words.terminal;
  const state = turn.outcome === undefined ? texts.running() : texts.outcome[turn.outcome];
  const duration = formatDuration((turn.endAt ?? now) - turn.at);
  const shown = turn.spans.slice(0, spansShownMax);
  const rows = shown.map((span) => [
    `+${formatDuration(span.at - turn.at)}`,
    span.ms === undefined ? "…" : formatDuration(span.ms),
    spanText(span, words),
  ]);
  const more = turn.spans.length - shown.length;
  return [
    texts.turn({ turn: turn.turn, duration, state }),
    ...alignColumns(rows),
    ...(more > 0 ? [`  … ${model.more({ count: more })}`] : []),
    `  ${texts.sum({ model: total(turn, "step"), tools: total(turn, "call"), waits: total(turn, "wait") })}`,
  ];
}

function spanText(span: Span, { terminal }: Words): string {
  const { timeline: texts } = terminal.commands;
  switch (span.kind) {
    case "step": {
      const step = texts.step({ step: span.step, model: safeLine(span.model, 40) });
      if (span.usage === undefined) return step;
      const { input, output, cachedInput } = span.usage;
      const count = (tokens: number) => tokens.toLocaleString("en-US");
      const cached = cachedInput === undefined ? undefined : count(cachedInput);
      return `${step}, ${texts.usage({ input: count(input), output: count(output), cached })}`;
    }
    case "failed":
      return texts.failed({ code: safeLine(span.code, 60) });
    case "call":
      return `  ${span.outcome === undefined ? "●" : span.outcome === "ok" ? "✓" : "✗"} ${safeLine(span.name, 64)}`;
    case "wait":
      return `  ? ${texts.waited()}: ${safeLine(span.tool, 64)}`;
    case "compaction":
      return `  ✂ ${texts.compacted()}`;
  }
}

/** A call that waited for a person worked less than it took. */
function total({ spans }: Turn, kind: Span["kind"]): string {
  const sum = (wanted: Span["kind"]) =>
    spans.filter((span) => span.kind === wanted).reduce((ms, span) => ms + (span.ms ?? 0), 0);
  return formatDuration(sum(kind));
}
