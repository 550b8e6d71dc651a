import type { EventOf, LogEvent } from "../protocol/events.ts";
import { linkOf } from "./decision-record.ts";
import { applyAgents, askToStop, beginAgent } from "./fold-agents.ts";
import { emptySpending, noteSpending } from "./fold-budget.ts";
import { compact } from "./fold-compaction.ts";
import { handBack, handOver } from "./fold-hand-off.ts";
import { moveMails, noteWork } from "./fold-mail.ts";
import {
  addAnswer,
  addBriefs,
  addCheckpoint,
  addDecision,
  failStep,
  finishCall,
  finishTurn,
  forgetCheckpoint,
  makeDecision,
  startCall,
  startStep,
  startTurn,
  takeFromQueue,
} from "./fold-turn.ts";
import { moveAside } from "./given-history.ts";
import { moveGuides, noteGuide } from "./guides.ts";
import {
  type AgentChosen,
  emptyHistory,
  type History,
  type LinkedSkill,
  type Recipe,
  type Tree,
} from "./history-state.ts";
import { moveKeepsakes, noteFile, noteRead } from "./keepsakes.ts";
import { moveShown, noteChanged, noteShown } from "./known.ts";
import { reaches, readersOf } from "./reaches.ts";

/**
 * The events that count: what lies between a `rewound` and its target is left out. Whose agent the conversation is stays,
 * however far one goes back.
 */
export function effectiveEvents(events: readonly LogEvent[]): LogEvent[] {
  const kept: LogEvent[] = [];
  for (const event of events) {
    if (event.type === "rewound") {
      const place = kept.findLastIndex(({ seq }) => seq <= event.to) + 1;
      kept.push(...kept.splice(place).filter(({ type }) => type === "agent.chosen"));
    }
    kept.push(event);
  }
  return kept;
}

/** Each name is that of the first caller who gave one; the role never changes. */
export function agentAfter(
  known: AgentChosen | undefined,
  { role, agentId, agentKey, appKey }: EventOf<"agent.chosen">,
): AgentChosen {
  const named = {
    role,
    ...(agentId === undefined ? {} : { agentId }),
    ...(agentKey === undefined ? {} : { agentKey }),
    ...(appKey === undefined ? {} : { appKey }),
  };
  return { ...named, ...known };
}

/** The main agent's history. */
export function foldHistory(events: readonly LogEvent[]): History {
  const history = emptyHistory();
  for (const event of countingEvents(events)) applyEvent(history, event);
  return withRewound(history, events);
}

/** The histories of all agents. One of them begins with what its parent had when it made it. */
export function foldTree(events: readonly LogEvent[]): Tree {
  const tree: Tree = { root: emptyHistory(), agents: new Map() };
  for (const event of countingEvents(events)) applyToTree(tree, event);
  withRewound(tree.root, events);
  for (const history of tree.agents.values()) history.lastDecision = tree.root.lastDecision;
  return tree;
}

/** Moves all histories on by one event. */
export function applyToTree({ root, agents }: Tree, event: LogEvent): void {
  for (const id of readersOf(event, agents.keys())) {
    const history = id === "root" ? root : agents.get(id);
    if (history !== undefined) applyEvent(history, event);
  }
  if (event.type !== "agent.spawned" || event.mode === "handoff") return;
  const parent = event.agent === undefined ? root : agents.get(event.agent);
  if (parent !== undefined) agents.set(event.id, beginAgent(parent, event));
}

/** A compaction that was undone has never been; the rest of the log stands as it is. */
function countingEvents(events: readonly LogEvent[]): LogEvent[] {
  const counting = effectiveEvents(events);
  const undone = new Set(counting.map((event) => (event.type === "compaction.undone" ? event.compacted : undefined)));
  return counting.filter((event) => event.type !== "compacted" || !undone.has(event.seq));
}

/** Rewound ones count as well: going back leaves what a person put there, and gives no money back. */
function withRewound(history: History, events: readonly LogEvent[]): History {
  history.guides.clear();
  history.budget = emptySpending();
  for (const event of events) {
    if (reaches(event, undefined)) noteSpending(history.budget, event);
    if (event.type === "turn.started" && event.agent === undefined)
      history.turnsEver = Math.max(history.turnsEver, event.turn);
    if (event.type === "decision.made") history.lastDecision = linkOf(event);
    if (event.type === "file.changed") noteGuide(history, event);
  }
  return history;
}

/** Moves the history on by one event. A way back needs the whole log again: see `foldHistory`. */
export function applyEvent(history: History, event: LogEvent): void {
  history.head = Math.max(history.head, event.seq);
  if (!reaches(event, history.self?.id)) return;
  noteSpending(history.budget, event);
  change(history, event);
}

function change(history: History, event: LogEvent): void {
  switch (event.type) {
    case "recipe.set":
      return void Object.assign(history, { recipe: recipeOf(event) });
    case "message.user":
      noteWork(history, event.seq);
      return void history.queue.push(event);
    case "message.withdrawn":
      return void takeFromQueue(history, event.id);
    case "turn.started":
      return startTurn(history, event);
    case "turn.recovered":
      if (history.turn) Object.assign(history.turn, { epoch: event.epoch, recoveries: history.turn.recoveries + 1 });
      return;
    case "cancel.asked":
      return askToStop(history, event);
    case "step.started":
      return startStep(history, event);
    case "message.assistant":
      return addAnswer(history, event);
    case "decision.asked":
      return addDecision(history, event);
    case "decision.made":
      return makeDecision(history, event);
    case "call.started":
      return startCall(history, event);
    case "call.finished":
      return finishCall(history, event);
    case "turn.finished":
      return finishTurn(history, event);
    case "compacted":
      return compact(history, event);
    case "agent.chosen":
      history.agent = agentAfter(history.agent, event);
      return;
    case "tool.loaded":
    case "skill.linked":
      return makeReady(history, event);
    case "checkpoint.saved":
    case "checkpoint.deleted":
      return changeCheckpoints(history, event);
    case "todo.set":
      history.todos = event.todos;
      return;
    case "file.known":
    case "file.changed":
      return noteFileEvent(history, event);
    case "step.failed":
      return failStep(history, event);
    case "agent.spawned":
    case "agent.mailed":
    case "agent.ended":
      return changeAgents(history, event);
    case "compaction.undone":
      history.counted = undefined; // What was counted since then was counted without what is sent again.
      return;
    case "usage.noted":
    case "budget.set": // See `noteSpending`.
    case "compaction.started":
    case "rewound":
    case "branched":
    case "conversation.renamed":
    case "conversation.deleted":
      return;
  }
}

function changeAgents(history: History, event: EventOf<"agent.spawned" | "agent.mailed" | "agent.ended">): void {
  applyAgents(history, event);
  if (event.type !== "agent.mailed") changeStack(history, event);
}

function changeStack(history: History, event: EventOf<"agent.spawned" | "agent.ended">): void {
  const { stack, turn } = history;
  if (event.type === "agent.ended") return handBack(stack, event);
  if (event.mode !== "handoff") return;
  handOver(stack, event);
  if (turn?.calls.length === 0) addBriefs(history, event.seq);
}

function changeCheckpoints(history: History, event: EventOf<"checkpoint.saved" | "checkpoint.deleted">): void {
  if (event.type === "checkpoint.saved") addCheckpoint(history, event.seq, event.name, event.at);
  else forgetCheckpoint(history, event.checkpoint);
}

function makeReady(history: History, event: EventOf<"tool.loaded" | "skill.linked">): void {
  if (event.type === "tool.loaded") history.loadedTools.add(event.tool);
  else if (!history.skills.has(event.skill)) history.skills.set(event.skill, linkOfSkill(event));
}

/** Events whose effect does not depend on their order among a running turn's own. */
const orderFree: ReadonlySet<LogEvent["type"]> = new Set([
  "message.user",
  "cancel.asked",
  "decision.made",
  "agent.chosen",
  "agent.mailed",
  "agent.ended",
  "tool.loaded",
  "budget.set",
  "conversation.renamed",
]);

function isOrderFree(event: LogEvent, self: string | undefined): boolean {
  if (event.type !== "file.changed") return orderFree.has(event.type);
  return event.by === "upload" || event.by === "person" || event.agent !== self;
}

/**
 * Takes in events of others that turned out to stand in the log between `after` and events already applied, `count` of
 * them in all, of which `events` reach this agent. False when their order matters: then the log must be folded anew.
 */
export function insertEvents(
  history: History,
  after: number,
  events: readonly LogEvent[],
  count = events.length,
): boolean {
  const self = history.self?.id;
  const isLate = (event: LogEvent) =>
    event.type === "decision.made" && event.agent === self && !history.decisions.has(event.id);
  if (!events.every((event) => isOrderFree(event, self) && !isLate(event))) return false;
  const moved = (seq: number) => (seq > after ? seq + count : seq);
  for (const [index, seq] of history.seqs.entries()) history.seqs[index] = moved(seq);
  for (const [index, { seq, parent, ...point }] of history.checkpoints.entries()) {
    history.checkpoints[index] = { ...point, seq: moved(seq), parent: parent === null ? null : moved(parent) };
  }
  for (const state of history.turn?.calls ?? []) {
    if (state.result !== undefined) state.result = { ...state.result, seq: moved(state.result.seq) };
  }
  moveShown(history, moved);
  moveKeepsakes(history, moved);
  moveGuides(history, moved);
  moveAside(history, moved);
  moveMails(history, moved);
  history.head += count;
  for (const event of events) applyEvent(history, event);
  return true;
}

function linkOfSkill({ turn, because, file }: EventOf<"skill.linked">): LinkedSkill {
  return { turn, because, ...(file === undefined ? {} : { file }) };
}

function noteFileEvent(history: History, event: EventOf<"file.known" | "file.changed">): void {
  if (event.type === "file.known") {
    noteRead(history, event);
    return noteShown(history, event);
  }
  noteFile(history, event);
  if (event.agent !== history.self?.id && event.by === "tool") return; // Another agent's: this one has not seen it.
  noteGuide(history, event);
  noteChanged(history, event);
}

function recipeOf(event: EventOf<"recipe.set">): Recipe {
  const { system, tools, startedAt, instructions, notes, role } = event;
  const systemMessage = { role: "system", text: system } as const;
  return { system, tools, startedAt, instructions, notes, role, systemMessage, descriptions: JSON.parse(tools) };
}
