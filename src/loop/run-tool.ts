import type { Clock } from "../base/clock.ts";
import type { Result } from "../base/result.ts";
import { type CallState, type History, knownHash } from "../log/log.ts";
import { type CallOutcome, type EffectClass, eventBody, type NewEvent } from "../protocol/events.ts";
import { type Failure, failure, makeFailure } from "../protocol/failure.ts";
import {
  errorForModel,
  type OpenedCall,
  type Tool,
  type ToolContext,
  type Toolkit,
  type ToolOutput,
} from "../tools/tools.ts";
import { noWorkspace } from "../workspace/workspace.ts";
import { toolkitOf } from "./agent-tools.ts";
import { toolAgents } from "./agents/tool-agents.ts";
import { choiceOf } from "./agents.ts";
import { askInside } from "./ask-inside.ts";
import { type CallChanges, watchChanges } from "./call-changes.ts";
import { type CallLimit, startLimit } from "./call-limit.ts";
import { type CallPrograms, watchPrograms } from "./call-programs.ts";
import { placeOf } from "./guests.ts";
import { handOver } from "./hand-off.ts";
import { roomInTurn } from "./make-room.ts";
import { toolMemory } from "./memory.ts";
import type { Parts } from "./parts.ts";
import type { Run } from "./run.ts";
import { searchHistory } from "./search-history.ts";
import { installFor } from "./skill-packages.ts";
import { resultOf, toolBytesMax } from "./tool-result.ts";

export type Start = {
  readonly state: CallState;
  readonly tool: Tool;
  readonly opened: OpenedCall;
  readonly attempt: number;
};
export type Finished = { readonly call: string; readonly events: readonly NewEvent[] };

/** Runs one tool and answers the events that record its end. A tool is foreign code: whatever it does, the call ends. */
export async function runTool(run: Run, parts: Parts, start: Start): Promise<Finished> {
  const { call } = start.state;
  const stop = new AbortController();
  const changes = watchChanges(call.id, stop.signal);
  const whose = { number: run.conversation.number, agent: run.agent };
  const programs = watchPrograms(parts.sandbox, {
    ...{ call: call.id, stop: stop.signal, logger: parts.logger },
    show: ({ text }) => parts.live.say(whose, call.id, text),
  });
  try {
    const events = await runWithin(run, parts, { ...start, stop, changes, programs });
    for (const event of events) eventBody(event);
    return { call: call.id, events };
  } catch (error) {
    parts.logger.error(`tool ${start.tool.name} broke down`, { error });
    const crashed = settled(call.id, "error", makeFailure("tool_crashed", { tool: call.name }));
    return { call: call.id, events: [...changes.untold([]), ...programs.untold([]), crashed] };
  } finally {
    parts.live.endSaying(whose, call.id);
  }
}

/** What a crash in the middle of it may do. */
export function classOf({ tool, opened }: Pick<Start, "tool" | "opened">): EffectClass {
  return opened.class ?? tool.class;
}

type Running = Start & {
  readonly stop: AbortController;
  readonly changes: CallChanges;
  readonly programs: CallPrograms;
};

async function runWithin(run: Run, parts: Parts, start: Running): Promise<readonly NewEvent[]> {
  const { call } = start.state;
  const { tool, changes, programs } = start;
  const startedAt = parts.clock.monotonic();
  // The fence protects the log, not the world: a process that slept past its lease must not act on it any more.
  const isStale = classOf(start) === "unsafe" && !run.isLeaseFresh();
  const end = isStale
    ? failure("tool_not_run", { tool: tool.name, why: "the process was paused for too long", because: "paused" })
    : await raceLimits(run, parts, start);
  const durationMs = Math.round(parts.clock.monotonic() - startedAt);
  // The process ends in order: the call stays open in the log and its class decides at the next start.
  // What its programs did until then is told all the same: nobody would find out later.
  if (end === "closing") return programs.untold([]);
  if (!end.ok) {
    const outcome = end.failure.code === "tool_cancelled" ? "cancelled" : isStale ? "not_run" : "error";
    return [...changes.untold([]), ...programs.untold([]), { ...settled(call.id, outcome, end.failure), durationMs }];
  }
  const { isRefusal, reason, events = [], worker } = end.value;
  const told = [...events, ...changes.untold(events), ...programs.untold(events)];
  // What it waits for is an event of its own: that is the result.
  if (worker !== undefined) return told;
  const result: NewEvent = {
    type: "call.finished",
    call: call.id,
    outcome: isRefusal ? "error" : "ok",
    ...(reason === undefined ? {} : { failure: reason }),
    ...(await resultOf(run, parts, { call, tool, output: end.value })),
    durationMs,
  };
  return [...told, result];
}

/** The end of a call that gave no result of its own. */
export function settled(call: string, outcome: CallOutcome, reason: Failure): NewEvent & { type: "call.finished" } {
  return { type: "call.finished", call, outcome, text: errorForModel(reason), failure: reason };
}

/** The tool's own end, or the limit that comes first: its time, the user's stop, the end of the process. */
async function raceLimits(run: Run, parts: Parts, start: Running): Promise<Result<ToolOutput, Failure> | "closing"> {
  const { clock, limits } = parts;
  const { tool, opened, stop, changes, programs } = start;
  const timeoutMs = opened.timeoutMs ?? tool.timeoutMs ?? limits.toolTimeoutMs;
  const { signal: runSignal } = run;
  const { signal } = stop;
  const pass = () => stop.abort(runSignal.reason);
  const limit = startLimit(clock, timeoutMs, () => stop.abort("timeout"));
  const stopped = new Promise<"stopped">((resolve) => signal.addEventListener("abort", () => resolve("stopped")));
  runSignal.addEventListener("abort", pass);
  if (runSignal.aborted) pass();
  const ended = contextOf(run, parts, { ...start, limit })
    .then((context) => opened.run(context))
    .catch((error) => {
      parts.logger.error(`tool ${tool.name} threw`, { error });
      return failure("tool_crashed", { tool: tool.name });
    });

  const first = await Promise.race([ended, stopped]);
  // Told to stop: a tool that listens ends in a moment and may say what it has done.
  const last = first === "stopped" ? await Promise.race([ended, clock.wait(limits.stopGraceMs)]) : first;
  limit.end();
  runSignal.removeEventListener("abort", pass);
  await settleWithin(clock, [changes.settled(), programs.settled()]);
  if (first !== "stopped") return first;
  if (typeof last === "object" && last.ok) return last;
  if (signal.reason === "cancel") return failure("tool_cancelled", { tool: tool.name });
  if (signal.reason === "timeout") return failure("tool_timeout", { tool: tool.name, seconds: timeoutMs / 1000 });
  return "closing";
}

/** Longer than any disk takes for a change that was under way when its call ended, and any program to die. */
const changeMsMax = 10_000;

/** What was begun is waited for, so that the ledger has it. */
async function settleWithin(clock: Clock, begun: readonly Promise<void>[]): Promise<void> {
  const isDone = new AbortController();
  await Promise.race([Promise.all(begun), clock.wait(changeMsMax, isDone.signal)]);
  isDone.abort("over"); // With a reason: without one an error is made, with its stack.
}

async function contextOf(
  run: Run,
  parts: Parts,
  { state, tool, stop, changes, programs, limit }: Running & { readonly limit: CallLimit },
): Promise<ToolContext> {
  const { clock, ids, documents, web } = parts;
  const { signal } = stop;
  const { conversation, agent } = run;
  const { turn, todos } = run.history;
  const { call } = state;
  const workspace = await parts.workspaces.ofAgent(conversation, agent);
  const files = workspace.ok ? workspace.value : noWorkspace(conversation.id, workspace.failure);
  const key = `${conversation.id}/${agent === undefined ? "" : `${agent}/`}${turn?.turn}/${turn?.step}/${call.id}`;
  return {
    ...{ signal, clock, ids, documents, web, todos, agent, key },
    call: call.id,
    workspace: changes.over(files),
    // The files themselves: what a program does to them is found by looking.
    sandbox: programs.at(placeOf(conversation, files, agent)),
    // Looked up when it is asked for: calls that ran before this one may have changed it.
    knownHash: (path, wanted) => knownHash(run.history, { agent, path }, wanted),
    earlierCalls: () => answeredCalls(run.history, toolkitOf(run.history, parts, conversation.owner), tool),
    // Few tools ask for it, and to work it out the whole window is looked at.
    get outputBytesMax() {
      return toolBytesMax(run, parts, tool);
    },
    seesImages: turn !== undefined && choiceOf({ ...run.history, turn }, parts).slot === "vision",
    decision: state.decision?.made,
    // A server that is gone asks nobody any more.
    askForm: (form) =>
      limit.without(() =>
        askInside(run, parts, { call: call.id, tool, form, signal: AbortSignal.any([signal, limit.over]) }),
      ),
    show: (text) => parts.live.say({ number: conversation.number, agent }, call.id, text),
    handOver: (role, task) => handOver(run, parts, { call: call.id, role, task }),
    compact: (strategy) => roomInTurn(run, parts, { strategy, signal }),
    memory: toolMemory(parts, conversation, key),
    async furtherTools() {
      await parts.lookUpTools(conversation.owner, signal);
      return toolkitOf(run.history, parts, conversation.owner);
    },
    agents: toolAgents(run, parts, { call: call.id, workspace: files, noting: changes.over }),
    installPackages: (skill) => installFor(parts, conversation.owner, skill),
    searchHistory: (wanted) => searchHistory(parts, conversation, { ...wanted, signal }),
  };
}

/** Under whatever name the model called the tool, and through use_tool, too: messages have what it wrote. */
function answeredCalls({ messages, turn }: History, { meant }: Toolkit, tool: Tool): { readonly arguments: string }[] {
  const answered = new Set(messages.map((message) => (message.role === "tool" ? message.toolCallId : undefined)));
  const earlier = messages.flatMap((message) => (message.role === "assistant" ? (message.toolCalls ?? []) : []));
  // Results of one step come into the messages all at once.
  const ended = turn?.calls.filter(({ call, result }) => result !== undefined && !answered.has(call.id)) ?? [];
  const calls = [...earlier.filter(({ id }) => answered.has(id)).map(meant), ...ended.map(({ call }) => call)];
  return calls.filter(({ name }) => name === tool.name || tool.aliases.includes(name));
}
