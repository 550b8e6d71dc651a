import { existsSync } from "node:fs";
import type { Opened } from "../guest/sources.ts";

/**
 * The command that puts open folders where a guest's user can reach them, and then becomes bwrap as that user. For root
 * only, whose workspaces often lie below a closed home. The mounts are in a namespace of their own that ends with the
 * guest: nothing of them is on the host, nothing is left behind.
 */
export function stagedCommand(
  wanted: { readonly opened: readonly Opened[]; readonly uid: number },
  bwrap: readonly string[],
): string[] {
  const { opened, uid } = wanted;
  // Looked up at this process, for a descriptor that is handed on would go on into the guest. What is open belongs to
  // the namespace we came from and cannot be bound here; so its name is, and then compared.
  const open = opened.map(({ fd }) => `/proc/${process.pid}/fd/${fd}`);
  const places = (isFolder: boolean) =>
    opened.flatMap((one, index) => (one.isFolder === isFolder ? [stagedPath(index)] : []));
  const script = [
    `mount -t tmpfs -o mode=0711,size=64k,nosuid,nodev none ${stage}`,
    ...(places(true).length > 0 ? [`mkdir ${places(true).join(" ")}`] : []),
    ...places(false).map((place) => `: > ${place}`),
    ...(opened.length > 0 ? [bindAll(open)] : []),
    ...open.map((path, index) => `test ${stagedPath(index)} -ef ${path}`),
    `exec setpriv --reuid ${uid} --regid ${uid} --clear-groups --inh-caps=-all -- "$@"`,
  ].join("\n");
  return [unshare, "--mount", "--propagation", "private", "--", "/bin/sh", "-ec", script, "stage", ...bwrap];
}

/** All in one process: to start one takes longer than to bind. Names that such a list would garble get one of their own. */
function bindAll(open: readonly string[]): string {
  return `n=0
readlink ${open.join(" ")} | while IFS= read -r name; do
  case $name in
    *[[:space:]\\\\#]*) mount --bind "$name" ${stage}/$n >&2 ;;
    *) printf '%s ${stage}/%s none bind 0 0\\n' "$name" $n ;;
  esac
  n=$((n + 1))
done > ${stage}/list
mount --all --fstab ${stage}/list
: > ${stage}/list`;
}

const unshare = "/usr/bin/unshare";
/** Covered in that namespace only; bwrap and its libraries are not there. */
const stage = "/mnt";

export function stagedPath(index: number): string {
  return `${stage}/${index}`;
}

/** util-linux has it all, and is nearly everywhere. */
export function canStage(): boolean {
  return [unshare, "/usr/bin/setpriv", "/usr/bin/mount", stage].every((path) => existsSync(path));
}
