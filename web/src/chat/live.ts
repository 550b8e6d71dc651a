import type { FollowFrame } from "../../../src/client/client.ts";
import type { LogEvent } from "../../../src/protocol/events.ts";
import { createStore, type Store } from "../app/store.ts";

/** The answer that is being written. It bypasses the list of items: only its own part of the page is drawn again. */
export type Writing = { readonly key: string; readonly text: string; readonly reasoning: string };

export type LiveText = {
  readonly writing: Store<Writing | undefined>;
  /** What the program of a running call has said so far. */
  readonly outputOf: (call: string) => Store<string>;
  readonly addText: (delta: Extract<FollowFrame, { frame: "delta" }>) => void;
  readonly addOutput: (output: Extract<FollowFrame, { frame: "output" }>) => void;
  readonly hear: (event: LogEvent) => void;
};

const outputCharactersMax = 20_000;

export function openLive(): LiveText {
  const writing = createStore<Writing | undefined>(undefined);
  const outputs = new Map<string, Store<string>>();
  let next: Writing | undefined;
  let isPlanned = false;

  /** As often as the screen is drawn, however fast it comes. A page that nobody sees draws nothing. */
  function showSoon(): void {
    if (isPlanned) return;
    isPlanned = true;
    const show = () => {
      isPlanned = false;
      writing.set(next);
    };
    if (document.hidden) setTimeout(show, 100);
    else requestAnimationFrame(show);
  }

  function outputOf(call: string): Store<string> {
    const known = outputs.get(call) ?? createStore("");
    outputs.set(call, known);
    return known;
  }

  return {
    writing,
    outputOf,
    addText({ agent, turn, step, attempt, kind, text }) {
      if (agent !== undefined) return; // Only the main agent talks with the user.
      const key = `${turn}/${step}/${attempt}`;
      const before = next?.key === key ? next : { key, text: "", reasoning: "" };
      next = { ...before, [kind]: before[kind] + text };
      showSoon();
    },
    addOutput({ agent, call, text }) {
      if (agent !== undefined) return;
      const store = outputOf(call);
      store.set((store.get() + text).slice(-outputCharactersMax));
    },
    hear(event) {
      if ("agent" in event && event.agent !== undefined) return;
      if (event.type === "call.finished") outputs.delete(event.call);
      const isOver = ["step.started", "message.assistant", "step.failed", "turn.finished"].includes(event.type);
      if (!isOver) return;
      next = undefined;
      // At once: the finished message takes its place in the same frame.
      writing.set(undefined);
    },
  };
}
