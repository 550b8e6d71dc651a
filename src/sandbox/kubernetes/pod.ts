import { mountsOf } from "../guest/contained.ts";
import type { Sources } from "../guest/sources.ts";
import type { GuestLimits } from "../provider.ts";

/** What a cluster is asked for. Everything that is not said here is the strictest that it has. */
export type PodWanted = {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly image: string;
  /** `gvisor`, for one; undefined: what the cluster has otherwise. */
  readonly runtimeClass: string | undefined;
  /** As Kubernetes calls it: `amd64`. The filter of calls is for one kind of machine. */
  readonly architecture: string;
  readonly command: readonly string[];
  readonly user: number;
  readonly folder: string;
  readonly limits: GuestLimits;
  /** The claim of the volume on which all files are. */
  readonly claim: string;
  /** All of them can only be read: by their places inside, where they are on the volume. */
  readonly mounts: Readonly<Record<string, string>>;
  readonly sources: Pick<Sources, "workspace" | "packages">;
  /** Where a folder of this machine is on the volume. */
  readonly subPath: (path: string) => string;
  /** Variables of the first process, which are not handed on: what only the node knows. */
  readonly env?: readonly unknown[] | undefined;
};

const containerName = "sandbox";
const mebibyte = 1024 * 1024;
/** For the supervisor, on top of what programs may have: where theirs is used up, it must still have some. */
const supervisorBytes = 64 * mebibyte;
/** What a program may leave in the few files that a node writes for every container: /dev/termination-log, its log. */
const nodeBytesMax = 256 * mebibyte;
/** Of the processor a part is promised, for others may use what is idle; memory cannot be taken back, so it is all promised. */
const promisedCpus = 0.1;
/** One that was made and never attached to, because its server died in between, does not stay for ever. */
const secondsMax = 2 * 86_400;

/** The body of `POST …/pods`. */
export function podBody(wanted: PodWanted) {
  return {
    ...{ apiVersion: "v1", kind: "Pod" },
    metadata: { name: wanted.name, labels: wanted.labels },
    spec: podSpec(wanted),
  };
}

export function podSpec(wanted: Omit<PodWanted, "name" | "labels">) {
  const { image, runtimeClass, architecture, command, user, folder, limits, claim, subPath, env = [] } = wanted;
  const memory = `${limits.memoryBytes + supervisorBytes}`;
  return {
    restartPolicy: "Never",
    // Nothing of the cluster is inside: no token, no variables of services, no names that could be looked up.
    ...{ automountServiceAccountToken: false, enableServiceLinks: false, hostname: "sandbox" },
    ...{ dnsPolicy: "None", dnsConfig: { nameservers: ["127.0.0.1"] } },
    ...{ hostNetwork: false, hostPID: false, hostIPC: false, shareProcessNamespace: false },
    ...{ terminationGracePeriodSeconds: 1, activeDeadlineSeconds: secondsMax },
    nodeSelector: { "kubernetes.io/os": "linux", "kubernetes.io/arch": architecture },
    ...(runtimeClass === undefined ? {} : { runtimeClassName: runtimeClass }),
    securityContext: {
      ...{ runAsNonRoot: true, runAsUser: user, runAsGroup: user, supplementalGroups: [] },
      seccompProfile: { type: "RuntimeDefault" },
    },
    containers: [
      {
        ...{ name: containerName, image, imagePullPolicy: "IfNotPresent", command, args: [], workingDir: folder, env },
        // The pod ends with whoever holds its input: with this process.
        ...{ stdin: true, stdinOnce: true, tty: false },
        resources: {
          limits: { cpu: `${limits.cpus}`, memory, "ephemeral-storage": `${nodeBytesMax}` },
          requests: { cpu: `${promisedOf(limits.cpus)}`, memory, "ephemeral-storage": `${mebibyte}` },
        },
        securityContext: {
          ...{ allowPrivilegeEscalation: false, privileged: false, readOnlyRootFilesystem: true },
          ...{ runAsNonRoot: true, capabilities: { drop: ["ALL"] } },
        },
        // Only what belongs to this conversation is mounted, folder by folder: of the volume nothing else is to be seen.
        volumeMounts: [
          { name: "tmp", mountPath: "/tmp" },
          ...mountsOf(wanted.mounts, wanted.sources).map(({ path, inside, isWritable }) => ({
            ...{ name: "files", mountPath: inside, subPath: subPath(path), readOnly: !isWritable },
          })),
        ],
      },
    ],
    volumes: [
      { name: "tmp", emptyDir: { medium: "Memory", sizeLimit: `${limits.tmpBytesMax}` } },
      { name: "files", persistentVolumeClaim: { claimName: claim } },
    ],
  };
}

/** In thousandths, below which the cluster does not count. */
function promisedOf(cpus: number): number {
  return Math.max(1, Math.round(cpus * promisedCpus * 1000)) / 1000;
}
