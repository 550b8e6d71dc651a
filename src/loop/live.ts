import type { LiveFrame } from "./loop.ts";

/** The text of answers that are being written, and what running programs say: kept while they run, never stored. */
export interface Live {
  begin(whose: Whose, place: Place): void;
  add(whose: Whose, kind: "text" | "reasoning", text: string): void;
  end(whose: Whose): void;
  /** What a running program of this call says; only the end of it is kept. */
  say(whose: Whose, call: string, text: string): void;
  endSaying(whose: Whose, call: string): void;
  /** What the running answer and programs have said so far, then every further piece; the answer ends it. */
  listen(number: number, listener: (frame: LiveFrame) => void): () => void;
}

/** An agent of a conversation; undefined is the main one. */
type Whose = { readonly number: number; readonly agent?: string | undefined };
type Place = { readonly turn: number; readonly step: number; readonly attempt: number };
type Running = { readonly place: Place & { readonly agent?: string }; text: string; reasoning: string };
type Said = { readonly agent?: string; readonly call: string; readonly offset: number; readonly text: string };

/** So much of what a program says is kept for whoever comes later: enough for a screen. */
const saidCharactersMax = 4_000;

export function openLive(): Live {
  const running = new Map<number, Map<string, Running>>();
  const said = new Map<number, Map<string, Said>>();
  const listeners = new Map<number, Set<(frame: LiveFrame) => void>>();
  return {
    begin({ number, agent }, place) {
      const answers = running.get(number) ?? new Map<string, Running>();
      running.set(number, answers);
      const whose = agent === undefined ? {} : { agent };
      answers.set(agent ?? "root", { place: { ...whose, ...place }, text: "", reasoning: "" });
    },
    add({ number, agent = "root" }, kind, text) {
      const answer = running.get(number)?.get(agent);
      if (answer === undefined) return;
      const offset = answer[kind].length;
      answer[kind] += text;
      for (const listener of listeners.get(number) ?? [])
        listener({ frame: "delta", ...answer.place, kind, offset, text });
    },
    end({ number, agent = "root" }) {
      const answers = running.get(number);
      answers?.delete(agent);
      if (answers?.size === 0) running.delete(number);
    },
    say({ number, agent }, call, text) {
      const calls = said.get(number) ?? new Map<string, Said>();
      said.set(number, calls);
      const of = { ...(agent === undefined ? {} : { agent }), call };
      const key = keyOf(agent, call);
      const before = calls.get(key) ?? { offset: 0, text: "" };
      const all = before.text + text;
      const kept = all.slice(-saidCharactersMax);
      calls.set(key, { ...of, offset: before.offset + all.length - kept.length, text: kept });
      const offset = before.offset + before.text.length;
      for (const listener of listeners.get(number) ?? []) listener({ frame: "output", ...of, offset, text });
    },
    endSaying({ number, agent }, call) {
      const calls = said.get(number);
      calls?.delete(keyOf(agent, call));
      if (calls?.size === 0) said.delete(number);
    },
    listen(number, listener) {
      const own = listeners.get(number) ?? new Set();
      listeners.set(number, own.add(listener));
      for (const answer of running.get(number)?.values() ?? []) {
        for (const kind of ["reasoning", "text"] as const) {
          if (answer[kind] !== "") listener({ frame: "delta", ...answer.place, kind, offset: 0, text: answer[kind] });
        }
      }
      for (const piece of said.get(number)?.values() ?? []) listener({ frame: "output", ...piece });
      return () => {
        own.delete(listener);
        if (own.size === 0 && listeners.get(number) === own) listeners.delete(number);
      };
    },
  };
}

/** Calls of two agents may have the same id. */
function keyOf(agent: string | undefined, call: string): string {
  return agent === undefined ? call : `${agent} ${call}`;
}
