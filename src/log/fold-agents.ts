import type { EventOf } from "../protocol/events.ts";
import { noteCircle, noteMail, noteWork } from "./fold-mail.ts";
import { callsNamed } from "./fold-turn.ts";
import { type AgentSelf, emptyHistory, type History, type QueuedMessage } from "./history-state.ts";

export function applyAgents(history: History, event: EventOf<"agent.spawned" | "agent.mailed" | "agent.ended">): void {
  switch (event.type) {
    case "agent.spawned":
      return addChild(history, event);
    case "agent.mailed":
      return takeMail(history, event);
    case "agent.ended":
      return endAgent(history, event);
  }
}

/**
 * What an agent begins with: what it is to do, and of its parent's what the user named and sent: tools, skills and files.
 * It has no messages and no list of steps yet. Where its parent has read text from outside, its words may carry some.
 */
export function beginAgent(parent: History, event: EventOf<"agent.spawned">): History {
  const self = selfOf(parent, event);
  const history = emptyHistory(self);
  history.head = event.seq;
  history.agent = { role: event.role };
  history.isTainted = parent.isTainted;
  if (event.budget !== undefined) history.budget.set = { limits: event.budget, by: "parent" };
  history.lastDecision = parent.lastDecision;
  for (const tool of parent.loadedTools) history.loadedTools.add(tool);
  if (self.mode === "task") history.loadedTools.add("send_message");
  for (const [path, guide] of parent.guides) history.guides.set(path, guide);
  for (const [model, tokens] of parent.windows) history.windows.set(model, tokens);
  // A task has files of its own.
  if (self.mode === "worker") inheritFiles(parent, history);
  const { seq, at, id, brief } = event;
  const { slot, hints } = parent.turn?.message ?? {};
  // What the agent is asked is kept when room is made, like words of a user. Addresses in it nobody has named by that: what
  // people said is looked up in the main agent's history (`loop/named-addresses.ts`).
  history.queue.push({
    ...{ type: "message.user", seq, at, agent: id, id: `${id}-brief`, text: brief, mode: "queue" },
    ...(slot === undefined ? {} : { slot }),
    ...(hints === undefined ? {} : { hints }),
  });
  return history;
}

function inheritFiles(parent: History, history: History): void {
  for (const [skill, link] of parent.skills) history.skills.set(skill, link);
  for (const [path, { uploaded }] of parent.deeds) if (uploaded !== undefined) history.deeds.set(path, { uploaded });
}

function selfOf(parent: History, event: EventOf<"agent.spawned">): AgentSelf {
  const { id, mode, brief, loops, context, budget, role, name, agent = "root" } = event;
  const path = [...(parent.self?.path ?? ["root"]), id];
  return { id, mode, brief, loops, context, budget, role, parent: agent, path, name: name ?? id };
}

function addChild(history: History, event: EventOf<"agent.spawned">): void {
  noteWork(history, event.seq);
  if (event.mode === "handoff") return;
  const child = { spawned: event, ended: undefined };
  history.children.set(event.id, child);
  if (event.mode !== "worker" || event.call === undefined) return;
  for (const call of callsNamed(history, event.call)) call.worker = child;
}

/** Mail waits like a message of the user that steers: it joins at the next step. */
function takeMail(history: History, event: EventOf<"agent.mailed">): void {
  const { agent: from = "root", to, id, text, kind, awaits, untrusted, seq, at } = event;
  const self = history.self?.id ?? "root";
  noteMail(history, self, event);
  if (to !== self) {
    if (awaits) history.awaited.add(to);
    return;
  }
  history.awaited.delete(from);
  if (kind === "silence") history.awaited.clear();
  if (kind === "circle") noteCircle(history, event.failure);
  if (kind === "more") history.isAskedForMore = true;
  if (untrusted) history.isTainted = true;
  const message: QueuedMessage = {
    ...{ type: "message.user", seq, at, id, text, mode: "steer", from },
    ...(self === "root" ? {} : { agent: self }),
    own: 0, // Nobody but the user speaks as the user.
  };
  history.queue.push(message);
}

/** Of a child: its answer is there. Of the agent itself: nothing comes any more. */
function endAgent(history: History, event: EventOf<"agent.ended">): void {
  const child = history.children.get(event.id);
  if (child !== undefined) {
    child.ended ??= event;
    noteWork(history, event.seq);
  }
  history.awaited.delete(event.id);
  if (history.self?.id !== event.id) return;
  history.isOver = true;
  history.turn = undefined;
  history.queue.length = 0;
  history.decisions.clear();
}

/** The main agent's turn ends; any other agent ends with its turn. */
export function askToStop(history: History, event: EventOf<"cancel.asked">): void {
  const { turn } = history;
  if (history.self !== undefined) history.ending ??= { by: event.by };
  if (turn !== undefined && (turn.turn === event.turn || history.self !== undefined)) turn.cancelAsked = true;
}
