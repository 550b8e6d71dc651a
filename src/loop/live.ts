import type { LiveFrame } from "./loop.ts";

/** The text of answers that are being written, and what running programs say: kept while they run, never stored. */
export interface Live {
  begin(number: number, place: Place): void;
  add(number: number, kind: "text" | "reasoning", text: string): void;
  end(number: number): void;
  /** What a running program of this call says; only the end of it is kept. */
  say(number: number, call: string, text: string): void;
  endSaying(number: number, call: string): void;
  /** What the running answer and programs have said so far, then every further piece; the answer ends it. */
  listen(number: number, listener: (frame: LiveFrame) => void): () => void;
}

type Place = { readonly turn: number; readonly step: number; readonly attempt: number };
type Running = { readonly place: Place; text: string; reasoning: string };
type Said = { readonly offset: number; readonly text: string };

/** So much of what a program says is kept for whoever comes later: enough for a screen. */
const saidCharactersMax = 4_000;

export function openLive(): Live {
  const running = new Map<number, Running>();
  const said = new Map<number, Map<string, Said>>();
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
    say(number, call, text) {
      const calls = said.get(number) ?? new Map<string, Said>();
      said.set(number, calls);
      const before = calls.get(call) ?? { offset: 0, text: "" };
      const all = before.text + text;
      const kept = all.slice(-saidCharactersMax);
      calls.set(call, { offset: before.offset + all.length - kept.length, text: kept });
      const offset = before.offset + before.text.length;
      for (const listener of listeners.get(number) ?? []) listener({ frame: "output", call, offset, text });
    },
    endSaying(number, call) {
      const calls = said.get(number);
      calls?.delete(call);
      if (calls?.size === 0) said.delete(number);
    },
    listen(number, listener) {
      const own = listeners.get(number) ?? new Set();
      listeners.set(number, own.add(listener));
      const answer = running.get(number);
      for (const kind of ["reasoning", "text"] as const) {
        if (answer?.[kind]) listener({ frame: "delta", ...answer.place, kind, offset: 0, text: answer[kind] });
      }
      for (const [call, piece] of said.get(number) ?? []) listener({ frame: "output", call, ...piece });
      return () => {
        own.delete(listener);
        if (own.size === 0 && listeners.get(number) === own) listeners.delete(number);
      };
    },
  };
}
