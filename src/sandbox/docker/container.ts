import { mountsOf } from "../guest/contained.ts";
import type { Sources } from "../guest/sources.ts";
import type { GuestLimits } from "../provider.ts";

/** What an engine is asked for. Everything that is not said here is the strictest that it has. */
type ContainerWanted = {
  readonly image: string;
  /** Another one than the engine's own: `runsc` of gVisor, for one. */
  readonly runtime: string | undefined;
  readonly command: readonly string[];
  readonly user: number;
  readonly folder: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly limits: GuestLimits;
  /** Of the host, by their places inside; all of them can only be read. */
  readonly mounts: Readonly<Record<string, string>>;
  readonly sources: Sources;
  /** The engine gives containers users of its own; ours are those of the host. */
  readonly isRemapped: boolean;
};

const sharedMemoryBytesMax = 64 * 1024 * 1024;
const nanosecond = 1e-9;

/** Hides more than engines do by themselves: programs have no business with the devices and groups of the host. */
const hidden = [
  ...["/proc/asound", "/proc/acpi", "/proc/kcore", "/proc/keys", "/proc/latency_stats", "/proc/timer_list"],
  ...["/proc/timer_stats", "/proc/sched_debug", "/proc/scsi", "/proc/interrupts", "/sys"],
];
const readOnly = ["/proc/bus", "/proc/fs", "/proc/irq", "/proc/sys", "/proc/sysrq-trigger"];

/** The body of `POST /containers/create`. */
export function containerBody(wanted: ContainerWanted): unknown {
  const { image, runtime, command, user, folder, labels, limits, mounts, sources, isRemapped } = wanted;
  return {
    Image: image,
    Entrypoint: command,
    Cmd: [],
    User: `${user}:${user}`,
    Env: ["PATH=/usr/bin:/bin", "LANG=C.UTF-8"],
    Labels: labels,
    WorkingDir: folder,
    Hostname: "sandbox",
    // The image's own would be one more program inside, again and again.
    Healthcheck: { Test: ["NONE"] },
    ...{ AttachStdin: true, AttachStdout: true, AttachStderr: true, OpenStdin: true, Tty: false },
    // The container ends with whoever holds its input: with this process.
    StdinOnce: true,
    HostConfig: {
      AutoRemove: true,
      // What goes over its output is no log.
      LogConfig: { Type: "none" },
      NetworkMode: "none",
      ...{ IpcMode: "private", CgroupnsMode: "private", Init: false, Privileged: false },
      ...(isRemapped ? { UsernsMode: "host" } : {}),
      ReadonlyRootfs: true,
      CapDrop: ["ALL"],
      SecurityOpt: ["no-new-privileges:true"],
      ...{ MaskedPaths: hidden, ReadonlyPaths: readOnly },
      Memory: limits.memoryBytes,
      // Together with swap: there is none.
      MemorySwap: limits.memoryBytes,
      PidsLimit: limits.processesMax,
      NanoCpus: Math.round(limits.cpus / nanosecond),
      ShmSize: sharedMemoryBytesMax,
      Tmpfs: { "/tmp": `rw,exec,nosuid,nodev,mode=1777,size=${limits.tmpBytesMax}` },
      Mounts: mountsOf(mounts, sources).map(({ path, inside, isWritable }) => ({
        ...{ Type: "bind", Source: path, Target: inside, ReadOnly: !isWritable },
        BindOptions: { Propagation: "rprivate" },
      })),
      ...(runtime === undefined ? {} : { Runtime: runtime }),
    },
  };
}
