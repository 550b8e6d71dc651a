import { companyAnswer, isRoots, order } from "../world/company.ts";
import { all } from "../world/events.ts";
import { type Answer, type AskedRequest, calls, says } from "../world/model-server.ts";
import { filesOf } from "../world/undo.ts";
import { must, type TestYard } from "../world/yard.ts";
import { begin, type Scenario, say, told } from "./scenario.ts";

const id = "company";

/** Agents that give work to agents; a person answers what one of them asks. */
export const smallCompany = {
  answer: companyAnswer({ tasks: ["amber", "blue"], workers: [1, 2] }),
  // As often as it may be killed here: what is shown is that it goes on, and not when it is given up.
  env: { AGENTYARD_CRASHES_MAX: "1000" },
  async play(yard) {
    await begin(yard, id);
    await say(yard, { id, text: order, turns: 1 }, async (event) => {
      if (event.type === "decision.asked") await answer(yard, event.id);
    });
  },
  async outcome(yard) {
    const events = await yard.events(id);
    return {
      turns: all(events, "turn.finished")
        .filter(isRoots)
        .map(({ outcome }) => outcome),
      answer: all(events, "message.assistant").findLast(isRoots)?.text,
      ends: all(events, "agent.ended")
        .map(({ outcome }) => outcome)
        .toSorted(),
      made: new Set(all(events, "agent.spawned").map((event) => event.id)).size,
      mails: all(events, "agent.mailed")
        .map(({ kind = "message" }) => kind)
        .toSorted(),
      files: filesOf(yard, id),
    };
  },
} satisfies Scenario;

/** Whoever does not know whether it was answered says it again. */
async function answer(yard: TestYard, decision: string): Promise<void> {
  const params = { id, decision };
  const said = await yard.client.call("decide", { params, body: { verdict: "answer", answer: "the second" } });
  if (!said.ok && said.failure.code !== "decision_already_made" && said.failure.code !== "decision_not_found")
    await must(Promise.resolve(said));
}

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
