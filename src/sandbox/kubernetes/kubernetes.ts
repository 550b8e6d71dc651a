import { join } from "node:path";
import type { Clock } from "../../base/clock.ts";
import type { Ids } from "../../base/ids.ts";
import { ok, type Result } from "../../base/result.ts";
import type { Words } from "../../words/words.ts";
import { enterScript } from "../guest/contained.ts";
import { keepGuestsOf } from "../guest/kept-guests.ts";
import { rememberLooks } from "../guest/remembered-looks.ts";
import { superviseGuest } from "../guest/supervised.ts";
import { tieGuest } from "../guest/tie-guest.ts";
import type { Guest, GuestWanted, SandboxFault, SandboxProvider } from "../provider.ts";
import { type ClusterAddress, openApi } from "./api.ts";
import { followPods, labels } from "./follow.ts";
import { launchPod } from "./launch.ts";
import { claimPod, type Pool, reapClaims } from "./pool.ts";
import { type ProbedSettings, probeCluster, waitScript } from "./probe.ts";
import { reapLeft, removeIfEmpty } from "./reap.ts";

export type KubernetesSandboxOptions = {
  /** Marks this installation: two of them in one namespace leave each other's guests alone. */
  readonly installation: string;
  /** This server of it, as long as its machine has this name. */
  readonly server: string;
  readonly clock: Clock;
  readonly ids: Ids;
  /** For what the cluster lacks. */
  readonly words: Words["sandbox"];
  readonly address: ClusterAddress;
  readonly namespace: string;
  readonly image: string;
  /** `gvisor`, for one; undefined: what the cluster has otherwise. */
  readonly runtimeClass: string | undefined;
  /** A claim of the volume that all servers and sandboxes share. */
  readonly claim: string;
  /** The folder of this server that is on that volume, and where it is there. */
  readonly files: string;
  readonly volumePath: string;
  /** Pods that agent-sandbox keeps waiting for guests without a workspace; 0: none. */
  readonly poolSize: number;
  /** Workspaces are images of disks, which are mounted on one machine only. */
  readonly isImaged?: boolean | undefined;
  readonly startTimeoutMs: number;
};

/** Below the shared folder, for the small files of pods, by the installation and the server that made them. */
const stagesName = ".sandbox-pods";

/** Beside those of servers, for pods that belong to all of them. */
const poolsName = "pools";

/** Guests as pods of a Kubernetes cluster. Nothing is asked before the first question. */
export function openKubernetesSandbox(options: KubernetesSandboxOptions): SandboxProvider {
  const { clock, installation, server, address, namespace, files } = options;
  const api = openApi(options);
  const pods = `/api/v1/namespaces/${namespace}/pods`;
  const stages = join(files, stagesName, installation);
  const follower = followPods({ api, clock, pods }, { [labels.installation]: installation, [labels.server]: server });
  const place = { ...options, address: address.server, api, pods, follower, folder: join(stages, server) };
  const pool: Pool = {
    ...{ size: options.poolSize, namespace, folder: join(stages, poolsName), name: undefined },
    notBefore: Number.NEGATIVE_INFINITY,
  };
  /** Guests that look around for us are nobody's leftover. */
  const canaries = new Set<string>();
  const machine = rememberLooks(clock, () => probeCluster({ ...place, canaries }));
  const guests = keepGuestsOf(machine, (wanted, host) => startGuest(wanted, host, pool));
  return {
    probe: async (wanted) => (await machine.look(wanted?.fresh)).probe,
    open: guests.open,
    async reap() {
      const spared = () => guests.ids().union(canaries);
      const left = await reapLeft({ ...place, stages, spared });
      return { ...left, processes: left.processes + (await reapClaims(place, pool, spared)) };
    },
    async close() {
      await guests.close();
      await machine.settled();
      removeIfEmpty(place.folder);
    },
  };
}

async function startGuest(wanted: GuestWanted, host: ProbedSettings, pool: Pool): Promise<Result<Guest, SandboxFault>> {
  let oomKills = 0;
  const { program, connected } = superviseGuest(wanted, host, {
    ...{ script: `${waitScript}\n${enterScript}`, likeness: host.likeness, oomKills: () => oomKills },
    // The memory of a pod ends all of it: one program that takes too much should end alone.
    isLimited: { memory: false, pids: false },
    // The node writes the output of every container to a file: what is in there shall be noise.
    isCovered: true,
  });
  const launched = (await claimPod(wanted, program, host, pool)) ?? (await launchPod(wanted, program, host));
  if (!launched.ok) return launched;
  const connection = connected();
  const ended = launched.value.ended.then(({ code, reason }) => {
    if (reason === outOfMemory) oomKills += 1;
    return { code, oomKills };
  });
  return ok(
    tieGuest(connection, {
      ...{ ended, kill: launched.value.kill, usage: connection.askUsage },
      // Its processes are on another machine.
      sharedFiles: async () => undefined,
      unnamedBytes: async () => 0,
    }),
  );
}

/** As the cluster says it of a container whose memory ran out. */
const outOfMemory = "OOMKilled";
