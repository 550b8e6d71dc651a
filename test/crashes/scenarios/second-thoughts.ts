import assert from "node:assert/strict";
import { mkdirSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import type { LogEvent } from "../../../src/protocol/events.ts";
import { all } from "../../world/events.ts";
import { type Answer, type AskedRequest, calls, says, stepOf } from "../../world/model-server.ts";
import { skillText } from "../../world/skill-folder.ts";
import { filesOf, writes } from "../../world/undo.ts";
import { must, type TestYard } from "../../world/yard.ts";
import { type Scenario, say, told, under, unlessDone } from "../scenario.ts";

const id = "thoughts";
const later = { id: "m-later", text: "later", mode: "queue" } as const;
const besides = { id: "m-besides", text: "besides @brewing", mode: "steer" } as const;

/**
 * Somebody chats with an agent of theirs, whose model is too busy at first and then keeps a list and files; while it waits
 * for an answer they say something and withdraw it, and steer it with a skill; then the model is told of one more tool,
 * and the conversation gets a budget, a name, and a place in it that is given up again.
 */
export const secondThoughts = {
  answer: scriptedAnswer(),
  async play(yard) {
    const params = { id };
    const skill = join(yard.data, ".agents/skills/brewing");
    mkdirSync(skill, { recursive: true });
    writeFileSync(join(skill, "SKILL.md"), skillText("brewing"));
    await chat(yard);
    await say(yard, { id, text: "which", turns: 2 }, (event) => think(yard, event));
    await must(yard.client.call("loadTool", { params: { id, tool: "now" } }));
    await must(yard.client.call("setBudget", { params, body: { tokens: 1_000_000 } }));
    await unlessDone(yard, { id, shows: ({ type }) => type === "conversation.renamed" }, () =>
      must(yard.client.call("changeConversation", { params, body: { title: "Tea" } })),
    );
    const place = await must(under(yard, "place").call("saveCheckpoint", { params, body: { name: "here" } }));
    await unlessDone(yard, { id, shows: ({ type }) => type === "checkpoint.deleted" }, () =>
      must(yard.client.call("deleteCheckpoint", { params: { id, checkpoint: place.checkpoint } })),
    );
  },
  async outcome(yard) {
    const events = await yard.events(id);
    return {
      ...(await told(yard, id)),
      agent: all(events, "agent.chosen").map(({ agentId }) => agentId),
      todos: all(events, "todo.set")
        .at(-1)
        ?.todos.map(({ content }) => content),
      skills: all(events, "skill.linked").map(({ skill }) => skill),
      tools: all(events, "tool.loaded").map(({ tool }) => tool),
      withdrawn: all(events, "message.withdrawn").length,
      joined: all(events, "step.started").flatMap(({ joined = [] }) => joined),
      budgets: all(events, "budget.set").map(({ limits }) => limits),
      title: (await must(yard.client.call("getConversation", { params: { id } }))).title,
      places: (await must(yard.client.call("listCheckpoints", { params: { id } }))).items.map(({ name }) => name),
      files: filesOf(yard, id),
    };
  },
} satisfies Scenario;

/** The chat names its yard, for the model is busy once for each of them. */
async function chat(yard: TestYard): Promise<void> {
  const answer = await yard.fetch("http://localhost/api/agent-app/v1/app/tea/chat/completion", {
    method: "POST",
    headers: { "content-type": "application/json", "idempotency-key": "chat" },
    body: JSON.stringify({
      query: `first in ${basename(yard.data)}`,
      conversation_id: id,
      agent_id: "tea",
      stream: false,
    }),
  });
  assert.equal(answer.status, 200, await answer.text());
}

/** While the turn waits for an answer: each message has an id, and who repeats one says nothing new. */
async function think(yard: TestYard, event: LogEvent): Promise<void> {
  if (event.type !== "decision.asked") return;
  const params = { id };
  await must(yard.client.call("sendMessage", { params, body: later }));
  await unlessDone(yard, { id, shows: ({ type }) => type === "message.withdrawn" }, () =>
    must(yard.client.call("withdrawMessage", { params: { id, message: later.id } })),
  );
  await must(yard.client.call("sendMessage", { params, body: besides }));
  const body = { verdict: "answer" as const, answer: "that one" };
  await unlessDone(yard, { id, shows: ({ type }) => type === "decision.made" }, () =>
    must(yard.client.call("decide", { params: { id, decision: event.id }, body })),
  );
}

function scriptedAnswer(): (request: AskedRequest) => Answer {
  const refused = new Set<string>();
  return (request) => {
    const said = request.body.messages.filter(({ role }) => role === "user").map(({ content }) => String(content));
    const [first = ""] = said[0]?.split("\n") ?? [];
    if (!refused.has(first)) {
      refused.add(first);
      return { status: 503, headers: { "retry-after": "0" } };
    }
    if (said.some((text) => text.startsWith("besides"))) return says("second done");
    if (said.some((text) => text.startsWith("which"))) return calls(["ask_human", { question: "Which?" }]);
    const list = { todos: [{ content: "drink tea", status: "pending" }] };
    if (stepOf(request) === 0) return calls(["todo_write", list], writes("outputs/tea.txt", "tea"));
    return stepOf(request) === 1 ? calls(["read_file", { path: "outputs/tea.txt" }]) : says("first done");
  };
}
