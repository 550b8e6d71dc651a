import assert from "node:assert/strict";
import { test } from "node:test";
import { podBody } from "./pod.ts";

const mebibyte = 1024 ** 2;
const limits = {
  ...{ memoryBytes: 400 * mebibyte, processesMax: 64, cpus: 0.5, fileBytesMax: 8 * mebibyte },
  ...{ tmpBytesMax: 32 * mebibyte, outputBytesMax: 100_000 },
};
const wanted = {
  ...{ name: "agentyard-one", labels: { a: "b" }, image: "sandbox:1", runtimeClass: undefined, architecture: "amd64" },
  ...{ command: ["/bin/sh"], user: 54_321, folder: "/workspace/c1", limits, claim: "files" },
  mounts: { "/run/agentyard": "/files/stage/run" },
  sources: { workspace: undefined, packages: { fd: 0, path: "/files/packages", isFolder: true } },
  subPath: (path: string) => path.replace("/files/", ""),
};

// Written out in full: what is left away here is a wall less, and no program inside notices.
test("a pod asks for all walls that a cluster has: no rights, no names, no network of the node, and no more room than its guest [X3][X4][X5][Q1]", () => {
  assert.deepEqual(podBody(wanted), {
    ...{ apiVersion: "v1", kind: "Pod", metadata: { name: "agentyard-one", labels: { a: "b" } } },
    spec: {
      ...{ restartPolicy: "Never", automountServiceAccountToken: false, enableServiceLinks: false },
      ...{ hostname: "sandbox", dnsPolicy: "None", dnsConfig: { nameservers: ["127.0.0.1"] } },
      ...{ hostNetwork: false, hostPID: false, hostIPC: false, shareProcessNamespace: false },
      ...{ terminationGracePeriodSeconds: 1, activeDeadlineSeconds: 172_800 },
      nodeSelector: { "kubernetes.io/os": "linux", "kubernetes.io/arch": "amd64" },
      securityContext: {
        ...{ runAsNonRoot: true, runAsUser: 54_321, runAsGroup: 54_321, supplementalGroups: [] },
        seccompProfile: { type: "RuntimeDefault" },
      },
      containers: [
        {
          ...{ name: "sandbox", image: "sandbox:1", imagePullPolicy: "IfNotPresent", command: ["/bin/sh"], args: [] },
          ...{ workingDir: "/workspace/c1", env: [], stdin: true, stdinOnce: true, tty: false },
          resources: {
            limits: { cpu: "0.5", memory: `${464 * mebibyte}`, "ephemeral-storage": `${256 * mebibyte}` },
            requests: { cpu: "0.05", memory: `${464 * mebibyte}`, "ephemeral-storage": `${mebibyte}` },
          },
          securityContext: {
            ...{ allowPrivilegeEscalation: false, privileged: false, readOnlyRootFilesystem: true },
            ...{ runAsNonRoot: true, capabilities: { drop: ["ALL"] } },
          },
          volumeMounts: [
            { name: "tmp", mountPath: "/tmp" },
            { name: "files", mountPath: "/run/agentyard", subPath: "stage/run", readOnly: true },
            { name: "files", mountPath: "/run/agentyard/packages", subPath: "packages", readOnly: true },
          ],
        },
      ],
      volumes: [
        { name: "tmp", emptyDir: { medium: "Memory", sizeLimit: `${32 * mebibyte}` } },
        { name: "files", persistentVolumeClaim: { claimName: "files" } },
      ],
    },
  });
  const { spec } = podBody({ ...wanted, runtimeClass: "gvisor", limits: { ...limits, cpus: 0.001 } });
  const [container] = spec.containers;
  assert.deepEqual(
    ["runtimeClassName" in spec && spec.runtimeClassName, container?.resources.requests.cpu],
    ["gvisor", "0.001"],
  );
});
