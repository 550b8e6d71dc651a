import { applyEvent, emptyHistory, foldHistory, type History } from "../../src/log/log.ts";
import type { LogEvent, NewEvent } from "../../src/protocol/events.ts";
import type { ToolCall } from "../../src/protocol/message.ts";

/** What a user said, the results of each step, and the answer; without one the turn goes on. */
export type Turn = {
  readonly said: string;
  readonly images?: number;
  readonly steps: readonly (readonly string[])[];
  readonly answer?: string;
};

export type Talk = {
  readonly history: History;
  say(...turns: readonly Turn[]): void;
  /** An answer that calls these tools and has no results yet. */
  ask(tools: readonly string[], input?: object): void;
  add(...events: readonly NewEvent[]): void;
  compact(compacted: Omit<NewEvent & { type: "compacted" }, "type" | "turn">): void;
  /** The same log, folded from its beginning. */
  foldedAnew(): History;
};

/** A conversation as its log has it, without anything that runs. */
export function talkOf(turns: readonly Turn[], { system = "You are an agent." } = {}): Talk {
  const events: LogEvent[] = [];
  const history = emptyHistory();
  let number = 0;
  const add = (...more: readonly NewEvent[]) => {
    for (const event of more) {
      const numbered = { ...event, seq: events.length + 1, at: 0 };
      events.push(numbered);
      applyEvent(history, numbered);
    }
  };
  add({ type: "recipe.set", cause: "start", system, tools: "[]", startedAt: 0 });
  const stepAt = (step: number) =>
    ({
      type: "step.started",
      turn: number,
      step,
      attempt: 1,
      slot: "base",
      model: "m",
      reason: "r",
      ...bytes,
    }) as const;
  const answerAt = (step: number, text: string, calls: readonly ToolCall[]): NewEvent => ({
    type: "message.assistant",
    ...{ turn: number, step, text, calls: [...calls], usage: { input: 1, output: 1 }, durationMs: 1 },
    ...({ finish: "stop", usageEstimated: true } as const),
  });
  const talk: Talk = {
    history,
    add,
    say(...said) {
      for (const turn of said) {
        number += 1;
        const id = `m${number}`;
        const images = Array.from({ length: turn.images ?? 0 }, () => ({ mime: "image/png", base64: "AA==" }));
        add(
          { type: "message.user", id, text: turn.said, mode: "queue", ...(images.length > 0 && { images }) },
          { type: "turn.started", turn: number, message: id, epoch: 1 },
        );
        for (const [step, results] of turn.steps.entries()) {
          const calls = results.map((_, index) => ({
            id: `c${number}-${step}-${index}`,
            name: "look",
            arguments: "{}",
          }));
          add(stepAt(step + 1), answerAt(step + 1, "", calls));
          // They finish in any order.
          const finished = results.map((text, index) => ({ text, call: calls[index]?.id ?? "" })).reverse();
          add(...finished.map((end) => ({ type: "call.finished", outcome: "ok", ...end }) as const));
        }
        if (turn.answer === undefined) continue;
        const last = turn.steps.length + 1;
        add(stepAt(last), answerAt(last, turn.answer, []), { type: "turn.finished", turn: number, outcome: "done" });
      }
      history.counted = undefined; // The estimate counts here, not what a server said.
    },
    ask(tools, input = {}) {
      const written = JSON.stringify(input);
      const calls = tools.map((name, index) => ({ id: `ask-${number}-${index}`, name, arguments: written }));
      add(stepAt(1), answerAt(1, "", calls));
      history.counted = undefined;
    },
    compact: (compacted) => add({ type: "compacted", turn: number, ...compacted }),
    foldedAnew: () => ({ ...foldHistory(events), counted: history.counted }),
  };
  talk.say(...turns);
  return talk;
}

const bytes = { hash: "", bytes: 0, reused: 0 };
