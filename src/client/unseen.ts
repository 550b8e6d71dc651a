import { isEventType, type LogEvent } from "../protocol/events.ts";
import type { StreamFrame } from "../protocol/resources.ts";
import type { CameFrame } from "./sse.ts";

export type UnseenFrame = EventFrame | Delta | Output | CaughtUp;
type EventFrame = { readonly frame: "event"; readonly event: LogEvent };
type Delta = Extract<StreamFrame, { frame: "delta" }>;
type Output = Extract<StreamFrame, { frame: "output" }>;
type CaughtUp = Extract<StreamFrame, { frame: "caught_up" }>;

type Unseen = {
  /** How far the reader has come, in the server's own words. */
  readonly cursor: () => string;
  /** What of this frame is new, if anything is. */
  readonly pass: (came: CameFrame) => UnseenFrame | undefined;
};

/** Lets through what earlier connections have not delivered: every event once, no text twice, one `caught_up`. */
export function onlyUnseen(after: number | string): Unseen {
  let cursor = String(after);
  let seq = Number.parseInt(cursor, 10);
  let isCaughtUp = false;
  /** By agent, the main one under `root`: which answer it writes, and how much of it was let through. */
  const answers = new Map<string, { attempt: string; text: number; reasoning: number }>();
  const said = new Map<string, number>();

  function passEvent({ event }: Extract<StreamFrame, { frame: "event" }>): EventFrame | undefined {
    if (event.seq <= seq) return undefined;
    seq = event.seq;
    if (event.type === "call.finished") said.clear();
    // Also where an attempt that died with its process is tried again under the same number.
    if (event.type === "step.started") answers.delete(typeof event.agent === "string" ? event.agent : "root");
    // A type that only a newer server knows is passed over.
    return isLogEvent(event) ? { frame: "event", event } : undefined;
  }

  function passDelta(delta: Delta): Delta | undefined {
    const attempt = `${delta.turn}/${delta.step}/${delta.attempt}`;
    const before = answers.get(delta.agent ?? "root");
    const shown = before?.attempt === attempt ? before : { attempt, text: 0, reasoning: 0 };
    answers.set(delta.agent ?? "root", shown);
    const known = Math.max(0, shown[delta.kind] - delta.offset);
    if (known >= delta.text.length) return undefined;
    shown[delta.kind] = delta.offset + delta.text.length;
    return { ...delta, offset: delta.offset + known, text: delta.text.slice(known) };
  }

  /** A part of what programs say may be missing, but nothing comes twice. */
  function passOutput(output: Output): Output | undefined {
    const key = `${output.agent ?? ""} ${output.call}`;
    const known = Math.max(0, (said.get(key) ?? 0) - output.offset);
    if (known >= output.text.length) return undefined;
    said.set(key, output.offset + output.text.length);
    return { ...output, offset: output.offset + known, text: output.text.slice(known) };
  }

  return {
    cursor: () => cursor,
    pass({ frame, id }) {
      cursor = id ?? cursor;
      switch (frame?.frame) {
        case "event":
          return passEvent(frame);
        case "delta":
          return passDelta(frame);
        case "output":
          return passOutput(frame);
        case "caught_up":
          if (isCaughtUp) return undefined;
          isCaughtUp = true;
          return frame;
        default:
          // What ends a connection is seen by its end.
          return undefined;
      }
    },
  };
}

/** The server checked the body in full before it was stored. */
function isLogEvent(event: { readonly type: string; readonly seq: number; readonly at: number }): event is LogEvent {
  return isEventType(event.type);
}
