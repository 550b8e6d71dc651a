import type { Duplex } from "node:stream";
import { isMainThread } from "node:worker_threads";
import { assert } from "../../base/assert.ts";
import type { Clock } from "../../base/clock.ts";
import { systemCodeOrThrow } from "../../base/fault.ts";
import { failed, ok, type Result } from "../../base/result.ts";
import { readText } from "../guest/group-places.ts";
import { openSources } from "../guest/sources.ts";
import type { GuestWanted, SandboxFault } from "../provider.ts";
import type { Group } from "./groups.ts";
import { type End, type GuestProgram, type LaunchSettings, type Started, startBwrap } from "./start.ts";

export type Launched = {
  /** The guest's first process, as the host counts. */
  readonly pid: number;
  readonly control: Duplex;
  /** Our end of the socket that leads out of the guest, when it has one. */
  readonly network: Duplex | undefined;
  readonly group: Group;
  /** Never rejects; by then the processes are gone, and so is the group. */
  readonly ended: Promise<End & { readonly oomKills: number }>;
  /** At once, with everything inside. */
  kill(): void;
};

/** For a root that names nobody: a guest without a workspace has no files that could be another's. */
const sharedUid = 64_999;

/**
 * Starts a guest: folders are opened first, then come group, process and membership, and only then does the program
 * begin. So nothing is mounted that was not looked at, and nothing runs inside before its limits hold.
 */
export async function launchGuest(
  wanted: GuestWanted,
  program: GuestProgram,
  host: LaunchSettings,
): Promise<Result<Launched, SandboxFault>> {
  // bwrap dies with the thread that started it.
  assert(isMainThread, "guests are started by the main thread");
  const texts = [wanted.id, wanted.workspace?.inside ?? "", ...Object.entries(wanted.env).flat()];
  // bwrap's arguments are parted by it: what follows would be an argument of its own.
  assert(!texts.some((text) => text.includes("\0")), "no text for a guest holds a NUL");
  const uid = process.geteuid?.() === 0 ? (wanted.uid ?? sharedUid) : undefined;
  const sources = openSources({ ...wanted, programs: program.programs, uid });
  if (!sources.ok) return failed({ why: "start_failed", said: sources.failure });

  const group = host.groups.make(wanted.id, wanted.limits);
  try {
    const started = startBwrap({ wanted, program, host, uid, sources: sources.value });
    return await launchInto(group, started, program, host);
  } catch (error) {
    // A machine that has no descriptor left, for one. Nothing was started.
    await group.remove();
    return failed({ why: "start_failed", said: systemCodeOrThrow(error) });
  } finally {
    sources.value.close();
  }
}

async function launchInto(
  group: Group,
  started: Started,
  program: GuestProgram,
  host: LaunchSettings,
): Promise<Result<Launched, SandboxFault>> {
  let isKilled = false;
  const ended = started.ended.then(async (end) => {
    // Where the guest is gone a moment before bwrap, that one still says so itself, with a code.
    const { code, signal } = isKilled ? { code: null, signal: "SIGKILL" } : end;
    const oomKills = group.oomKills();
    await group.remove();
    await buried(started, host.clock);
    return { ...end, code, signal, oomKills };
  });
  const kill = () => {
    isKilled = true;
    started.kill();
    group.kill();
  };
  const fault = await begin(started, group, program, host).catch(async (error: unknown) => {
    kill();
    await ended;
    throw error;
  });
  const { control, network } = started;
  if (fault === undefined) return ok({ pid: await started.pid, control, network, group, ended, kill });
  kill();
  const { said } = await ended;
  return failed({ why: fault.why, said: fault.said === "" ? said : fault.said });
}

const looksMax = 400;
const lookMs = 5;

/** The first process of a guest is the last to go. bwrap may end before it, and without a group nobody else waits. */
async function buried({ pid }: Started, clock: Clock): Promise<void> {
  const first = await Promise.race([pid, undefined]);
  const isThere = () => first !== undefined && /\) [^ZX] /.test(readText(`/proc/${first}/stat`) ?? "");
  for (let look = 1; look <= looksMax && isThere(); look += 1) await clock.wait(lookMs);
}

/** Undefined when the program runs and has said so. */
async function begin(
  started: Started,
  group: Group,
  program: GuestProgram,
  { clock, groups, startTimeoutMs }: LaunchSettings,
): Promise<SandboxFault | undefined> {
  const over = new AbortController();
  const late = clock.wait(startTimeoutMs, over.signal).then((): SandboxFault => ({ why: "start_timeout", said: "" }));
  const gone = started.ended.then((): SandboxFault => ({ why: "start_failed", said: "" }));
  const release = async (): Promise<SandboxFault | undefined> => {
    const [pid] = await Promise.all([started.pid, groups.expect()]);
    if (!group.add(pid)) return { why: "start_failed", said: "the control group did not take the guest" };
    started.release();
    return program.greet(started.control);
  };
  try {
    return await Promise.race([release(), gone, late]);
  } catch (error) {
    return { why: "start_failed", said: systemCodeOrThrow(error) };
  } finally {
    over.abort();
  }
}
