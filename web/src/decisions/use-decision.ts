import { type RefObject, useEffect, useRef, useState } from "react";
import type { Decision } from "../../../src/protocol/resources.ts";
import { useStore } from "../app/store.ts";
import { useYard } from "../app/yard.ts";
import type { Verdict } from "./inbox.ts";

/** Sends a verdict once; what the server says against it stays until the next try. */
export function useDeciding(decision: Decision) {
  const { inbox } = useYard();
  const [isSending, setSending] = useState(false);
  const [trouble, setTrouble] = useState("");
  const decide = async (verdict: Verdict) => {
    if (isSending) return;
    setSending(true);
    setTrouble("");
    const failure = await inbox.decide(decision, verdict);
    if (failure !== undefined) setTrouble(failure.detail);
    // What was decided stays locked until the stream shows it.
    if (failure !== undefined) setSending(false);
  };
  return { decide, isSending, trouble };
}

/** A key that was meant for something else must not decide what has just appeared. */
const deadMs = 300;

export type DecisionKeys = Readonly<Record<string, () => void>>;

/** Single letters act on the card that has the focus, else on the first one of the page; never while somebody types. */
export function useDecisionKeys(card: RefObject<HTMLElement | null>, keys: DecisionKeys): void {
  const { settings } = useYard();
  const { lacksKeys } = useStore(settings);
  const latest = useRef(keys);
  latest.current = keys;
  useEffect(() => {
    if (lacksKeys) return undefined;
    const shownAt = performance.now();
    const press = (event: KeyboardEvent) => {
      if (event.ctrlKey || event.metaKey || event.altKey || event.isComposing || event.defaultPrevented) return;
      const run = latest.current[event.key.toLowerCase()];
      if (run === undefined || isTyping(event.target) || performance.now() - shownAt < deadMs) return;
      if (activeCard() !== card.current) return;
      event.preventDefault();
      run();
    };
    document.addEventListener("keydown", press);
    return () => document.removeEventListener("keydown", press);
  }, [lacksKeys, card]);
}

function activeCard(): Element | null {
  return document.activeElement?.closest("[data-decision]") ?? document.querySelector("[data-decision]");
}

export function isTyping(target: EventTarget | null): boolean {
  return target instanceof HTMLElement && target.closest("input, textarea, select, [contenteditable], dialog") !== null;
}
