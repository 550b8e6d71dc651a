import { existsSync, mkdirSync, rmdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { systemCode } from "../../base/fault.ts";
import {
  type Controller,
  cgroupMounts,
  folderOf,
  type GroupFolder,
  groupsIn,
  oldControllers,
  readText,
} from "../guest/group-places.ts";

/** The limits that we ask for. */
const limiting = ["memory", "pids", "cpu"] as const;

/**
 * One folder per controller, below the group that this process is in: a guest then stays within what its host was
 * given. Old hierarchies have some controllers each, the unified one has the rest; a machine may have both.
 */
export function findPlaces(installation: string, proc = "/proc"): Map<Controller, GroupFolder> {
  const places = new Map<Controller, GroupFolder>();
  const groups = groupsIn(readText(join(proc, "self/cgroup")) ?? "");
  for (const mount of cgroupMounts(readText(join(proc, "self/mountinfo")) ?? "")) {
    const base = folderOf(mount, mount.isUnified ? groups.get("") : groups.get(mount.controllers));
    if (base === undefined) continue;
    const folder = join(base, `agentyard-${installation}`);
    const found = mount.isUnified ? unifiedControllers(base, installation) : oldControllers(mount.controllers);
    if (found.length === 0 || !makeFolder(folder)) continue;
    if (mount.isUnified) giveOn(folder, found);
    for (const controller of found)
      if (!places.has(controller)) places.set(controller, { folder, version: mount.isUnified ? 2 : 1 });
  }
  return places;
}

/** Those it can limit; "unified" itself always, because its groups can be ended in one stroke. */
function unifiedControllers(base: string, installation: string): Controller[] {
  const offered = words(readText(join(base, "cgroup.controllers")));
  const wanted = limiting.filter((controller) => offered.includes(controller));
  if (wanted.length > 0 && !giveOn(base, wanted)) {
    // A group with processes of its own gives no controller on: this process steps aside into one below.
    const aside = asideOf(join(base, `agentyard-${installation}`));
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
