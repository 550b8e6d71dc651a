import { derivedHex } from "../../base/ids.ts";
import { ok, type Result } from "../../base/result.ts";
import type { NewEvent } from "../../protocol/events.ts";
import { type Failure, failure } from "../../protocol/failure.ts";
import type { ToolAgents } from "../../tools/tools.ts";
import { forModels } from "../../words/words.ts";
import type { Workspace } from "../../workspace/workspace.ts";
import { roleOf } from "../agents.ts";
import { makeAgent } from "../make-agent.ts";
import type { Parts } from "../parts.ts";
import type { Run } from "../run.ts";
import type { Tenure } from "../tenure.ts";
import { closedCircle, wordsOf } from "./circle.ts";
import { handOver } from "./hand-over.ts";

type Place = {
  readonly call: string;
  /** What the caller works with; what is done to files there and in those of a new task is noted in the call's ledger. */
  readonly workspace: Workspace;
  readonly noting: (files: Workspace) => Workspace;
};

/** What dealing with them takes. */
type AgentParts = Pick<Parts, "agents" | "marks" | "limits" | "clock"> & {
  readonly workspaces: Pick<Parts["workspaces"], "assignTask" | "taskOf">;
};

/** The agents of a conversation, as a call of one of them deals with them. All of it is events that are stored with its result. */
export function toolAgents(run: Run, parts: AgentParts, { call, workspace, noting }: Place): ToolAgents {
  return {
    delegate({ task, loops, role = roleNow(run, parts) }) {
      const spawned = makeAgent(run, parts, { mode: "worker", call, role, brief: task, loops });
      return spawned.ok ? ok({ text: "", events: [spawned.value], worker: spawned.value.id }) : spawned;
    },

    async spawn({ role, name, brief, files = [] }) {
      const spawned = makeAgent(run, parts, { mode: "task", call, role, name, brief });
      if (!spawned.ok) return spawned;
      const { id: agent, name: called = agent } = spawned.value;
      const handed = run.agent === undefined ? await give(run, parts, { agent, files, workspace, noting }) : ok([]);
      if (!handed.ok) return handed;
      const text = forModels.agents.spawned({ name: called, id: agent, files: handed.value });
      return ok({ text, events: [spawned.value] });
    },

    send({ to, text, awaits }) {
      const found = find(run, to);
      if (!found.ok) return found;
      const { agent: from = "root", conversation, history } = run;
      const { turn = 0, step = 0 } = history.turn ?? {};
      const id = `mail-${derivedHex(12, conversation.id, from, String(turn), String(step), call)}`;
      const words = wordsOf(text);
      const circle = closedCircle(run, { id, to: found.value.id, words });
      if (circle !== undefined) return ok(circle);
      const sender = { name: history.self?.name ?? "root", id: from };
      const said = history.isTainted ? parts.marks.wrap(sender.name, text) : text;
      const mail: NewEvent = {
        ...{
          type: "agent.mailed",
          to: found.value.id,
          id,
          text: forModels.agents.mail({ ...sender, said, awaits }),
          words,
        },
        ...(awaits ? { awaits } : {}),
        ...(history.isTainted ? { untrusted: true } : {}),
      };
      return ok({ text: forModels.agents.sent(found.value.name, awaits), events: [mail] });
    },

    terminate({ agent }) {
      const found = find(run, agent);
      if (!found.ok) return found;
      const { id, name, path } = found.value;
      const self = run.agent ?? "root";
      if (id === self || !path.includes(self)) return failure("agent_not_yours", { name });
      return ok({
        text: forModels.agents.terminated(name),
        events: [{ type: "cancel.asked", agent: id, turn: 1, by: self }],
      });
    },
  };
}

function roleNow(run: Run, parts: AgentParts): string {
  return run.history.self?.role ?? roleOf(run.history, parts).id;
}

type Given = Omit<Place, "call"> & { readonly agent: string; readonly files: readonly string[] };

/** The workspace is there for the copies before the agent is; without any, it comes with the agent. */
async function give(
  { conversation }: Run,
  { workspaces }: AgentParts,
  { agent, files, workspace, noting }: Given,
): Promise<Result<readonly string[], Failure>> {
  if (files.length === 0) return ok([]);
  const assigned = await workspaces.assignTask(conversation, { agent, parent: "root" });
  if (!assigned.ok) return assigned;
  const task = await workspaces.taskOf(conversation, agent);
  return task.ok ? handOver(workspace, noting(task.value), files) : task;
}

type Found = { readonly id: string; readonly name: string; readonly path: readonly string[] };

/** By id or name, or `parent`. What belongs to another task is out of reach, and so are the user and one's own workers. */
function find(run: Run, wanted: string): Result<Found, Failure> {
  const { tenure, history } = run;
  const self = run.agent ?? "root";
  const name = wanted.trim();
  const parent = history.self?.parent;
  const id = name === "parent" ? (parent ?? name) : name;
  const found = living(tenure).find((other) => other.id === id || other.name === id);
  if (found === undefined) return failure(hasEnded(run, id) ? "agent_ended" : "agent_unknown", { name: shown(name) });
  const isNear = self === "root" || found.id === parent || found.path[1] === history.self?.path[1];
  if (found.id === self || !isNear) return failure("agent_out_of_reach", { name: shown(name) });
  return ok(found);
}

/** Whom one can write to at all. */
function* living({ runs }: Tenure): Generator<Found> {
  yield { id: "root", name: "root", path: ["root"] };
  for (const { history } of runs.values()) if (history.self?.mode === "task") yield history.self;
}

function hasEnded({ tenure }: Run, name: string): boolean {
  return [...tenure.runs.values()].some(({ history }) =>
    [...history.children.values()].some(({ spawned }) => spawned.id === name || spawned.name === name),
  );
}

const shownCharacters = 80;

function shown(name: string): string {
  return name.replaceAll(/\s+/g, " ").slice(0, shownCharacters);
}
