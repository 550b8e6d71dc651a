import type { Clock } from "../base/clock.ts";
import type { Ids } from "../base/ids.ts";
import { ok, type Result } from "../base/result.ts";
import type { Logger } from "../observe/observe.ts";
import type { Observation } from "../workspace/workspace.ts";
import type { Activities, Activity } from "./activities.ts";
import type { Admission, Ticket } from "./admission.ts";
import type { Guests, Held } from "./guests.ts";
import { createLiveOutput, type LiveOutput } from "./live-output.ts";
import { fileRefusal } from "./open-guest.ts";
import { beginProgram, unbegun } from "./program.ts";
import { checkProgram, roomRefusal } from "./program-checks.ts";
import type { Execution, Guest, SandboxProvider } from "./provider.ts";
import type { ProgramFailure, ProgramPlace, ProgramWanted, RunningProgram, Session, Sessions } from "./sandbox.ts";

/** One execution from the wish to its report. */
export interface Programs {
  /** Checks what can be checked and takes a place in the queue; `start` or `abandon` must follow. */
  prepare(place: ProgramPlace, wanted: ProgramWanted): Promise<Result<Prepared, ProgramFailure>>;
}

export type Prepared = {
  readonly id: string;
  readonly session: Session;
  readonly timeoutMs: number;
  /** What it will say, for readers of any time. */
  readonly live: LiveOutput;
  /** Resolves when it runs. One whose signal fired before is one that was cancelled. */
  start(): Promise<Result<StartedProgram, ProgramFailure>>;
  abandon(): void;
};

/** `hasBegun`: false for one that was cancelled before its turn came. */
export type StartedProgram = RunningProgram & { readonly hasBegun: boolean };

export type ProgramsOptions = {
  readonly provider: Pick<SandboxProvider, "probe">;
  readonly guests: Guests;
  readonly admission: Admission;
  readonly activities: Activities;
  readonly sessions: Pick<Sessions, "use">;
  /** A program of this user ended: their session was used until now. */
  readonly onEnd: (place: ProgramPlace) => void;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly logger: Logger;
};

export function openPrograms(options: ProgramsOptions): Programs {
  return {
    async prepare(place, wanted) {
      const activity = options.activities.begin(place, wanted.signal);
      try {
        const prepared = await prepare(options, { place, wanted, activity });
        if (!prepared.ok) activity.over();
        return prepared;
      } catch (error) {
        activity.over();
        throw error;
      }
    },
  };
}

type Asked = { readonly place: ProgramPlace; readonly wanted: ProgramWanted; readonly activity: Activity };

async function prepare(options: ProgramsOptions, asked: Asked): Promise<Result<Prepared, ProgramFailure>> {
  const { place, wanted, activity } = asked;
  const checked = await checkProgram(options.provider, place, wanted);
  if (!checked.ok) return checked;
  const session = await options.sessions.use(place.owner);
  if (!session.ok) {
    // Only who asks for a new one is told that there is one.
    if (session.failure.code === "session_exists") throw new Error("a session that is used is never refused");
    return { ok: false, failure: session.failure };
  }
  activity.busy();
  const python = wanted.language === "python" ? { agent: place.agent, isCell: true } : undefined;
  const ticket = options.admission.enter({
    owner: place.owner,
    signal: activity.signal,
    take() {
      const held = options.guests.take({ place, session: session.value }, python);
      return typeof held === "string" ? held : { taken: held };
    },
  });
  return ticket.ok ? ok(preparedOf(options, asked, { session: session.value, ticket: ticket.value })) : ticket;
}

type Granted = { readonly session: Session; readonly ticket: Ticket<Held> };

function preparedOf(options: ProgramsOptions, asked: Asked, { session, ticket }: Granted): Prepared {
  const id = asked.wanted.id ?? options.ids.hex(32);
  const live = createLiveOutput();
  const timeoutMs = Math.min(asked.wanted.timeoutMs, session.executionTimeoutMs);
  const leave = (held?: Held) => {
    live.end();
    held?.release();
    ticket.leave();
    asked.activity.over();
    options.onEnd(asked.place);
  };
  return {
    id,
    session,
    timeoutMs,
    live,
    async start() {
      const ready = await ticket.ready;
      const held = ready.ok ? ready.value : undefined;
      if (!ready.ok || held === undefined) {
        leave();
        return ready.ok ? ok(cancelled(options, id)) : ready;
      }
      try {
        const begun = await begin(options, asked, { id, timeoutMs, live, held });
        if (!begun.ok) {
          leave(held);
          return begun;
        }
        const report = begun.value.report.then((ended) => {
          leave(held);
          return ended;
        });
        return ok({ ...begun.value, report });
      } catch (error) {
        leave(held);
        throw error;
      }
    },
    abandon() {
      void ticket.ready.then((held) => leave(held.ok ? held.value : undefined));
      ticket.leave();
    },
  };
}

function cancelled({ clock }: ProgramsOptions, id: string): StartedProgram {
  const live = createLiveOutput();
  live.end();
  const report = Promise.resolve(unbegun("cancelled", clock.now()));
  return { id, output: live.read(), report, kill() {}, hasBegun: false };
}

type Begun = {
  readonly id: string;
  readonly timeoutMs: number;
  readonly live: LiveOutput;
  readonly held: Held;
};

async function begin(
  options: ProgramsOptions,
  asked: Asked,
  begun: Begun,
): Promise<Result<StartedProgram, ProgramFailure>> {
  const { place, wanted, activity } = asked;
  const opened = await begun.held.opened;
  if (!opened.ok) return opened;
  if (activity.signal.aborted) return ok(cancelled(options, begun.id));
  const observed = await observe(place, opened.value, begun.held);
  if (!observed.ok) return observed;
  const program = beginProgram({
    ...{ guest: opened.value, held: begun.held, live: begun.live, clock: options.clock, logger: options.logger },
    ...{ workspace: place.workspace, observation: observed.value, shownBytesMax: wanted.shownBytesMax },
    execution: executionOf(asked, begun),
  });
  return ok({ id: begun.id, output: begun.live.read(), ...program, hasBegun: true });
}

async function observe(
  { workspace }: ProgramPlace,
  guest: Guest,
  held: Held,
): Promise<Result<Observation | undefined, ProgramFailure>> {
  const isContinued = held.isContinued();
  const observation = await workspace?.observe({ sharedFiles: () => guest.sharedFiles(), isContinued });
  if (observation === undefined) return ok(undefined);
  if (!observation.ok) return fileRefusal(observation.failure);
  const measured = observation.value.measured();
  const refusal = measured && roomRefusal(measured);
  if (refusal === undefined) return observation;
  observation.value.leave();
  return refusal;
}

function executionOf({ place, wanted, activity }: Asked, { id, timeoutMs }: Begun): Execution {
  const { language, code, folder, env, event, stdin } = wanted;
  return { id, language, code, folder, env, event, stdin, timeoutMs, agent: place.agent, signal: activity.signal };
}
