import type { LogEvent } from "../../../src/protocol/events.ts";
import { localOwner } from "../../../src/protocol/ids.ts";
import { all } from "../../world/events.ts";
import { type Answer, type AskedRequest, calls, says, stepOf } from "../../world/model-server.ts";
import { filesOf, puts, roughTools } from "../../world/undo.ts";
import { must, type TestYard } from "../../world/yard.ts";
import { begin, count, type Scenario, say, told, under, unlessDone } from "../scenario.ts";

const id = "back";

/** A summary is of no use and paid for; then room is made, undone, and so is the last turn with the file that it wrote. */
export const roomAndUndo = {
  answer: (request) => (isSummary(request) ? summaryFor(request) : { usage: null, ...writesAsTold(request, 5) }),
  env: { CONTEXT_KEEP_RECENT_MESSAGES: "2" },
  tools: () => roughTools,
  async play(yard) {
    const params = { id };
    await begin(yard, id);
    await say(yard, { id, text: "one", turns: 1 });
    await say(yard, { id, text: "two", turns: 2 });
    // It makes nothing that a repeat could find: whoever asks once more pays once more, and that is noted, too.
    await unlessDone(yard, { id, shows: ({ type }) => type === "usage.noted" }, () =>
      must(yard.client.call("compactConversation", { params, body: { focus: useless } })),
    );
    await must(under(yard, "room").call("compactConversation", { params, body: { strategy: "compact" } }));
    await unlessDone(yard, { id, shows: ({ type }) => type === "compaction.undone" }, () =>
      must(yard.client.call("undoCompaction", { params })),
    );
    await unlessDone(yard, { id, shows: wentBack }, () => must(yard.client.call("undoTurn", { params })));
    await say(yard, { id, text: "end", turns: 3 });
  },
  outcome: async (yard) => ({
    ...(await told(yard, id)),
    made: await Promise.all(
      (["compacted", "compaction.undone", "rewound"] as const).map((type) => count(yard, id, type)),
    ),
    noted: all(await yard.events(id), "usage.noted").map(({ usage }) => [usage.input, usage.output]),
    files: filesOf(yard, id),
    differences: await differences(yard),
  }),
} satisfies Scenario;

/** A place is kept, a branch made from it; then back to it, everything forgotten, and the branch deleted. */
export const branchAndDelete = {
  answer: (request) => writesAsTold(request),
  tools: () => roughTools,
  async play(yard) {
    const params = { id };
    await begin(yard, id);
    await say(yard, { id, text: "one", turns: 1 });
    const place = await must(under(yard, "place").call("saveCheckpoint", { params, body: { name: "here" } }));
    await say(yard, { id, text: "two", turns: 2 });
    const at = place.checkpoint;
    const branch = await must(under(yard, "branch").call("branchConversation", { params, body: { at } }));
    await unlessDone(yard, { id, shows: wentBack }, () =>
      must(yard.client.call("restoreCheckpoint", { params: { id, checkpoint: at } })),
    );
    if ((await yard.events(branch.id)).length > 0) await say(yard, { id: branch.id, text: "three", turns: 2 });
    await unlessDone(yard, { id, shows: forgot }, () => must(yard.client.call("resetConversation", { params })));
    await say(yard, { id, text: "end", turns: 3 });
    // Gone already is as good.
    await yard.client.call("deleteConversation", { params: { id: branch.id } });
  },
  outcome: async (yard) => ({
    ...(await told(yard, id)),
    conversations: (await must(yard.client.call("listConversations", {}))).items.map((item) => item.id),
    made: await Promise.all((["checkpoint.saved", "rewound"] as const).map((type) => count(yard, id, type))),
    files: filesOf(yard, id),
    differences: await differences(yard),
  }),
} satisfies Scenario;

const wentBack = (event: LogEvent) => event.type === "rewound" && event.cause !== "reset";
const forgot = (event: LogEvent) => event.type === "rewound" && event.cause === "reset";

const summary = Array.from({ length: 7 }, (_, n) => `## ${n + 1}. Part\n- tea`).join("\n");
const useless = "what nobody can sum up";
const isSummary = ({ body }: AskedRequest) => String(body.messages[0]?.content).startsWith("You sum up");

function summaryFor({ text }: AskedRequest): Answer {
  if (text.includes(useless)) return { text: "", usage: { prompt_tokens: 700, completion_tokens: 10 } };
  return { usage: null, ...says(summary) };
}

/** The first word of what was asked goes into files, but for the last one. */
function writesAsTold(request: AskedRequest, files = 1): Answer {
  const asked = String(request.body.messages.findLast(({ role }) => role === "user")?.content ?? "");
  const [word = ""] = asked.split(/\s/);
  if (word !== "end" && stepOf(request) === 0) {
    const paths = Array.from({ length: files }, (_, n) => `outputs/${n}.txt`);
    return calls(...paths.map((path) => puts(path, word)));
  }
  return says(`${word} done`);
}

/** Whether the log still gives exactly the requests that were sent. */
async function differences(yard: TestYard): Promise<unknown> {
  const found = await yard.log.find(localOwner, id);
  return found.ok ? (await yard.engine.replay(found.value)).differences : found.failure.code;
}
