import type { ClientFailure } from "../../../src/client/client.ts";
import { keep, readKeptJson } from "../app/kept.ts";
import type { ConversationList } from "./list.ts";

/** Once the browser kept for itself what is pinned. What the server does not take now is handed over next time. */
export async function handOverPins(list: ConversationList): Promise<void> {
  const kept = readKeptJson("pinned");
  if (!Array.isArray(kept) || list.view.get().phase !== "ready") return;
  const ids = kept.filter((id) => typeof id === "string");
  const answers = await Promise.all(ids.map((id) => list.pin(id, true)));
  // What is deleted is pinned no more.
  const isLeft = (failure: ClientFailure | undefined) =>
    failure !== undefined && failure.code !== "conversation_not_found";
  const left = ids.filter((_, at) => isLeft(answers[at]));
  keep("pinned", left.length === 0 ? undefined : JSON.stringify(left));
  keep("seen", undefined);
  await list.refresh();
}
