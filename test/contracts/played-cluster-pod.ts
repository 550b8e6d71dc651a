import { lstatSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import { z } from "zod";
import { type RunningContainer, startContainer, type WantedMount } from "../world/played-container.ts";

// A node of a played cluster: what a kubelet would do with a pod, whose container really runs. Memory and processors are
// not shared out.

export const podSpec = z.object({
  restartPolicy: z.literal("Never"),
  automountServiceAccountToken: z.literal(false),
  activeDeadlineSeconds: z.number().optional(),
  runtimeClassName: z.string().optional(),
  nodeSelector: z.record(z.string(), z.string()),
  securityContext: z.object({
    ...{ runAsNonRoot: z.literal(true), runAsUser: z.number().min(1), runAsGroup: z.number().min(1) },
    seccompProfile: z.object({ type: z.literal("RuntimeDefault") }),
  }),
  containers: z.tuple([
    z.object({
      ...{ name: z.literal("sandbox"), image: z.string(), command: z.array(z.string()), workingDir: z.string() },
      ...{ stdin: z.literal(true), stdinOnce: z.literal(true), tty: z.literal(false) },
      env: z.array(
        z.object({ name: z.string(), valueFrom: z.object({ fieldRef: z.object({ fieldPath: z.string() }) }) }),
      ),
      resources: z.object({ limits: z.record(z.string(), z.string()), requests: z.record(z.string(), z.string()) }),
      securityContext: z.object({
        ...{ allowPrivilegeEscalation: z.literal(false), readOnlyRootFilesystem: z.boolean() },
        capabilities: z.object({ drop: z.array(z.string()) }),
      }),
      volumeMounts: z.array(
        z.object({
          ...{ name: z.string(), mountPath: z.string() },
          ...{ subPath: z.string().optional(), readOnly: z.boolean().optional() },
        }),
      ),
    }),
  ]),
  volumes: z.array(
    z.union([
      z.object({ name: z.string(), emptyDir: z.object({ medium: z.literal("Memory"), sizeLimit: z.string() }) }),
      z.object({ name: z.string(), persistentVolumeClaim: z.object({ claimName: z.string() }) }),
    ]),
  ),
});
export type PodSpec = z.infer<typeof podSpec>;

type Node = {
  /** By the claim, where its volume is. */
  readonly volumes: Readonly<Record<string, string>>;
  /** Nothing keeps pods from the network of the machine. */
  readonly hasNetwork: boolean;
  /** Runs in place of the pod's own program. */
  readonly command?: readonly string[] | undefined;
};

/** What runtimes give where nobody says how much. */
const sharedMemoryBytes = 64 * 1024 * 1024;

/** A text: why it cannot be started. */
export function startPod(spec: PodSpec, node: Node): RunningContainer | string {
  const [container] = spec.containers;
  const { runAsUser: user, runAsGroup: group } = spec.securityContext;
  const mounts: WantedMount[] = [];
  for (const { name, mountPath, subPath = "", readOnly = false } of container.volumeMounts) {
    const volume = spec.volumes.find((one) => one.name === name);
    if (volume === undefined) return `volume ${name} is not there`;
    if ("emptyDir" in volume) mounts.push({ inside: mountPath, bytes: volume.emptyDir.sizeLimit });
    else {
      const root = node.volumes[volume.persistentVolumeClaim.claimName];
      if (root === undefined) return `persistentvolumeclaim "${volume.persistentVolumeClaim.claimName}" not found`;
      mounts.push({ inside: mountPath, source: join(root, subPath), readOnly });
    }
  }
  for (const mount of mounts)
    if ("source" in mount && lstatSync(mount.source, { throwIfNoEntry: false }) === undefined)
      mkdirSync(mount.source, { recursive: true });
  const variables: Readonly<Record<string, string>> = {
    "status.hostIP": node.hasNetwork ? "127.0.0.1" : "198.51.100.1",
  };
  const command = (node.command ?? container.command).map((word) =>
    container.env.reduce(
      (text, { name, valueFrom }) => text.replaceAll(`$(${name})`, variables[valueFrom.fieldRef.fieldPath] ?? ""),
      word,
    ),
  );
  return startContainer({
    ...{ user, group, folder: container.workingDir, command, mounts, sharedMemoryBytes },
    isRootReadOnly: container.securityContext.readOnlyRootFilesystem,
    hasNoCapabilities: container.securityContext.capabilities.drop.includes("ALL"),
    hasNetwork: node.hasNetwork,
  });
}
