import { z } from "zod";
import type { Clock } from "../../base/clock.ts";
import { failed, ok, type Result } from "../../base/result.ts";
import { type CallFault, callFault } from "../guest/http-call.ts";
import type { ClusterApi } from "./api.ts";

/** A pod as the cluster last told of it. */
export type PodSeen = {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  /** Its program runs. */
  readonly isRunning: boolean;
  /** It is being removed. */
  readonly isLeaving: boolean;
  /** Its program is over, or it never comes to one. */
  readonly end: { readonly code: number | null; readonly reason: string } | undefined;
  /** Why it does not run yet, in the cluster's words: `ImagePullBackOff`, `Unschedulable`. */
  readonly waits: { readonly reason: string; readonly message: string };
};

export const labels = { installation: "agentyard.mark", server: "agentyard.server", guest: "agentyard.guest" };

const state = z.object({
  running: z.object({}).nullish(),
  waiting: z.object({ reason: z.string().optional(), message: z.string().optional() }).nullish(),
  terminated: z.object({ exitCode: z.number(), reason: z.string().optional() }).nullish(),
});
const pod = z.object({
  metadata: z.object({
    name: z.string(),
    labels: z.record(z.string(), z.string()).default({}),
    deletionTimestamp: z.string().nullish(),
  }),
  status: z
    .object({
      ...{ phase: z.string().optional(), reason: z.string().optional(), message: z.string().optional() },
      conditions: z
        .array(z.object({ type: z.string(), status: z.string(), reason: z.string(), message: z.string() }).partial())
        .nullish(),
      containerStatuses: z.array(z.object({ state: state.optional() })).nullish(),
    })
    .default({}),
});
const listed = z.object({ metadata: z.object({ resourceVersion: z.string() }), items: z.array(pod) });
const event = z.object({ type: z.string(), object: z.unknown() });

function seenIn({ metadata, status }: z.infer<typeof pod>): PodSeen {
  const { phase = "Pending", reason = "", message = "" } = status;
  const { running, waiting, terminated } = status.containerStatuses?.[0]?.state ?? {};
  const isOver = phase === "Succeeded" || phase === "Failed";
  const unscheduled = status.conditions?.find((one) => one.type === "PodScheduled" && one.status === "False");
  const waits = unscheduled ?? waiting ?? { reason, message };
  return {
    ...{
      name: metadata.name,
      labels: metadata.labels,
      isRunning: running !== undefined && running !== null && !isOver,
    },
    isLeaving: metadata.deletionTimestamp !== undefined && metadata.deletionTimestamp !== null,
    end:
      terminated || isOver
        ? { code: terminated?.exitCode ?? null, reason: reason || (terminated?.reason ?? message) }
        : undefined,
    waits: { reason: waits.reason ?? "", message: waits.message ?? "" },
  };
}

type Place = { readonly api: ClusterApi; readonly clock: Clock; readonly pods: string };

/** All pods with these labels, once; `version`: to be told of what changes from there on. */
export async function listPods(
  { api, pods }: Pick<Place, "api" | "pods">,
  wanted: Readonly<Record<string, string>>,
  signal?: AbortSignal,
): Promise<Result<{ readonly pods: readonly PodSeen[]; readonly version: string }, CallFault>> {
  const answered = await api.ask("GET", `${pods}?labelSelector=${selectorOf(wanted)}`, { signal });
  if (!answered.ok) return answered;
  const found = listed.safeParse(answered.value).data;
  if (found === undefined) return failed(callFault("broken_off", "no list of pods"));
  return ok({ pods: found.items.map(seenIn), version: found.metadata.resourceVersion });
}

function selectorOf(wanted: Readonly<Record<string, string>>): string {
  return encodeURIComponent(
    Object.entries(wanted)
      .map(([name, value]) => `${name}=${value}`)
      .join(","),
  );
}

export type PodFollower = {
  /** From now on until the answer is called. `gone`: it was there, and is not any more. */
  follow(guest: string, take: (seen: PodSeen | "gone") => void): () => void;
};

const watchSeconds = 240;
/** Between two looks, however the first one ended: a cluster that is away, or has forgotten, is not asked in a loop. */
const againMs = 250;
const awayAgainMs = 1000;

/**
 * Hears of all pods with these labels over one connection, as long as anybody wants to know of one. A cluster forgets what
 * happened after a while (410): then all of them are listed again, and what is not there any more is gone.
 */
export function followPods(place: Place, wanted: Readonly<Record<string, string>>): PodFollower {
  const { clock } = place;
  const takers = new Map<string, (seen: PodSeen | "gone") => void>();
  const known = new Set<string>();
  let stop: AbortController | undefined;
  const tell = (seen: PodSeen) => {
    const guest = seen.labels[labels.guest] ?? "";
    const take = takers.get(guest);
    if (take === undefined) return;
    known.add(guest);
    take(seen);
  };
  const forget = (guest: string) => {
    if (known.delete(guest)) takers.get(guest)?.("gone");
  };
  const run = async (signal: AbortSignal) => {
    while (!signal.aborted) {
      const before = new Set(known);
      const found = await listPods(place, wanted, signal);
      if (signal.aborted) return;
      if (found.ok) {
        for (const seen of found.value.pods) tell(seen);
        const there = new Set(found.value.pods.map((seen) => seen.labels[labels.guest]));
        for (const guest of before.difference(there)) forget(guest);
        await watch(place, { wanted, version: found.value.version, signal, tell, forget });
      }
      await clock.wait(found.ok ? againMs : awayAgainMs, signal);
    }
  };
  return {
    follow(guest, take) {
      takers.set(guest, take);
      if (stop === undefined) {
        stop = new AbortController();
        void run(stop.signal);
      }
      return () => {
        takers.delete(guest);
        known.delete(guest);
        if (takers.size > 0) return;
        stop?.abort();
        stop = undefined;
      };
    },
  };
}

type Watching = {
  readonly wanted: Readonly<Record<string, string>>;
  readonly version: string;
  readonly signal: AbortSignal;
  readonly tell: (seen: PodSeen) => void;
  readonly forget: (guest: string) => void;
};

async function watch({ api, pods }: Place, { wanted, version, signal, tell, forget }: Watching): Promise<void> {
  const over = new AbortController();
  const path = `${pods}?labelSelector=${selectorOf(wanted)}&watch=1&resourceVersion=${version}&timeoutSeconds=${watchSeconds}`;
  await api.watch(
    path,
    (line) => {
      const told = event.safeParse(line).data;
      const found = pod.safeParse(told?.object).data;
      if (told === undefined || found === undefined || told.type === "ERROR") return over.abort();
      const seen = seenIn(found);
      if (told.type !== "DELETED") return tell(seen);
      // What is told of one that is gone is how it was at the end.
      if (seen.end !== undefined) tell(seen);
      forget(seen.labels[labels.guest] ?? "");
    },
    AbortSignal.any([signal, over.signal]),
  );
}
