import type { LiveFrame } from "./loop.ts";

/** The text of answers that are being written: kept while they run, never stored. */
export interface Live {
  begin(number: number, place: Place): void;
  add(number: number, kind: "text" | "reasoning", text: string): void;
  end(number: number): void;
  /** What the running answer has so far, then every further piece; the answer ends it. */
  listen(number: number, listener: (frame: LiveFrame) => void): () => void;
}

type Place = { readonly turn: number; readonly step: number; readonly attempt: number };
type Running = { readonly place: Place; text: string; reasoning: string };

export function openLive(): Live {
  const running = new Map<number, Running>();
  const listeners = new Map<number, Set<(frame: LiveFrame) => void>>();
  return {
    begin: (number, place) => void running.set(number, { place, text: "", reasoning: "" }),
    add(number, kind, text) {
      const answer = running.get(number);
      if (answer === undefined) return;
      const offset = answer[kind].length;
      answer[kind] += text;
      for (const listener of listeners.get(number) ?? [])
        listener({ frame: "delta", ...answer.place, kind, offset, text });
    },
    end: (number) => void running.delete(number),
    listen(number, listener) {
      const own = listeners.get(number) ?? new Set();
      listeners.set(number, own.add(listener));
      const answer = running.get(number);
      for (const kind of ["reasoning", "text"] as const) {
        if (answer?.[kind]) listener({ frame: "delta", ...answer.place, kind, offset: 0, text: answer[kind] });
      }
      return () => {
        own.delete(listener);
        if (own.size === 0 && listeners.get(number) === own) listeners.delete(number);
      };
    },
  };
}
