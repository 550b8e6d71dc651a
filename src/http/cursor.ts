import type { LogEvent } from "../protocol/events.ts";
import type { StreamFrame } from "../protocol/resources.ts";
import { StreamCursor } from "../protocol/stream.ts";
import { type Attempt, type Attempts, attemptAfter, isSameAttempt, noteAttempt } from "./attempt.ts";
import { wholeCharacters } from "./whole-characters.ts";

/** What a reader has: the log up to a place, and of what is not in the log yet how many characters. */
export type Cursor = {
  readonly seq: number;
  readonly answer: OpenAnswer | undefined;
  /** By call: what its program said. */
  readonly outputs: ReadonlyMap<string, number>;
};

type OpenAnswer = Attempt & { readonly reasoning: number; readonly text: number };

/** Undefined for what is no cursor of ours. */
export function readCursor(text: string): Cursor | undefined {
  if (!StreamCursor.safeParse(text).success) return undefined;
  const [front = "", ...said] = text.split(",");
  const [seq = "0", at = ""] = front.split("~");
  const [, turn, step, attempt, reasoning, shown] = /^(\d+)\.(\d+)\.(\d+)\.(?:r(\d+))?(?:t(\d+))?$/.exec(at) ?? [];
  const place = { turn: Number(turn), step: Number(step), attempt: Number(attempt) };
  return {
    seq: Number(seq),
    answer: turn === undefined ? undefined : { ...place, reasoning: Number(reasoning ?? 0), text: Number(shown ?? 0) },
    outputs: new Map(said.map((one) => readOutput(one))),
  };
}

function readOutput(text: string): [call: string, characters: number] {
  const [call = "", characters] = text.split(":");
  try {
    return [decodeURIComponent(call), Number(characters)];
  } catch {
    return [call, Number(characters)]; // Nobody's call: nothing is left out for it.
  }
}

/** Calls whose programs speak at the same time; of more a reader who comes back may hear something twice. */
const outputsMax = 8;
const callCharactersMax = 200;

function cursorText({ seq, answer, outputs }: Cursor): string {
  const said = [...outputs]
    .map(([call, characters]) => [encodeURIComponent(call.toWellFormed()), characters] as const)
    .filter(([call]) => call.length <= callCharactersMax)
    .slice(-outputsMax);
  return [`${seq}${answer === undefined ? "" : answerText(answer)}`, ...said.map((one) => one.join(":"))].join(",");
}

function answerText({ turn, step, attempt, reasoning, text }: OpenAnswer): string {
  return `~${turn}.${step}.${attempt}.${reasoning > 0 ? `r${reasoning}` : ""}${text > 0 ? `t${text}` : ""}`;
}

/** A frame on its way out, under the cursor of a reader that has it. */
export type PlacedFrame = {
  readonly frame: StreamFrame["frame"];
  readonly body: StreamFrame;
  readonly id: string | undefined;
};

/** Where one reader is. */
export type StreamPlace = {
  readonly cursor: () => string;
  /** Which answer was being written at this place, by the main agent unless another is named. */
  readonly open: (agent?: string) => Attempt | undefined;
  /** What of a frame this reader lacks, in pieces that fit into one event each. */
  readonly pass: (body: OutgoingFrame) => PlacedFrame[];
};

type EventFrame = { readonly frame: "event"; readonly event: LogEvent };
type Delta = Extract<StreamFrame, { frame: "delta" }>;
type OutgoingFrame = EventFrame | Exclude<StreamFrame, { frame: "event" | "part" }>;

export function openPlace(start: Cursor, openAtStart: Attempt | undefined, others: Attempts = new Map()): StreamPlace {
  let { seq, answer } = start;
  let open: Attempt | undefined = answer ?? openAtStart;
  /** What the reader has of the answers of other agents: who comes back gets these from their beginning. */
  const heard = new Map<string, OpenAnswer>();
  const outputs = new Map(start.outputs);
  const cursor = () => cursorText({ seq, answer, outputs });
  const placed = (body: StreamFrame): PlacedFrame => ({ frame: body.frame, body, id: cursor() });

  function passEvent(body: EventFrame): PlacedFrame[] {
    const { event } = body;
    seq = event.seq;
    if (event.type === "call.finished") outputs.delete(saidBy(event));
    noteAttempt(others, event);
    const next = attemptAfter(open, event);
    // What was said in an attempt that ended, or died with its process, is of no use any more: the log tells.
    if (next === undefined || open === undefined || !isSameAttempt(next, open)) answer = undefined;
    open = next;
    return [placed(body)];
  }

  function passDelta(body: Delta): PlacedFrame[] {
    if (body.agent !== undefined)
      return piecesHeard(heard, body, body.agent).map((piece) => placed({ ...body, ...piece }));
    const { turn, step, attempt, kind } = body;
    const known = answer !== undefined && isSameAttempt(answer, body) ? answer : none;
    return lacking(body, known[kind]).map((piece) => {
      const { reasoning, text } = answer !== undefined && isSameAttempt(answer, body) ? answer : none;
      answer = { ...{ turn, step, attempt, reasoning, text }, [kind]: piece.offset + piece.text.length };
      return placed({ ...body, ...piece });
    });
  }

  function passOutput(body: Extract<StreamFrame, { frame: "output" }>): PlacedFrame[] {
    const key = saidBy(body);
    return lacking(body, outputs.get(key) ?? 0).map((piece) => {
      outputs.set(key, piece.offset + piece.text.length);
      return placed({ ...body, ...piece });
    });
  }

  return {
    cursor,
    open: (agent) => (agent === undefined ? open : others.get(agent)),
    pass(body) {
      switch (body.frame) {
        case "event":
          return passEvent(body);
        case "delta":
          return passDelta(body);
        case "output":
          return passOutput(body);
        case "caught_up":
          seq = Math.max(seq, body.head);
          return [placed(body)];
        case "ping":
          return [{ frame: "ping", body, id: undefined }];
        default:
          return [placed(body)];
      }
    },
  };
}

const none = { reasoning: 0, text: 0 };

/** Of the answer of another agent than the main one. */
function piecesHeard(heard: Map<string, OpenAnswer>, body: Delta, agent: string): Piece[] {
  const { turn, step, attempt, kind } = body;
  const before = heard.get(agent);
  const known = before !== undefined && isSameAttempt(before, body) ? before : none;
  const pieces = lacking(body, known[kind]);
  const last = pieces.at(-1);
  if (last !== undefined) heard.set(agent, { turn, step, attempt, ...known, [kind]: last.offset + last.text.length });
  return pieces;
}

/** Calls of two agents may have the same id. */
function saidBy({ agent, call }: { readonly agent?: string | undefined; readonly call: string }): string {
  return agent === undefined ? call : `${agent}/${call}`;
}

/** Each becomes at most six bytes: an event stays below its limit whatever is in it. */
const pieceCharactersMax = 10_000;

type Piece = { readonly offset: number; readonly text: string };

/** The rest of a text of which so many characters are known; no pair of surrogates is taken apart. */
function lacking({ offset, text }: Piece, known: number): Piece[] {
  const pieces: Piece[] = [];
  for (let at = Math.max(0, known - offset); at < text.length; ) {
    const to = wholeCharacters(text, at + pieceCharactersMax);
    pieces.push({ offset: offset + at, text: text.slice(at, to) });
    at = to;
  }
  return pieces;
}
