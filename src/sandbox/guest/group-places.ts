import { readFileSync } from "node:fs";
import { join } from "node:path";

export type Controller = "memory" | "pids" | "cpu" | "cpuacct" | "freezer" | "unified";

/** Where the group of a controller is, as files. */
export type GroupFolder = { readonly folder: string; readonly version: 1 | 2 };

const old: readonly Controller[] = ["memory", "pids", "cpu", "cpuacct", "freezer"];

/** The group that a process is in, one folder per controller. Empty: it is gone, or not on this machine. */
export function placesOf(pid: number, proc = "/proc"): Map<Controller, GroupFolder> {
  const groups = groupsIn(readText(join(proc, `${pid}/cgroup`)) ?? "");
  const places = new Map<Controller, GroupFolder>();
  for (const mount of cgroupMounts(readText(join(proc, "self/mountinfo")) ?? "")) {
    const folder = folderOf(mount, mount.isUnified ? groups.get("") : groups.get(mount.controllers));
    if (folder === undefined) continue;
    const offered = (readText(join(folder, "cgroup.controllers")) ?? "").trim().split(/\s+/);
    const found = mount.isUnified ? old.filter((name) => offered.includes(name)) : oldControllers(mount.controllers);
    for (const name of found) if (!places.has(name)) places.set(name, { folder, version: mount.isUnified ? 2 : 1 });
  }
  return places;
}

type Mount = {
  readonly isUnified: boolean;
  readonly root: string;
  readonly folder: string;
  readonly controllers: string;
};

/** `35 34 0:30 / /sys/fs/cgroup/memory rw,relatime - cgroup cgroup rw,memory` */
export function cgroupMounts(mountinfo: string): Mount[] {
  return mountinfo.split("\n").flatMap((line) => {
    const [before = "", after = ""] = line.split(" - ");
    const [, , , root = "/", folder = "/"] = before.split(" ");
    const [type, , options = ""] = after.split(" ");
    if (type !== "cgroup" && type !== "cgroup2") return [];
    const controllers = options.split(",").filter((option) => old.some((controller) => controller === option));
    return [{ isUnified: type === "cgroup2", root, folder, controllers: controllers.sort().join(",") }];
  });
}

/** `4:cpu,cpuacct:/some/group`: by its controllers that we know, the unified hierarchy by none. */
export function groupsIn(text: string): Map<string, string> {
  const groups = new Map<string, string>();
  for (const line of text.split("\n")) {
    const [number, names = "", ...path] = line.split(":");
    const known = names.split(",").filter((name) => old.some((controller) => controller === name));
    if (number === "0" || known.length > 0) groups.set(known.sort().join(","), path.join(":"));
  }
  return groups;
}

/** In a container a hierarchy is often mounted from the container's group on, and not from its root. */
export function folderOf({ root, folder }: Mount, group: string | undefined): string | undefined {
  if (group === undefined || group.includes("..")) return undefined;
  if (root === "/") return join(folder, group);
  return group === root || group.startsWith(`${root}/`) ? join(folder, group.slice(root.length)) : undefined;
}

export function oldControllers(controllers: string): Controller[] {
  return old.filter((controller) => controllers.split(",").includes(controller));
}

/** Undefined: not there, or not for us. Files of the kernel are read whole; they are small. */
export function readText(path: string): string | undefined {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return undefined;
  }
}
