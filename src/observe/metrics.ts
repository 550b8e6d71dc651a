import type { Counter, Gauge, Histogram, Registry } from "prom-client";
import { inBackground } from "../base/background.ts";
import type { Looked, Metrics } from "./counted.ts";
import type { Logger } from "./observe.ts";

type Library = typeof import("prom-client");

export type MetricsOptions = {
  readonly version: string;
  readonly logger: Pick<Logger, "error">;
};

/** Counts for Prometheus. The library is loaded here, so that a command that shows no metrics does not wait for it. */
export async function openMetrics({ version, logger }: MetricsOptions): Promise<Metrics> {
  const library = await import("prom-client");
  const registry = new library.Registry();
  // Event-loop lag, memory, processor time and open descriptors of this process.
  library.collectDefaultMetrics({ register: registry, prefix: "agentyard_" });
  new library.Gauge({
    ...{ name: "agentyard_info", help: "Always 1; the version is its label.", labelNames: ["version"] },
    registers: [registry],
  }).set({ version }, 1);
  let look: (() => Promise<Looked>) | undefined;
  const state = openState(library, registry);
  return {
    isOn: true,
    ...countTurns(library, registry),
    ...countWork(library, registry),
    ...countServer(library, registry),
    lookAt(fresh) {
      look = fresh;
    },
    async text() {
      // Where the state cannot be read, the counts are still worth something.
      const looked = look?.().then((found) => state.set(found));
      if (looked !== undefined) await inBackground(logger, "the state was not counted", looked);
      return registry.metrics();
    },
    close: () => registry.clear(),
  };
}

/** From a tool that answers at once to a model that thinks for minutes. */
const longSeconds = [0.01, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300, 600];
const requestSeconds = [0.001, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10, 60];
const commitSeconds = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1, 5];
/** People take minutes, hours or days. */
const decisionSeconds = [1, 5, 15, 60, 300, 900, 3600, 14_400, 86_400, 604_800];

type Parts = Pick<
  Metrics,
  "turnEnded" | "turnRecovered" | "modelCalled" | "firstPiece" | "toolCalled" | "decided" | "compacted"
>;

function countTurns(library: Library, registry: Registry): Pick<Parts, "turnEnded" | "turnRecovered" | "compacted"> {
  const { counter, histogram } = makers(library, registry);
  const turns = counter("agentyard_turns_total", "Turns that ended, by how.", ["outcome"]);
  const turnSeconds = histogram(
    "agentyard_turn_duration_seconds",
    "From the start of a turn to its end, waiting for people included.",
    ["outcome"],
    longSeconds,
  );
  const recovered = counter("agentyard_turns_recovered_total", "Turns that went on after a process had ended.", []);
  const compactions = counter("agentyard_compactions_total", "Times that older messages were summed up.", ["strategy"]);
  return {
    turnEnded({ outcome, ms }) {
      turns.inc({ outcome });
      if (ms !== undefined) turnSeconds.observe({ outcome }, ms / 1000);
    },
    turnRecovered: () => recovered.inc(),
    compacted: (strategy) => compactions.inc({ strategy }),
  };
}

function countWork(
  library: Library,
  registry: Registry,
): Pick<Parts, "modelCalled" | "firstPiece" | "toolCalled" | "decided"> {
  const { counter, histogram } = makers(library, registry);
  const steps = counter("agentyard_model_calls_total", "Calls of models (steps), by how they ended.", [
    ...["slot", "model", "outcome"],
  ]);
  const stepSeconds = histogram(
    "agentyard_model_call_duration_seconds",
    "From a request to a model to the end of its answer.",
    ["slot", "model"],
    longSeconds,
  );
  const firstSeconds = histogram(
    "agentyard_model_first_piece_seconds",
    "From a request to a model to the first piece of its answer.",
    ["slot", "model"],
    longSeconds,
  );
  const tokens = counter("agentyard_model_tokens_total", "Tokens, by kind: input, cached_input (of them), output.", [
    ...["slot", "model", "kind"],
  ]);
  const calls = counter("agentyard_tool_calls_total", "Calls of tools, by how they ended.", ["tool", "outcome"]);
  const callSeconds = histogram("agentyard_tool_call_duration_seconds", "How long tools take.", ["tool"], longSeconds);
  const decisions = counter("agentyard_decisions_total", "Decisions that were made.", ["kind", "verdict"]);
  const waited = histogram(
    "agentyard_decision_wait_seconds",
    "From a question to its answer, of those asked since this process began.",
    ["kind"],
    decisionSeconds,
  );
  return {
    modelCalled({ slot, model, outcome, ms, usage }) {
      steps.inc({ slot, model, outcome });
      stepSeconds.observe({ slot, model }, ms / 1000);
      if (usage === undefined) return;
      tokens.inc({ slot, model, kind: "input" }, usage.input);
      tokens.inc({ slot, model, kind: "output" }, usage.output);
      tokens.inc({ slot, model, kind: "cached_input" }, usage.cachedInput ?? 0);
    },
    firstPiece: ({ slot, model, ms }) => firstSeconds.observe({ slot, model }, ms / 1000),
    toolCalled({ tool, outcome, ms }) {
      calls.inc({ tool, outcome });
      if (ms !== undefined) callSeconds.observe({ tool }, ms / 1000);
    },
    decided({ kind, verdict, ms }) {
      decisions.inc({ kind, verdict });
      waited.observe({ kind }, ms / 1000);
    },
  };
}

function countServer(library: Library, registry: Registry): Pick<Metrics, "answered" | "streaming" | "committed"> {
  const { counter, histogram, gauge } = makers(library, registry);
  const requests = counter("agentyard_http_requests_total", "Requests, by route of the API.", [
    ...["route", "method", "status"],
  ]);
  const seconds = histogram(
    "agentyard_http_request_duration_seconds",
    "From a request to the beginning of its answer.",
    ["route", "method"],
    requestSeconds,
  );
  const streams = gauge("agentyard_http_streams_open", "Streams of events that callers follow right now.");
  const commits = histogram("agentyard_commit_duration_seconds", "Writing one transaction.", [], commitSeconds);
  return {
    answered({ route, method, status, ms }) {
      requests.inc({ route, method, status });
      seconds.observe({ route, method }, ms / 1000);
    },
    streaming() {
      streams.inc();
      let isOver = false;
      return () => {
        if (!isOver) streams.dec();
        isOver = true;
      };
    },
    committed: (ms) => commits.observe(ms / 1000),
  };
}

function openState(library: Library, registry: Registry) {
  const { gauge } = makers(library, registry);
  const sessions = gauge("agentyard_sandbox_sessions", "Sandbox sessions, by state.", ["state"]);
  const guests = gauge("agentyard_sandbox_guests", "Sandboxes that run on this machine.");
  const executions = gauge("agentyard_executions_open", "Programs that run or wait for their turn.", ["state"]);
  const conversations = gauge("agentyard_conversations", "Conversations of all users.");
  const open = gauge("agentyard_decisions_open", "Questions and approvals that nobody has answered yet.");
  return {
    set(looked: Looked) {
      // A state that nothing is in any more must not keep its last number.
      sessions.reset();
      for (const [state, count] of Object.entries(looked.sessions)) sessions.set({ state }, count);
      guests.set(looked.guests);
      executions.set({ state: "running" }, looked.executions.running);
      executions.set({ state: "waiting" }, looked.executions.waiting);
      conversations.set(looked.conversations);
      open.set(looked.decisionsOpen);
    },
  };
}

/** One of each kind, registered. */
function makers(library: Library, registry: Registry) {
  const registers = [registry];
  return {
    counter: (name: string, help: string, labelNames: string[]): Counter =>
      new library.Counter({ name, help, labelNames, registers }),
    gauge: (name: string, help: string, labelNames: string[] = []): Gauge =>
      new library.Gauge({ name, help, labelNames, registers }),
    histogram: (name: string, help: string, labelNames: string[], buckets: number[]): Histogram =>
      new library.Histogram({ name, help, labelNames, buckets, registers }),
  };
}
