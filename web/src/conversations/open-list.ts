import type { Client } from "../../../src/client/client.ts";
import { keep, readKeptJson } from "../app/kept.ts";
import { ConversationList } from "./list.ts";

/** Other clients change the list, too. */
const refreshMs = 5_000;

/** The list, as fresh as the page is looked at; tabs of one browser tell each other of changes. */
export function openList(client: () => Client): ConversationList {
  const tabs = new BroadcastChannel("agentyard.list");
  const list = new ConversationList(client, () => tabs.postMessage("changed"));
  tabs.addEventListener("message", () => void list.load());
  const lookAgain = () => {
    if (!document.hidden) void list.load();
  };
  setInterval(lookAgain, refreshMs);
  document.addEventListener("visibilitychange", lookAgain);
  // Whoever closes the page does not undo it any more.
  addEventListener("pagehide", () => list.removeAllNow());
  void list.load().then(() => handOverPins(list));
  return list;
}

/** Once the browser kept for itself what is pinned. */
async function handOverPins(list: ConversationList): Promise<void> {
  const kept = readKeptJson("pinned");
  if (!Array.isArray(kept) || list.view.get().phase !== "ready") return;
  await Promise.all(kept.filter((id) => typeof id === "string").map((id) => list.pin(id, true)));
  keep("pinned", undefined);
  keep("seen", undefined);
  await list.refresh();
}
