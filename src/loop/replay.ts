import { ownPartsOf, requestOf } from "../context/context.ts";
import { applyToTree, emptyHistory, type History, type Tree } from "../log/log.ts";
import type { EventOf, LogEvent } from "../protocol/events.ts";
import type { ReplayReport } from "../protocol/resources.ts";
import type { ConversationRow } from "../storage/storage.ts";
import { recipeNow } from "./agent-tools.ts";
import type { Parts } from "./parts.ts";
import { type Next, nextOf } from "./turn.ts";

/**
 * Runs a stored conversation against its recorded answers: at each recorded step this version must be about to take a
 * step and send the very same bytes. No model is called and no tool is run.
 */
export async function replayConversation(parts: Parts, conversation: ConversationRow): Promise<ReplayReport> {
  const events = await parts.log.effective(conversation.number, Number.MAX_SAFE_INTEGER);
  let tree: Tree = { root: emptyHistory(), agents: new Map() };
  const differences: ReplayReport["differences"] = [];
  const report = { turns: 0, steps: 0, differences };
  for (const event of events) {
    const history = () => whose(tree, event);
    const expected = expectedMoves(event);
    const next = nextOf(history(), parts, conversation.owner);
    if (expected !== undefined && !expected.includes(next))
      differences.push({ seq: event.seq, what: "move", recorded: event.type, now: next });
    if (event.type === "recipe.set") compareRecipe(parts, conversation, history(), event, differences);
    // Sent again from here on; until here it was left out.
    if (event.type === "compaction.undone") tree = await parts.log.tree(conversation.number, event.seq);
    else applyToTree(tree, event);
    if (event.type === "turn.started") report.turns += 1;
    if (event.type === "step.started") {
      report.steps += 1;
      compareRequest(parts, conversation, history(), event, differences);
    }
  }
  return report;
}

/** The history of the agent that an event is of. */
function whose({ root, agents }: Tree, event: LogEvent): History {
  const agent = "agent" in event ? event.agent : undefined;
  return (agent === undefined ? undefined : agents.get(agent)) ?? root;
}

/** From which moves an event can come; undefined where people or chance decide. */
function expectedMoves(event: LogEvent): readonly Next[] | undefined {
  switch (event.type) {
    case "turn.started":
      return ["start"];
    case "step.started":
      return [event.final === true ? "finalize" : "step", "compact"];
    case "compaction.started":
      return ["compact"];
    case "compacted":
      return event.by === "tool" || event.by === "person" ? undefined : ["compact"];
    case "call.started":
    case "decision.asked":
      return ["tools"];
    default:
      return undefined;
  }
}

function compareRecipe(
  parts: Parts,
  { owner }: ConversationRow,
  history: History,
  recorded: EventOf<"recipe.set">,
  differences: ReplayReport["differences"],
): void {
  const ours = recipeNow(history, parts, { at: recorded.startedAt, own: ownPartsOf(recorded), owner });
  if (ours?.type !== "recipe.set") return;
  if (ours.system !== recorded.system)
    differences.push({ seq: recorded.seq, what: "prompt", recorded: recorded.system, now: ours.system });
  if (ours.tools !== recorded.tools)
    differences.push({ seq: recorded.seq, what: "tools", recorded: recorded.tools, now: ours.tools });
}

function compareRequest(
  parts: Parts,
  { id, owner }: ConversationRow,
  history: History,
  recorded: EventOf<"step.started">,
  differences: ReplayReport["differences"],
): void {
  const model = parts.models.get(recorded.slot);
  if (model.id !== recorded.model) {
    differences.push({ seq: recorded.seq, what: "model", recorded: recorded.model, now: model.id });
    return;
  }
  const { hash, length } = model.prepare({ ...requestOf(history), cacheKey: `replay of ${id}`, owner }).bytes;
  if (hash !== recorded.hash)
    differences.push({
      ...{ seq: recorded.seq, what: "bytes" },
      ...{ recorded: `${recorded.bytes} (${recorded.hash})`, now: `${length} (${hash})` },
    });
}
