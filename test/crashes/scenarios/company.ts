import { companyAnswer, isRoots, order, type Size, wholeCompany } from "../../world/company.ts";
import { all } from "../../world/events.ts";
import { filesOf } from "../../world/undo.ts";
import { must, type TestYard } from "../../world/yard.ts";
import { begin, type Scenario, say } from "../scenario.ts";

const id = "company";

/** Agents that give work to agents; a person answers what one of them asks. */
function companyOf(size: Size) {
  return {
    answer: companyAnswer(size),
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
}

export const company = companyOf(wholeCompany);
export const smallCompany = companyOf({ tasks: ["amber", "blue"], workers: [1, 2] });

/** Whoever does not know whether it was answered says it again. */
async function answer(yard: TestYard, decision: string): Promise<void> {
  const params = { id, decision };
  const said = await yard.client.call("decide", { params, body: { verdict: "answer", answer: "the second" } });
  if (!said.ok && said.failure.code !== "decision_already_made" && said.failure.code !== "decision_not_found")
    await must(Promise.resolve(said));
}
