import type { Duplex } from "node:stream";
import { z } from "zod";
import type { Clock } from "../../base/clock.ts";
import { failed, ok, type Result } from "../../base/result.ts";
import { type ContainedProgram, launchContained } from "../guest/contained.ts";
import type { CallFault } from "../guest/http-call.ts";
import type { GuestWanted, SandboxFault } from "../provider.ts";
import { type Attached, readAttached } from "./attached.ts";
import { containerBody } from "./container.ts";
import type { DockerEngine } from "./engine.ts";
import { followContainer, removeContainer, removeUnconfirmed } from "./gone.ts";

/** What all containers of a provider are started with. */
export type LaunchSettings = {
  readonly engine: DockerEngine;
  readonly clock: Clock;
  readonly image: string;
  readonly runtime: string | undefined;
  /** Marks this installation: two of them with one engine leave each other's containers alone. */
  readonly installation: string;
  /** Where the small files of containers lie. */
  readonly folder: string;
  readonly isRemapped: boolean;
  readonly startTimeoutMs: number;
};

export type Launched = {
  /** As the engine calls it. */
  readonly container: string;
  /** Its first process, as the engine's machine counts. */
  readonly pid: number;
  /** Never rejects; by then the container is gone, as far as anybody can tell. */
  readonly ended: Promise<{ readonly code: number | null }>;
  /** At once, with everything inside. */
  kill(): void;
};

export const labels = { installation: "agentyard.mark", guest: "agentyard.guest" };

/** Made, attached to, and started. */
export function launchContainer(
  wanted: GuestWanted,
  program: ContainedProgram,
  host: LaunchSettings,
): Promise<Result<Launched, SandboxFault>> {
  const { image, runtime, isRemapped, installation } = host;
  return launchContained(wanted, program, host.folder, ({ greet, ...prepared }) => {
    const body = containerBody({
      ...{ ...prepared, image, runtime, isRemapped, command: program.command, limits: wanted.limits },
      labels: { [labels.installation]: installation, [labels.guest]: wanted.id },
    });
    return begin({ ...host, name: `agentyard-${installation}-${wanted.id}`, body, greet });
  });
}

type Order = LaunchSettings & {
  readonly name: string;
  readonly body: unknown;
  readonly greet: (stdio: Duplex) => Promise<SandboxFault | undefined>;
};

const created = z.object({ Id: z.string().regex(/^[0-9a-f]{12,64}$/) });
const inspected = z.object({ State: z.object({ Pid: z.number() }) });

async function begin(order: Order): Promise<Result<Launched, SandboxFault>> {
  const { engine, name, body } = order;
  const made = await engine.ask("POST", `/containers/create?name=${name}`, { body });
  const container = made.ok ? created.safeParse(made.value).data?.Id : undefined;
  if (container === undefined) {
    const mayExist = made.ok || made.failure.why === "late" || made.failure.why === "broken_off";
    if (mayExist) await removeUnconfirmed(order, name);
    return failed(made.ok ? { why: "start_failed", said: "no id" } : startFault(made.failure));
  }
  const attached = await engine.attach(container);
  if (!attached.ok) {
    await removeContainer(engine, container);
    return failed(startFault(attached.failure));
  }
  const stdio = readAttached(attached.value);
  const { ended, kill } = followContainer(order, container);
  const fault = await greeted(order, container, stdio);
  if (fault === undefined) {
    const looked = await engine.ask("GET", `/containers/${container}/json`);
    const pid = looked.ok ? (inspected.safeParse(looked.value).data?.State.Pid ?? 0) : 0;
    return ok({ container, pid, ended, kill });
  }
  kill();
  stdio.stdio.destroy();
  await ended;
  return failed({ why: fault.why, said: fault.said === "" ? stdio.said() : fault.said });
}

/** Undefined when the program runs and has said so. */
async function greeted(order: Order, container: string, attached: Attached): Promise<SandboxFault | undefined> {
  const { engine, clock, startTimeoutMs } = order;
  const over = new AbortController();
  const late = clock.wait(startTimeoutMs, over.signal).then((): SandboxFault => ({ why: "start_timeout", said: "" }));
  const gone = new Promise<SandboxFault>((resolve) => {
    attached.stdio.once("close", () => resolve({ why: "start_failed", said: "" }));
  });
  const start = async (): Promise<SandboxFault | undefined> => {
    const started = await engine.ask("POST", `/containers/${container}/start`);
    // The stream of one that was not started ends as well; the engine has the reason.
    return started.ok ? Promise.race([order.greet(attached.stdio), gone]) : startFault(started.failure);
  };
  try {
    return await Promise.race([start(), late]);
  } finally {
    over.abort();
  }
}

/** An engine that is away has to be seen to before anything can be started; what it refuses is about this guest. */
function startFault({ why, status, said }: CallFault): SandboxFault {
  const isAway = why !== "refused" || /no such image/i.test(said);
  return { why: isAway ? "unavailable" : "start_failed", said: status === 0 ? `${why} ${said}`.trim() : said };
}
