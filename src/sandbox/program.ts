import type { Clock } from "../base/clock.ts";
import type { Logger } from "../observe/observe.ts";
import type { Measured, Observation, Workspace } from "../workspace/workspace.ts";
import type { WatchedProgram } from "./disk-watch.ts";
import type { Held } from "./guests.ts";
import type { LiveOutput } from "./live-output.ts";
import type { Execution, ExecutionEvent, Guest } from "./provider.ts";
import type { ProgramReport, RunningProgram, ShownOutput } from "./sandbox.ts";

export type ProgramOrder = {
  readonly guest: Guest;
  readonly held: Held;
  readonly execution: Execution;
  readonly workspace: Workspace | undefined;
  readonly observation: Observation | undefined;
  readonly shownBytesMax: number | undefined;
  readonly live: LiveOutput;
  readonly clock: Clock;
  readonly logger: Logger;
};

/** Runs a program in a guest that is open, and puts its report together. */
export function beginProgram(order: ProgramOrder): Pick<RunningProgram, "report" | "kill"> {
  const { guest, held, execution, clock, logger, live } = order;
  const state: State = {
    startedAt: clock.now(),
    isPythonNew: false,
    exited: undefined,
    value: undefined,
    returned: undefined,
    figures: [],
    isOver: false,
    // What earlier ones left running is company, too.
    hadCompany: order.observation?.hasEarlier === true,
    left: undefined,
  };
  const kill = () => guest.kill(execution.id);
  const unwatch = held.watch?.begin(watchedOf(state, kill), order.observation?.measured());
  const finish = async () => {
    for await (const event of guest.run(execution)) take(state, event, order);
    const endedAt = clock.now();
    live.end();
    const told = await reportOf(state, order, endedAt);
    // Only now: what another one begins to write meanwhile could stand in this report.
    unwatch?.(state.left);
    return told;
  };
  const report = finish().catch(async (error): Promise<ProgramReport> => {
    // Whoever waits for the report must not wait for ever because of a mistake of ours.
    logger.error("the report of an execution could not be made", { execution: execution.id, error });
    unwatch?.();
    live.end();
    // Told all the same: as long as somebody seems to wait for it, files are remembered.
    const changes = await changesOf(order).catch((again) => {
      logger.error("what an execution changed is not known", { execution: execution.id, error: again });
      return [];
    });
    return { ...unbegun("lost", clock.now()), changes };
  });
  return { report, kill };
}

function watchedOf(state: State, kill: () => void): WatchedProgram {
  return {
    onOver() {
      state.isOver = true;
      kill();
    },
    onCompany() {
      state.hadCompany = true;
    },
  };
}

type Exited = Extract<ExecutionEvent, { kind: "exited" }>;

type State = {
  startedAt: number;
  isPythonNew: boolean;
  exited: Exited | undefined;
  value: string | undefined;
  returned: string | undefined;
  readonly figures: string[];
  /** There was no room left on the disk. */
  isOver: boolean;
  hadCompany: boolean;
  /** What the workspace takes up after it. */
  left: Measured | undefined;
};

const shownBytesMaxUnlessSaid = 64 * 1024;
const nothingUsed = { durationMs: 0, cpuMs: 0, memoryPeakBytes: 0, readBytes: 0, writtenBytes: 0 };
const nothingSaid: ShownOutput = { text: "", cutBytes: 0, path: undefined };

/** The report of a program that never ran, or of which nothing is known. */
export function unbegun(how: "cancelled" | "lost", at: number): ProgramReport {
  return {
    how,
    exitCode: undefined,
    signal: undefined,
    stdout: nothingSaid,
    stderr: nothingSaid,
    value: undefined,
    returned: undefined,
    figures: [],
    changes: [],
    startedAt: at,
    endedAt: at,
    metrics: nothingUsed,
  };
}

function take(state: State, event: ExecutionEvent, { clock, live }: ProgramOrder): void {
  switch (event.kind) {
    case "started":
      state.startedAt = clock.now();
      state.isPythonNew = event.isPythonNew === true;
      return;
    case "output":
      return live.add(event.stream, event.bytes);
    case "cut":
      return live[event.stream].cut(event.bytes, event.tail);
    case "result":
      if (event.type === "png") state.figures.push(event.bytes.toString());
      else state[event.type === "json" ? "returned" : "value"] = event.bytes.toString();
      return;
    case "exited":
      state.exited = event;
  }
}

async function reportOf(state: State, order: ProgramOrder, endedAt: number): Promise<ProgramReport> {
  const { exited, value, returned, figures, startedAt } = state;
  const how = exited?.how ?? "lost";
  // Before our own files are written: what is told here was done by programs.
  const changes = await changesOf(order);
  state.left = how === "done" ? order.observation?.measured() : undefined;
  return {
    // One that came to its own end was not ended by us, whatever it left behind.
    how: state.isOver && (how === "killed" || how === "lost") ? "disk_full" : how,
    exitCode: exited?.code,
    signal: exited?.signal,
    stdout: await shownOf("stdout", order),
    stderr: await shownOf("stderr", order),
    value,
    returned,
    figures,
    changes,
    ...(state.left?.over === undefined ? {} : { isOverLimit: true }),
    ...(state.isPythonNew ? { isPythonNew: true } : {}),
    ...(exited?.isPythonLost ? { isPythonLost: true } : {}),
    // Asked last: also who began while we looked may be in it.
    ...(state.hadCompany ? { hadCompany: true } : {}),
    startedAt,
    endedAt,
    metrics: exited?.metrics ?? nothingUsed,
  };
}

async function changesOf({ observation, held }: ProgramOrder): Promise<ProgramReport["changes"]> {
  return observation === undefined ? [] : held.changes(observation);
}

async function shownOf(stream: "stdout" | "stderr", order: ProgramOrder): Promise<ShownOutput> {
  const { workspace, held, execution, logger } = order;
  const said = order.live[stream];
  const shown = said.shown(order.shownBytesMax ?? shownBytesMaxUnlessSaid);
  if (shown.cutBytes === 0 || workspace === undefined) return { ...shown, path: undefined };
  const path = `temp/output-${execution.id}-${stream}.txt`;
  held.ours(path);
  const written = await workspace.write(path, said.all());
  if (!written.ok) logger.warn("the output of an execution could not be kept", { code: written.failure.code });
  return { ...shown, path: written.ok ? path : undefined };
}
