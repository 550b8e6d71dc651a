import { bouncingAnswer, bouncingOrder } from "../../world/bouncing.ts";
import { isRoots } from "../../world/company.ts";
import { all } from "../../world/events.ts";
import { begin, type Scenario, say } from "../scenario.ts";

const id = "circles";

/** An agent that says the same to its parent without end, and one that does its work. */
export const circles = {
  answer: bouncingAnswer("burst"),
  env: { AGENTYARD_CRASHES_MAX: "1000" },
  async play(yard) {
    await begin(yard, id);
    await say(yard, { id, text: bouncingOrder, turns: 1 });
  },
  async outcome(yard) {
    const events = await yard.events(id);
    const names = new Map(all(events, "agent.spawned").map((event) => [event.id, event.name ?? ""]));
    return {
      answer: all(events, "message.assistant").findLast(isRoots)?.text,
      turns: all(events, "turn.finished")
        .filter(isRoots)
        .map(({ outcome }) => outcome),
      ends: all(events, "agent.ended")
        .map(({ id, outcome, result }) => `${names.get(id)} ${outcome}: ${result}`)
        .toSorted(),
      mails: all(events, "agent.mailed")
        .map(({ agent = "root", to, kind = "message" }) => `${names.get(agent)} ${kind} ${names.get(to) ?? "root"}`)
        .toSorted(),
    };
  },
} satisfies Scenario;
