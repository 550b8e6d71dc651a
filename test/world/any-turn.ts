import type { EventOf, LogEvent, NewEvent } from "../../src/protocol/events.ts";
import { peopleMoves, turnMoves, write } from "./any-log.ts";

/** One thing that happens in a turn: a fact, or a piece of the running answer. */
export type Play =
  | { readonly play: "fact"; readonly event: LogEvent }
  | { readonly play: "piece"; readonly step: number; readonly kind: "text" | "reasoning"; readonly text: string };

const start = 1_700_000_000_000;
export const messageEvent = {
  ...{ type: "message.user", id: "m", text: "what is in it?", mode: "queue", reply: "a", run: "r" },
  ...{ seq: 1, at: start },
} as const satisfies EventOf<"message.user">;

/** What each number may choose: texts of every kind, some of them long. */
const long = (text: string) => text.repeat(70_000);
const texts = [
  "",
  "so ",
  "the answer is ",
  "42",
  "天气 ",
  "😀",
  '"quoted" \\ ',
  "x".repeat(30),
  "\n",
  "长".repeat(25_000),
];
const results = ["noon", '{"rows":[1,2,{"a":null}]}', "[]", "not { json", long("y"), '{"a":', ""];
const argumentTexts = ['{"path":"a.csv","n":3}', "{}", "broken", `{"content":"${long("z")}","deep":{"a":[1]}}`];
const pick = <V>(list: readonly [V, ...V[]] | readonly V[], n: number): V => {
  const one = list[n % list.length];
  if (one === undefined) throw new Error("nothing to choose from");
  return one;
};

/** A turn that could be, to its end: each number chooses among what can happen next. */
export function anyTurn(chosen: readonly number[]): Play[] {
  const [decide] = peopleMoves.slice(2);
  if (decide === undefined) throw new Error("nobody decides");
  const first = write([2], { moves: peopleMoves.slice(0, 1) });
  const { events } = write([0, ...chosen], { after: first, moves: [...turnMoves.slice(0, 14), decide], isEnded: true });
  const plays: Play[] = [];
  let shown = "";
  for (const [index, event] of events.entries()) {
    const n = (chosen[index % Math.max(1, chosen.length)] ?? 0) + index;
    const told: NewEvent = index === 0 ? messageEvent : dressed(event, { n, shown, last: events[index - 1] });
    plays.push({ play: "fact", event: { ...told, seq: index + 1, at: start + index * 10 } });
    if (event.type !== "step.started") continue;
    shown = "";
    for (let left = n % 5; left > 0; left -= 1) {
      const [kind, text] = [(n + left) % 3 === 0 ? "reasoning" : "text", pick(texts, n + left)] as const;
      if (kind === "text") shown += text;
      if (text !== "") plays.push({ play: "piece", step: event.step, kind, text });
    }
  }
  return plays;
}

type Dress = { readonly n: number; readonly shown: string; readonly last: LogEvent | undefined };
const failure = { code: "model_network", params: { model: "m", server: "s", said: "gone" } } as const;

/** The same event with what the numbers choose for its texts. */
function dressed(event: LogEvent, { n, shown, last }: Dress): NewEvent {
  switch (event.type) {
    case "turn.started":
      return { ...event, message: "m" };
    case "step.failed": {
      const seen = shown.slice(0, n % 2 === 0 ? undefined : 3);
      return n % 5 === 0
        ? { type: "turn.recovered", turn: 1, epoch: 2 }
        : { ...event, failure, ...(seen !== "" && { textSeen: seen }) };
    }
    case "message.assistant": {
      // What is stored may go on, or be something else than what was shown.
      const text = pick([shown, `${shown}more`, `another ${shown}`], n);
      const calls = event.calls?.map((call, index) => ({ ...call, arguments: pick(argumentTexts, n + index) })) ?? [];
      const { calls: _, ...said } = event;
      return {
        ...said,
        text,
        ...(n % 2 === 0 && { firstTokenMs: 3, reasoning: "hm" }),
        ...(calls.length > 0 && { calls }),
      };
    }
    case "decision.asked":
      return n % 2 === 0
        ? { ...event, kind: "question", question: "which?", default: "a", required: true }
        : { ...event, reason: "it deletes" };
    case "decision.made": {
      const verdict = pick(["approve", "reject", "edit", "answer"] as const, n);
      return { ...event, verdict, ...(verdict === "edit" && { arguments: '{"path":"b.csv"}' }) };
    }
    case "call.finished":
      return { ...event, outcome: pick(["ok", "ok", "error", "rejected"] as const, n), text: pick(results, n) };
    case "turn.finished": {
      if (last?.type === "message.assistant" && last.calls?.length === 0) return { ...event, outcome: "done" };
      const outcome = pick(["cancelled", "failed", "crashed"] as const, n);
      return { ...event, outcome, ...(outcome !== "cancelled" && { failure }) };
    }
    default:
      return event;
  }
}
