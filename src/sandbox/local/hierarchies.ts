import { existsSync, mkdirSync, readFileSync, rmdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { systemCode } from "../../base/fault.ts";

export type Controller = "memory" | "pids" | "cpu" | "cpuacct" | "freezer" | "unified";

/** Where groups of ours can be made for a controller. */
export type GroupFolder = { readonly folder: string; readonly version: 1 | 2 };

/** The limits that we ask for. */
const limiting = ["memory", "pids", "cpu"] as const;
const old: readonly Controller[] = [...limiting, "cpuacct", "freezer"];

/**
 * One folder per controller, below the group that this process is in: a guest then stays within what its host was
 * given. Old hierarchies have some controllers each, the unified one has the rest; a machine may have both.
 */
export function findPlaces(mark: string, proc = "/proc"): Map<Controller, GroupFolder> {
  const places = new Map<Controller, GroupFolder>();
  const groups = ownGroups(readText(join(proc, "self/cgroup")) ?? "");
  for (const mount of cgroupMounts(readText(join(proc, "self/mountinfo")) ?? "")) {
    const base = folderOf(mount, mount.isUnified ? groups.get("") : groups.get(mount.controllers));
    if (base === undefined) continue;
    const folder = join(base, `agentyard-${mark}`);
    const found = mount.isUnified ? unifiedControllers(base, mark) : oldControllers(mount.controllers);
    if (found.length === 0 || !makeFolder(folder)) continue;
    if (mount.isUnified) giveOn(folder, found);
    for (const controller of found)
      if (!places.has(controller)) places.set(controller, { folder, version: mount.isUnified ? 2 : 1 });
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
function cgroupMounts(mountinfo: string): Mount[] {
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
function ownGroups(text: string): Map<string, string> {
  const groups = new Map<string, string>();
  for (const line of text.split("\n")) {
    const [number, names = "", ...path] = line.split(":");
    const known = names.split(",").filter((name) => old.some((controller) => controller === name));
    if (number === "0" || known.length > 0) groups.set(known.sort().join(","), path.join(":"));
  }
  return groups;
}

/** In a container a hierarchy is often mounted from the container's group on, and not from its root. */
function folderOf({ root, folder }: Mount, group: string | undefined): string | undefined {
  if (group === undefined || group.includes("..")) return undefined;
  if (root === "/") return join(folder, group);
  return group === root || group.startsWith(`${root}/`) ? join(folder, group.slice(root.length)) : undefined;
}

function oldControllers(controllers: string): Controller[] {
  return old.filter((controller) => controllers.split(",").includes(controller));
}

/** Those it can limit; "unified" itself always, because its groups can be ended in one stroke. */
function unifiedControllers(base: string, mark: string): Controller[] {
  const offered = words(readText(join(base, "cgroup.controllers")));
  const wanted = limiting.filter((controller) => offered.includes(controller));
  if (wanted.length > 0 && !giveOn(base, wanted)) {
    // A group with processes of its own gives no controller on: this process steps aside into one below.
    const aside = asideOf(join(base, `agentyard-${mark}`));
    const hasMoved = makeFolder(aside) && writeText(join(aside, "cgroup.procs"), `${process.pid}`);
    if (hasMoved && !giveOn(base, wanted)) {
      writeText(join(base, "cgroup.procs"), `${process.pid}`); // Others live here too, and they stay.
      removeFolder(aside);
    }
  }
  const given = words(readText(join(base, "cgroup.subtree_control")));
  return ["unified", ...wanted.filter((controller) => given.includes(controller))];
}

function asideOf(folder: string): string {
  return `${folder}-server`;
}

/** Where this process stepped aside it goes back, and nothing of ours is left; the groups of guests are gone by then. */
export function stepBack({ folder }: GroupFolder): void {
  const aside = asideOf(folder);
  if (!existsSync(aside)) return;
  const base = dirname(folder);
  // As long as a group gives controllers on it takes no process. They stay where somebody else uses them.
  const given = words(readText(join(base, "cgroup.subtree_control"))).filter((word) => word !== "");
  writeText(join(base, "cgroup.subtree_control"), given.map((controller) => `-${controller}`).join(" "));
  if (writeText(join(base, "cgroup.procs"), `${process.pid}`)) removeFolder(aside);
}

/** Each on its own: one that is refused does not keep the others away. */
function giveOn(folder: string, controllers: readonly Controller[]): boolean {
  const given = words(readText(join(folder, "cgroup.subtree_control")));
  return controllers
    .filter((controller) => controller !== "unified" && !given.includes(controller))
    .map((controller) => writeText(join(folder, "cgroup.subtree_control"), `+${controller}`))
    .every((isDone) => isDone);
}

function words(text: string | undefined): string[] {
  return (text ?? "").trim().split(/\s+/);
}

/** Undefined: not there, or not for us. Files of the kernel are read whole; they are small. */
export function readText(path: string): string | undefined {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return undefined;
  }
}

/** False: the kernel did not take it. */
export function writeText(path: string, text: string): boolean {
  try {
    writeFileSync(path, text);
    return true;
  } catch {
    return false;
  }
}

export function makeFolder(path: string): boolean {
  try {
    mkdirSync(path);
    return true;
  } catch (error) {
    return systemCode(error) === "EEXIST";
  }
}

/** True: it is gone. A group with processes stays. */
export function removeFolder(path: string): boolean {
  try {
    rmdirSync(path);
    return true;
  } catch (error) {
    return systemCode(error) === "ENOENT";
  }
}
