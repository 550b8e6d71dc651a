import type { Log } from "../../log/log.ts";
import type { ConversationRow } from "../../storage/storage.ts";
import { type ChatPlace, chatPlaces } from "./message-numbers.ts";

/** A message of a person that counts, and what became of it. */
export type SaidMessage = ChatPlace & {
  readonly state: "queued" | "open" | "ended";
  /** The number of the turn that answers it. */
  readonly turn: number | undefined;
};

export type SaidMessages = {
  /** In the order they were said. */
  readonly all: readonly SaidMessage[];
  /** The one in whose turn a person was asked this. */
  readonly ofDecision: (decision: string) => SaidMessage | undefined;
  /** What was said to it. */
  readonly verdictOn: (decision: string) => string | undefined;
};

/** Those that are or will be answered, by the log as it counts now: what was rewound or withdrawn is not among them. */
export async function saidMessages(
  log: Pick<Log, "effective" | "headOf">,
  conversation: ConversationRow,
): Promise<SaidMessages> {
  const events = await log.effective(conversation.number, await log.headOf(conversation.number));
  const states = new Map<string, Pick<SaidMessage, "state" | "turn">>();
  const messageOfTurn = new Map<number, string>();
  const turnOfDecision = new Map<string, number>();
  const verdicts = new Map<string, string>();
  let open: number | undefined;
  for (const event of events) {
    // Other agents count turns of their own: what they ask is asked in the one that is open.
    const asking = event.type === "decision.asked" && event.agent === undefined ? event.turn : open;
    if (event.type === "decision.asked" && asking !== undefined) turnOfDecision.set(event.id, asking);
    if (event.type === "decision.made") verdicts.set(event.id, event.verdict);
    if ("agent" in event && event.agent !== undefined) continue;
    if (event.type === "turn.started") {
      open = event.turn;
      messageOfTurn.set(event.turn, event.message);
      states.set(event.message, { state: "open", turn: event.turn });
    } else if (event.type === "turn.finished") {
      const message = messageOfTurn.get(event.turn);
      if (message !== undefined) states.set(message, { state: "ended", turn: event.turn });
    }
  }
  const all = chatPlaces(events, conversation)
    .filter(({ isAnswered }) => isAnswered)
    .map((place): SaidMessage => ({ ...place, ...(states.get(place.message.id) ?? queued) }));
  return {
    all,
    verdictOn: (decision) => verdicts.get(decision),
    ofDecision(decision) {
      const turn = turnOfDecision.get(decision);
      const id = turn === undefined ? undefined : messageOfTurn.get(turn);
      return all.find(({ message }) => message.id === id);
    },
  };
}

const queued = { state: "queued", turn: undefined } as const;

/** Of several under one name, which clients may use again: the one that runs, else the one that waits, else the newest. */
export function liveliest(places: readonly SaidMessage[]): SaidMessage | undefined {
  const first = (state: SaidMessage["state"]) => places.find((place) => place.state === state);
  return first("open") ?? first("queued") ?? places.at(-1);
}
