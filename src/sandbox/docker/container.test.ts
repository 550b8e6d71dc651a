import assert from "node:assert/strict";
import { test } from "node:test";
import { containerBody } from "./container.ts";

const wanted: Parameters<typeof containerBody>[0] = {
  ...{ image: "agentyard-sandbox", runtime: undefined, command: ["/bin/sh", "-c", "true"], user: 64_123 },
  ...{ folder: "/workspace/c1", labels: { "agentyard.mark": "m" }, isRemapped: false },
  limits: {
    ...{ memoryBytes: 400_000_000, processesMax: 64, cpus: 1.5 },
    ...{ fileBytesMax: 1, tmpBytesMax: 32_000_000, outputBytesMax: 1 },
  },
  mounts: { "/run/agentyard": "/srv/stage" },
  sources: { workspace: undefined, programs: [], packages: undefined, close() {} },
};

test("a container has no network, no rights, no log, no swap, a root that cannot be written, and the limits of its session [X3][X4]", () => {
  assert.deepEqual(containerBody(wanted), {
    ...{ Image: "agentyard-sandbox", Entrypoint: ["/bin/sh", "-c", "true"], Cmd: [], User: "64123:64123" },
    ...{ Env: ["PATH=/usr/bin:/bin", "LANG=C.UTF-8"], Labels: { "agentyard.mark": "m" } },
    ...{ WorkingDir: "/workspace/c1", Hostname: "sandbox", Healthcheck: { Test: ["NONE"] } },
    ...{ AttachStdin: true, AttachStdout: true, AttachStderr: true, OpenStdin: true, StdinOnce: true, Tty: false },
    HostConfig: {
      ...{ AutoRemove: true, LogConfig: { Type: "none" }, NetworkMode: "none", IpcMode: "private" },
      ...{ CgroupnsMode: "private", Init: false, Privileged: false, ReadonlyRootfs: true, CapDrop: ["ALL"] },
      SecurityOpt: ["no-new-privileges:true"],
      MaskedPaths: [
        ...["/proc/asound", "/proc/acpi", "/proc/kcore", "/proc/keys", "/proc/latency_stats", "/proc/timer_list"],
        ...["/proc/timer_stats", "/proc/sched_debug", "/proc/scsi", "/proc/interrupts", "/sys"],
      ],
      ReadonlyPaths: ["/proc/bus", "/proc/fs", "/proc/irq", "/proc/sys", "/proc/sysrq-trigger"],
      ...{ Memory: 400_000_000, MemorySwap: 400_000_000, PidsLimit: 64, NanoCpus: 1_500_000_000 },
      ...{ ShmSize: 67_108_864, Tmpfs: { "/tmp": "rw,exec,nosuid,nodev,mode=1777,size=32000000" } },
      Mounts: [
        {
          ...{ Type: "bind", Source: "/srv/stage", Target: "/run/agentyard", ReadOnly: true },
          BindOptions: { Propagation: "rprivate" },
        },
      ],
    },
  });
});

test("a container has the runtime that is set, and the users of this machine where the engine would give it others [X3]", () => {
  const { HostConfig } = Object(containerBody({ ...wanted, runtime: "runsc", isRemapped: true }));
  assert.partialDeepStrictEqual(HostConfig, { Runtime: "runsc", UsernsMode: "host" });
});
