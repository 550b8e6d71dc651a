import { derivedHex } from "../../base/ids.ts";
import type { History } from "../../log/log.ts";
import type { NewEvent } from "../../protocol/events.ts";
import { forModels } from "../../words/words.ts";
import { lastText } from "../last-text.ts";
import type { Run } from "../run.ts";

/** Whoever gave the work knows nothing of the steps: a shorter answer leaves out what it needs. */
const resultCharactersMin = 200;

/** Whether a worker's answer says too little; it is asked for more only once. */
export function isTooShort(history: History): boolean {
  if (history.self?.mode !== "worker" || history.isAskedForMore) return false;
  return lastText(history).trim().length < resultCharactersMin;
}

/** To itself: nobody else said it. */
export function askForMore({ agent = "root", conversation }: Run): NewEvent {
  const id = `mail-${derivedHex(12, conversation.id, agent, "more")}`;
  return { type: "agent.mailed", to: agent, id, text: forModels.agents.more, kind: "more" };
}
