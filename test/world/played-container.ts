import { type ChildProcessWithoutNullStreams, spawn } from "node:child_process";
import { lstatSync, mkdirSync, mkdtempSync, readlinkSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { systemClock } from "../../src/base/clock.ts";

// A runtime of containers, played by bubblewrap on this machine, for a played cluster and a played engine. The walls are
// those that are asked for, as far as there is something here to build them of: users, a read-only root, capabilities,
// mounts, sizes of folders in memory. Its image is this machine's own `/usr`.

export type WantedContainer = {
  readonly user: number;
  readonly group: number;
  /** Where its program begins. */
  readonly folder: string;
  readonly command: readonly string[];
  readonly mounts: readonly WantedMount[];
  readonly sharedMemoryBytes: number;
  readonly isRootReadOnly: boolean;
  readonly hasNoCapabilities: boolean;
  /** That of the machine. */
  readonly hasNetwork: boolean;
};

export type WantedMount =
  | { readonly inside: string; readonly bytes: string }
  | { readonly inside: string; readonly source: string; readonly readOnly: boolean };

/** For what was said before the end, and lies in a pipe. */
const lastWordsMs = 2_000;

export type RunningContainer = { readonly child: ChildProcessWithoutNullStreams; kill(): void; clean(): void };

/** All that is to be mounted must be there. */
export function startContainer(wanted: WantedContainer): RunningContainer {
  const { user, folder, command, isRootReadOnly } = wanted;
  const stage = mkdtempSync(join(tmpdir(), "agentyard-node-"));
  const clean = () => rmSync(stage, { recursive: true, force: true });
  // As runtimes do it: what lies deeper is mounted later.
  const mounts = wanted.mounts.toSorted((a, b) => depthOf(a.inside) - depthOf(b.inside));
  const sources = mounts.flatMap((mount) => ("source" in mount ? [mount] : []));
  const isRoot = process.geteuid?.() === 0;
  const places = new Map(sources.map(({ source }, index) => [source, isRoot ? join(stage, `${index}`) : source]));
  const bwrap = ["bwrap", ...wallsOf(wanted), ...mountsOf(mounts, places)];
  const last = isRootReadOnly ? ["--remount-ro", "/"] : [];
  const args = [...bwrap, "--chdir", folder, ...last, "--", ...command];
  const child = isRoot
    ? asRoot(stage, places, user, args)
    : spawn("/bin/bash", ["--norc", "-c", `${closeAll}; exec "$@"`, "", ...args]);
  child.stdin.on("error", () => {});
  const kill = () => {
    child.kill("SIGKILL");
    // What bubblewrap had begun and not tied to itself yet has nothing to wait for any more.
    child.stdin.destroy();
    letGo(child);
  };
  return { child, kill, clean };
}

/** What a program has left behind may hold its pipes for as long as it lives; nobody waits for that. */
export function letGo({ stdin, stdout, stderr }: ChildProcessWithoutNullStreams): void {
  systemClock.after(lastWordsMs, () => [stdin, stdout, stderr].forEach((stream) => void stream.destroy()));
}

function depthOf(path: string): number {
  return path.split("/").length;
}

function wallsOf({ user, group, hasNetwork, hasNoCapabilities, sharedMemoryBytes }: WantedContainer) {
  const namespaces = ["user", "pid", "ipc", "uts", "cgroup", ...(hasNetwork ? [] : ["net"])];
  const short = ["bin", "sbin", "lib", "lib32", "lib64", "libx32"].flatMap((name) => {
    const found = lstatSync(`/${name}`, { throwIfNoEntry: false });
    return found?.isSymbolicLink() ? ["--symlink", readlinkSync(`/${name}`), `/${name}`] : [];
  });
  const settings = ["alternatives", "ld.so.cache", "fonts", "matplotlibrc", "localtime"];
  return [
    ...namespaces.map((name) => `--unshare-${name}`),
    ...["--disable-userns", "--uid", `${user}`, "--gid", `${group}`, "--hostname", "sandbox", "--clearenv"],
    ...["--new-session", "--die-with-parent", "--as-pid-1"],
    ...(hasNoCapabilities ? ["--cap-drop", "ALL"] : []),
    ...["--ro-bind", "/usr", "/usr", ...short],
    // The image has a node of its own.
    ...["--tmpfs", "/usr/local/bin", "--ro-bind", process.execPath, "/usr/local/bin/node"],
    ...settings.flatMap((name) => ["--ro-bind-try", `/etc/${name}`, `/etc/${name}`]),
    ...["--proc", "/proc", "--dev", "/dev", "--perms", "1777", "--size", `${sharedMemoryBytes}`, "--tmpfs", "/dev/shm"],
    ...["--remount-ro", "/dev", "--remount-ro", "/usr/local/bin"],
  ];
}

function mountsOf(mounts: readonly WantedMount[], places: ReadonlyMap<string, string>): string[] {
  return mounts.flatMap((mount) =>
    "bytes" in mount
      ? ["--perms", "1777", "--size", mount.bytes, "--tmpfs", mount.inside]
      : [mount.readOnly ? "--ro-bind" : "--bind", places.get(mount.source) ?? mount.source, mount.inside],
  );
}

/** What this process itself was started with is none of a container's business; no runtime hands it on. */
const closeAll = 'for fd in /proc/$$/fd/*; do fd=${fd##*/}; [ "$fd" -gt 2 ] && eval "exec $fd<&-"; done';

/** Root mounts, and the runtime goes on as the container's user, who need not be able to get to the folders himself. */
function asRoot(stage: string, places: ReadonlyMap<string, string>, user: number, args: readonly string[]) {
  const lines = Array.from(places, ([source, place]) => {
    if (statSync(source).isDirectory()) mkdirSync(place);
    else writeFileSync(place, "");
    return `${[source, place].map((path) => path.replaceAll(" ", "\\040")).join(" ")} none bind\n`;
  });
  const table = join(stage, "table");
  // One process mounts all: each costs as much as a program that a test runs inside.
  writeFileSync(table, lines.join(""));
  const script = `${closeAll}; chmod 711 '${stage}' && mount -a -T '${table}' && exec setpriv --reuid ${user} --regid ${user} --clear-groups "$@"`;
  return spawn("/usr/bin/unshare", ["-m", "/bin/bash", "--norc", "-c", script, "runtime", ...args], {
    env: { PATH: "/usr/sbin:/usr/bin:/sbin:/bin" },
  });
}
