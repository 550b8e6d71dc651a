import type { Duplex } from "node:stream";
import type { Clock } from "../../base/clock.ts";
import type { Ids } from "../../base/ids.ts";
import { failed, ok, type Result } from "../../base/result.ts";
import { type ContainedProgram, launchContained } from "../guest/contained.ts";
import { namesBelow } from "../guest/names-below.ts";
import { removeAgainMs, removeInTime } from "../guest/removal.ts";
import type { GuestWanted, SandboxFault } from "../provider.ts";
import type { ClusterApi } from "./api.ts";
import { type Attached, attach } from "./attached.ts";
import { lateFault, podFault, startFault } from "./faults.ts";
import { labels, type PodFollower, type PodSeen } from "./follow.ts";
import { makeObject, removeObject } from "./objects.ts";
import { podBody } from "./pod.ts";

/** What all pods of a provider are started with. */
export type LaunchSettings = {
  readonly api: ClusterApi;
  readonly clock: Clock;
  readonly ids: Ids;
  /** `/api/v1/namespaces/{namespace}/pods`. */
  readonly pods: string;
  readonly follower: PodFollower;
  readonly image: string;
  readonly runtimeClass: string | undefined;
  readonly architecture: string;
  readonly claim: string;
  /** The folder of this machine that is on the claimed volume, and where it is there. */
  readonly files: string;
  readonly volumePath: string;
  /** Where the small files of this server's pods lie, below the former. */
  readonly folder: string;
  /** Marks this installation, and this server of it. */
  readonly installation: string;
  readonly server: string;
  readonly startTimeoutMs: number;
};

export type Launched = {
  /** Never rejects; by then the pod's programs are gone, as far as anybody can tell. */
  readonly ended: Promise<Ended>;
  /** At once, with everything inside. */
  kill(): void;
};
type Ended = { readonly code: number | null; readonly reason: string };

/** Where to ask for one, and with what; it comes with the label of its guest. */
type Order = { readonly path: string; readonly name: string; readonly body: unknown };

/** Asked for, awaited, and attached to. */
export function launchPod(
  wanted: GuestWanted,
  program: ContainedProgram,
  host: LaunchSettings,
): Promise<Result<Launched, SandboxFault>> {
  const { image, runtimeClass, architecture, claim, files, volumePath } = host;
  return launchContained(wanted, program, host.folder, async ({ greet, mounts, ...prepared }) => {
    const outside: string[] = [];
    const name = podName(wanted.id);
    const body = podBody({
      ...{ ...prepared, name, labels: labelsOf(host, wanted.id), image, runtimeClass, architecture, claim },
      ...{ command: program.command, env: program.env, limits: wanted.limits, mounts: mountsOfPod(mounts) },
      subPath: (path) => {
        const names = namesBelow(files, path);
        if (names === undefined) outside.push(path);
        return [...namesOf(volumePath), ...(names ?? [])].join("/");
      },
    });
    if (outside.length > 0) return failed({ why: "start_failed", said: `not below ${files}: ${outside.join(", ")}` });
    return begin({ path: host.pods, name, body }, wanted.id, greet, host);
  });
}

export function podName(guest: string): string {
  return `agentyard-${guest}`;
}

export function labelsOf({ installation, server }: Pick<LaunchSettings, "installation" | "server">, guest: string) {
  return {
    "app.kubernetes.io/name": "agentyard-sandbox",
    ...{ [labels.installation]: installation, [labels.server]: server, [labels.guest]: guest },
  };
}

/** Of the network around it a pod is told nothing: what the kubelet would write there says the same as ours. */
export function mountsOfPod(mounts: Readonly<Record<string, string>>): Record<string, string> {
  const kubelets = ["/etc/hosts", "/etc/hostname", "/etc/resolv.conf"];
  return Object.fromEntries(Object.entries(mounts).filter(([inside]) => !kubelets.includes(inside)));
}

export function namesOf(path: string): string[] {
  return path.split("/").filter((name) => name !== "");
}

/** How long the word of the cluster is waited for why a stream broke off. */
const lastWordMs = 3000;

/** Asks for a pod, and follows it to its end. What is begun is ended, whatever went wrong in between. */
export async function begin(
  order: Order,
  guest: string,
  greet: (stdio: Duplex) => Promise<SandboxFault | undefined>,
  host: LaunchSettings,
): Promise<Result<Launched, SandboxFault>> {
  const { clock } = host;
  const life = liveWith(order, guest, host);
  const late = new AbortController();
  const stopTimer = clock.after(host.startTimeoutMs, () => late.abort());
  try {
    const made = await makeObject(host, order, late.signal);
    if (!made.ok) {
      const mayExist = made.failure.why === "late" || made.failure.why === "broken_off";
      if (mayExist) life.kill();
      else life.forget();
      await life.ended;
      return failed(startFault(made.failure));
    }
    const running = await life.whenRunning(late.signal);
    const attached = running.ok ? await attach(host, `${host.pods}/${running.value}`) : running;
    if (!attached.ok) {
      const isGone = "status" in attached.failure && attached.failure.status === 404;
      const ended = isGone ? await endWithin(life, clock) : undefined;
      life.kill();
      await life.ended;
      if (ended !== undefined) return failed({ why: "start_failed", said: ended.reason });
      return failed(
        "said" in attached.failure && "status" in attached.failure ? startFault(attached.failure) : attached.failure,
      );
    }
    const stdio = heldUntil(attached.value, life.ended, clock);
    const fault = await greeted(stdio, greet, late.signal);
    if (fault === undefined) return ok({ ended: life.ended, kill: life.kill });
    life.kill();
    stdio.destroy();
    const { reason } = await life.ended;
    const said = fault.said || attached.value.said() || reason;
    return failed({ why: fault.why, said });
  } finally {
    stopTimer();
  }
}

/** A program that ended before we attached has no container any more; the cluster says why a moment later. */
async function endWithin(life: Life, clock: Clock): Promise<Ended | undefined> {
  const known = new AbortController();
  let ended: Ended | undefined;
  void life.ended.then((how) => {
    ended = how;
    known.abort();
  });
  await clock.wait(lastWordMs, known.signal);
  return ended;
}

/** The stream of a pod ends a moment before the cluster says why: who listens is told both at once. */
function heldUntil({ stdio, over }: Attached, ended: Promise<unknown>, clock: Clock): Duplex {
  const know = new AbortController();
  void ended.then(() => know.abort());
  void over.then(async () => {
    await clock.wait(lastWordMs, know.signal);
    stdio.destroy();
  });
  return stdio;
}

/** Undefined when the program runs and has said so. It begins when it is told to: nothing is said before we listen. */
async function greeted(
  stdio: Duplex,
  greet: (stdio: Duplex) => Promise<SandboxFault | undefined>,
  signal: AbortSignal,
): Promise<SandboxFault | undefined> {
  const late = new Promise<SandboxFault>((resolve) => {
    const tell = () => resolve({ why: "start_timeout", said: "" });
    if (signal.aborted) tell();
    else signal.addEventListener("abort", tell, { once: true });
  });
  // Not as soon as the stream is over: who greets has then mostly said what is wrong, and the cluster why.
  const gone = new Promise<SandboxFault>((resolve) => {
    stdio.once("close", () => resolve({ why: "start_failed", said: "" }));
  });
  stdio.write("\n");
  return Promise.race([greet(stdio), gone, late]);
}

type Life = Launched & {
  /** The name of its pod, as soon as its program runs. */
  whenRunning(signal: AbortSignal): Promise<Result<string, SandboxFault>>;
  /** It was never made. */
  forget(): void;
};

/** Without `kill` it may take as long as it likes; after that `ended` comes in time, even where the cluster is silent. */
function liveWith(order: Order, guest: string, host: LaunchSettings): Life {
  const { clock, follower } = host;
  const { promise: ended, resolve } = Promise.withResolvers<Ended>();
  const over = new AbortController();
  let seen: PodSeen | undefined;
  let onChange = () => {};
  const end = (how: Ended) => {
    if (over.signal.aborted) return;
    over.abort();
    unfollow();
    resolve(how);
    onChange();
  };
  const unfollow = follower.follow(guest, (told) => {
    if (told === "gone") return end({ code: null, reason: "removed" });
    seen = told;
    onChange();
    if (told.end !== undefined) void removeOver(told.end);
  });
  let isOver = false;
  /** One that is over is still listed, and nobody needs it; a cluster that does not listen holds nobody up. */
  const removeOver = async (how: Ended) => {
    if (isOver) return;
    isOver = true;
    await Promise.race([removeObject(host, order, over.signal), clock.wait(removeAgainMs, over.signal)]);
    end(how);
  };
  let isAsked = false;
  const kill = async () => {
    if (isAsked) return;
    isAsked = true;
    // It may be there only a moment later: one that was never seen is asked for again.
    const ask = async () => (await removeObject(host, order, over.signal)) === "absent" && seen !== undefined;
    const how = await removeInTime(clock, over.signal, ask);
    end({ code: null, reason: how === "removed" ? "removed" : "" });
  };
  return {
    ended,
    kill: () => void kill(),
    forget: () => end({ code: null, reason: "" }),
    whenRunning(signal) {
      return new Promise((done) => {
        const late = () => finish(failed(lateFault(seen)));
        const finish = (result: Result<string, SandboxFault>) => {
          onChange = () => {};
          signal.removeEventListener("abort", late);
          done(result);
        };
        onChange = () => {
          const fault = seen && podFault(seen);
          if (fault !== undefined) return finish(failed(fault));
          if (over.signal.aborted) return finish(failed({ why: "start_failed", said: "removed" }));
          if (seen?.isRunning) finish(ok(seen.name));
        };
        signal.addEventListener("abort", late, { once: true });
        if (signal.aborted) late();
        else onChange();
      });
    },
  };
}
