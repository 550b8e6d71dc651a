import { localOwner } from "../../../src/protocol/ids.ts";
import { all } from "../../world/events.ts";
import { says } from "../../world/model-server.ts";
import { begin, type Scenario, say, told } from "../scenario.ts";

const id = "long";
const summary = Array.from({ length: 7 }, (_, n) => `## ${n + 1}. Part\n- tea`).join("\n");

/** Somebody says so much that the window of the model is full: room is made in the middle of a turn, which then goes on. */
export const fullWindow = {
  answer: ({ body }) => {
    const isSummary = String(body.messages[0]?.content).startsWith("You sum up");
    return { ...says(isSummary ? summary : "I see."), usage: null };
  },
  env: { MODEL_BASIC_CONTEXT_WINDOW: "8192" },
  async play(yard) {
    await begin(yard, id);
    await say(yard, { id, text: "Always drink tea.", turns: 1 });
    for (const turns of [2, 3, 4]) await say(yard, { id, text: `part ${turns} ${"tell me more ".repeat(500)}`, turns });
  },
  async outcome(yard) {
    const events = await yard.events(id);
    const found = await yard.log.find(localOwner, id);
    return {
      ...(await told(yard, id)),
      compacted: all(events, "compacted").map(({ strategy, summary: text = "" }) => [
        strategy,
        /<user_words>\nAlways drink tea\.\n/.test(text),
      ]),
      differences: found.ok ? (await yard.engine.replay(found.value)).differences : found.failure.code,
    };
  },
} satisfies Scenario;
