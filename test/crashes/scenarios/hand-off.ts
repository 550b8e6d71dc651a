import { all } from "../../world/events.ts";
import { type Answer, type AskedRequest, calls, says } from "../../world/model-server.ts";
import { begin, type Scenario, say, told } from "../scenario.ts";

const id = "handed";

/** The user is handed over to another agent, which works and answers; in the next turn the main agent is back. */
export const handOff = {
  answer: scriptedAnswer,
  async play(yard) {
    await begin(yard, id);
    await say(yard, { id, text: "let Simple do it", turns: 1 });
    await say(yard, { id, text: "and you?", turns: 2 });
  },
  async outcome(yard) {
    const events = await yard.events(id);
    const spawned = all(events, "agent.spawned");
    return {
      ...(await told(yard, id)),
      recipes: all(events, "recipe.set").map(({ cause, role }) => [cause, role]),
      spawned: spawned.map(({ role, brief }) => [role, brief]),
      ended: all(events, "agent.ended").map(({ id, outcome }) => [spawned.findIndex((one) => one.id === id), outcome]),
    };
  },
} satisfies Scenario;

function scriptedAnswer({ body }: AskedRequest): Answer {
  const system = String(body.messages[0]?.content);
  const isSimple = system.startsWith("You are the quick helper");
  const answers = body.messages.filter(({ role }) => role === "assistant").length;
  if (answers === 0) return calls(["transfer_to_simple", { task: "Look at the clock." }]);
  if (answers === 1) return calls(["list_files", {}]);
  return says(isSimple ? "Simple has looked." : "The main agent is back.");
}
