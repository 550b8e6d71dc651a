import type { FollowFrame } from "../../../src/client/client.ts";
import type { LogEvent } from "../../../src/protocol/events.ts";
import { createStore, type Store } from "../app/store.ts";

/** The answer that is being written. It bypasses the list of items: only its own part of the page is drawn again. */
export type Writing = { readonly key: string; readonly text: string; readonly reasoning: string };

export type LiveText = {
  /** What the main agent, or another one, is writing. */
  readonly writingOf: (agent?: string) => Store<Writing | undefined>;
  /** What the program of a running call has said so far. */
  readonly outputOf: (call: string, agent?: string) => Store<string>;
  readonly addText: (delta: Extract<FollowFrame, { frame: "delta" }>) => void;
  readonly addOutput: (output: Extract<FollowFrame, { frame: "output" }>) => void;
  readonly hear: (event: LogEvent) => void;
};

const outputCharactersMax = 20_000;

export function openLive(): LiveText {
  const writings = new Map<string, Store<Writing | undefined>>();
  const outputs = new Map<string, Store<string>>();
  /** What is to be shown in the next frame, by who writes it. */
  const next = new Map<string, Writing>();
  let isPlanned = false;

  /** As often as the screen is drawn, however fast it comes. A page that nobody sees draws nothing. */
  function showSoon(): void {
    if (isPlanned) return;
    isPlanned = true;
    const show = () => {
      isPlanned = false;
      for (const [who, newest] of next) {
        const shown = stepTowards(newest, writingOf(who).get());
        writingOf(who).set(shown);
        if (shown !== newest) showSoon();
      }
    };
    if (document.hidden) setTimeout(show, 100);
    else requestAnimationFrame(show);
  }

  function writingOf(agent = "root"): Store<Writing | undefined> {
    const known = writings.get(agent) ?? createStore<Writing | undefined>(undefined);
    writings.set(agent, known);
    return known;
  }

  /** Calls of several agents may have the same id. */
  function outputOf(call: string, agent = "root"): Store<string> {
    const key = `${agent}/${call}`;
    const known = outputs.get(key) ?? createStore("");
    outputs.set(key, known);
    return known;
  }

  return {
    writingOf,
    outputOf,
    addText({ agent = "root", turn, step, attempt, kind, text }) {
      const key = `${turn}/${step}/${attempt}`;
      const known = next.get(agent);
      const before = known?.key === key ? known : { key, text: "", reasoning: "" };
      next.set(agent, { ...before, [kind]: before[kind] + text });
      showSoon();
    },
    addOutput({ agent, call, text }) {
      const store = outputOf(call, agent);
      store.set((store.get() + text).slice(-outputCharactersMax));
    },
    hear(event) {
      const { agent = "root" } = "agent" in event ? event : {};
      if (event.type === "call.finished") outputs.delete(`${agent}/${event.call}`);
      const isOver = ["step.started", "message.assistant", "step.failed", "turn.finished"].includes(event.type);
      const who = event.type === "agent.ended" ? event.id : agent;
      if (!isOver && event.type !== "agent.ended") return;
      next.delete(who);
      // At once: the finished message takes its place in the same frame.
      writingOf(who).set(undefined);
    },
  };
}

/** More than this in one frame would hold the page up; nobody reads a screen of text in a sixtieth of a second. */
const frameCharacters = 1_000;

/** What is shown next on the way to the newest text. */
function stepTowards(newest: Writing, shown: Writing | undefined): Writing {
  const from = shown?.key === newest.key ? shown.text.length : 0;
  if (document.hidden || newest.text.length - from <= frameCharacters) return newest;
  return { ...newest, text: newest.text.slice(0, from + frameCharacters) };
}
