import type { Client, ClientFailure } from "../../../src/client/client.ts";
import { handOverPins } from "./kept-pins.ts";
import { ConversationList } from "./list.ts";

/** Other clients change the list, too. */
const refreshMs = 5_000;

/** The list, as fresh as the page is looked at; tabs of one browser tell each other of changes. */
export function openList(client: () => Client, failed: (failure: ClientFailure) => void): ConversationList {
  const tabs = new BroadcastChannel("agentyard.list");
  const list = new ConversationList(client, { changed: () => tabs.postMessage("changed"), failed });
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
