import type { Clock } from "../../base/clock.ts";
import type { Ids } from "../../base/ids.ts";
import { wordsFor } from "../../words/words.ts";
import { estimateTokens } from "../estimate.ts";
import { answerTo } from "./answer.ts";
import { readFacts } from "./facts.ts";
import type { WantedCall, World } from "./intent.ts";
import type { ChatRequest, Reply } from "./wire.ts";

export const demoModelId = "demo";

export type ReplyOptions = Omit<World, "words" | "notes"> & { readonly clock: Clock; readonly ids: Ids };

/** The whole answer to one request. The same request gives the same words; only the ids differ. */
export async function replyTo(chat: ChatRequest, { clock, ids, ...world }: ReplyOptions): Promise<Reply> {
  const facts = readFacts(chat);
  const { demo, models } = wordsFor(facts.language);
  const answer = await answerTo(facts, { ...world, words: demo, notes: models.notes });
  const calls = answer.calls.map((call) => ({ id: `call_${ids.hex(24)}`, ...written(call, facts.tools) }));
  return {
    id: `chatcmpl-${ids.hex(24)}`,
    model: demoModelId,
    createdAt: clock.now(),
    text: answer.text,
    calls,
    inputTokens: estimateTokens(JSON.stringify([chat.messages, chat.tools])),
    outputTokens: estimateTokens(answer.text + calls.map((call) => call.name + call.arguments).join("")),
  };
}

/** What it is not told of it calls as any model would. */
function written({ name, arguments: given }: WantedCall, tools: ReadonlySet<string>) {
  const inner = JSON.stringify(given);
  if (tools.has(name)) return { name, arguments: inner };
  return { name: "use_tool", arguments: JSON.stringify({ name, arguments: inner }) };
}
