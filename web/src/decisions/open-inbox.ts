import type { Client } from "../../../src/client/client.ts";
import { DecisionInbox } from "./inbox.ts";

/** Other clients, and agents in other conversations, ask and decide, too. */
const refreshMs = 4_000;

/** The inbox, also while nobody looks at the page, which then notifies; tabs of one browser tell each other of changes. */
export function openInbox(client: () => Client): DecisionInbox {
  const tabs = new BroadcastChannel("agentyard.decisions");
  const inbox = new DecisionInbox(client, () => tabs.postMessage("changed"));
  tabs.addEventListener("message", () => void inbox.load());
  setInterval(() => void inbox.load(), refreshMs);
  document.addEventListener("visibilitychange", () => {
    if (!document.hidden) void inbox.load();
  });
  void inbox.load();
  return inbox;
}
