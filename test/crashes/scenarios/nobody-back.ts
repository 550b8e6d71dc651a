import { until } from "../../world/events.ts";
import { type Answer, type AskedRequest, calls, says } from "../../world/model-server.ts";
import { must } from "../../world/yard.ts";
import { begin, count, type Scenario, told, unlessDone } from "../scenario.ts";

const id = "waiting";
const questions = ["first", "second", "third"];

/** Somebody asks three things in one go and leaves: what has been taken is answered, though nobody says it again. */
export const nobodyBack = {
  answer: scriptedAnswer,
  async play(yard) {
    await begin(yard, id);
    for (const text of questions)
      await unlessDone(yard, { id, shows: (event) => event.type === "message.user" && event.id === text }, () =>
        must(yard.client.call("sendMessage", { params: { id }, body: { id: text, text, mode: "queue" } })),
      );
    await until("all three are answered", async () => (await count(yard, id, "turn.finished")) >= questions.length);
  },
  outcome: (yard) => told(yard, id),
} satisfies Scenario;

/** The first takes two steps, so that the others wait behind it. */
function scriptedAnswer({ body }: AskedRequest): Answer {
  const last = body.messages.at(-1);
  if (last?.role === "user" && String(last.content).startsWith("first")) return calls(["list_files", {}]);
  const asked = body.messages.findLast(({ role }) => role === "user");
  return says(`answer to ${String(asked?.content).split("\n")[0]}`);
}
