import type { Risk } from "../../protocol/approval.ts";
import { readOptions, valuedByRsync } from "./options.ts";
import { holdsAll, isGlob, isOfUploads, isTemporary, placesOf } from "./paths.ts";
import { any, type Call, type Run, report, risks } from "./scene.ts";
import { foundBy } from "./wrappers.ts";

/** Deleting is free below `temp/` and in a sandbox's own `/tmp`, and asks everywhere else. */
export function judgeTargets(run: Run, targets: readonly string[], isDeep: boolean, what: string): void {
  const places = targets.flatMap((target) => placesOf(run.scene, run.state, target));
  const lost = places.filter((place) => !isTemporary(run.scene, place));
  if (lost.length === 0) return;
  const worst = lost
    .map((place) => riskOfDelete(run, place, isDeep))
    .sort((a, b) => risks.indexOf(b) - risks.indexOf(a));
  report(run.scene, "delete", worst[0] ?? "medium", what);
}

/** All files, a folder they lie in, or what the user brought is critical; see the table in `scene.ts`. */
function riskOfDelete(run: Run, place: string, isDeep: boolean): Risk {
  const { scene } = run;
  // What lies below a folder is as much as the folder.
  const folder = place.replace(/\/[*\uE001]$/, "") || "/";
  if (isOfUploads(scene, place) || (isDeep && (holdsAll(scene, place) || holdsAll(scene, folder)))) return "critical";
  return isDeep || isGlob(place) || place.includes(any) ? "high" : "medium";
}

/** Programs that delete, each by its own words. */
export function judgeDelete(call: Call): void {
  const { program, args, what } = call;
  const { rest, flags } = readOptions(args);
  const isDeep =
    flags.has("r") || flags.has("R") || [...flags].some((flag) => flag.length > 2 && "recursive".startsWith(flag));
  switch (program) {
    // `rm ""` deletes nothing; for others it may be the folder they stand in.
    case "rm":
    case "srm":
    case "wipe":
    case "rip":
    case "trash":
    case "trash-put":
    case "rimraf":
    case "del-cli":
      return judgeTargets(call, program === "rm" ? rest.filter(Boolean) : rest, isDeep, what);
    case "unlink":
    case "rmdir":
      return judgeTargets(call, rest, false, what);
    case "shred":
    case "scrub":
      return judgeTargets(call, readOptions(args, ["n", "s", "iterations", "size"]).rest, false, what);
    case "find":
      if (args.includes("-delete")) judgeTargets(call, foundBy(call), true, what);
      return;
    case "mv":
    case "rename":
      return judgeMove(call);
    case "rsync":
      return judgeSync(call);
    case "tar":
      if (args.some((arg) => /^--remove-f/.test(arg))) judgeTargets(call, membersOf(rest), true, what);
      if (args.includes("--delete")) judgeTargets(call, rest.slice(0, 1), false, what);
      return;
    case "zip":
      if (flags.has("m") || flags.has("move")) judgeTargets(call, rest.slice(1), true, what);
      if (flags.has("d") || flags.has("delete")) judgeTargets(call, rest.slice(0, 1), false, what);
      return;
    case "7z":
    case "7za":
    case "7zz":
      if (args.includes("-sdel")) judgeTargets(call, rest.slice(2), true, what);
      if (rest[0] === "d") judgeTargets(call, rest.slice(1, 2), false, what);
      return;
    case "gio":
      if (/^(trash|remove)$/.test(rest[0] ?? "")) judgeTargets(call, rest.slice(1), true, what);
      return;
    case "fdupes":
      if (flags.has("d") || flags.has("delete")) judgeTargets(call, rest, true, what);
      return;
    case "crontab":
      if (flags.has("r")) report(call.scene, "delete", "medium", what);
      return;
  }
}

/** The name of the archive stands first, behind its option or in a cluster: what is left are the members. */
function membersOf(rest: readonly string[]): readonly string[] {
  const [first = ""] = rest;
  return /^[a-zA-Z]*[cru][a-zA-Z]*$/.test(first) && !first.includes("/") ? rest.slice(2) : rest.slice(1);
}

/**
 * A move renames, and that is harmless, but where the new place does not keep it: `temp/` is emptied by a reset and by
 * clean-up, `/tmp` ends with the sandbox, `/dev/null` keeps nothing. Moves out of `uploads/` are judged as changes of it.
 */
function judgeMove(call: Call): void {
  const { rest, values } = readOptions(call.args, ["t", "target-directory", "S", "suffix"]);
  const given = values.get("t")?.[0] ?? values.get("target-directory")?.[0];
  const to = given ?? rest.at(-1);
  const from = given === undefined ? rest.slice(0, -1) : rest;
  if (to === undefined || from.length === 0) return;
  const { scene, state, what } = call;
  const isLost = placesOf(scene, state, to).some((place) => isTemporary(scene, place) || place === "/dev/null");
  if (isLost) judgeTargets(call, from, false, what);
}

function judgeSync(call: Call): void {
  const { rest, flags } = readOptions(call.args, valuedByRsync);
  const local = (path: string) => !/^[^/]+:/.test(path);
  const sources = flags.has("remove-source-files") ? rest.slice(0, -1) : [];
  const deletes = [...flags].some((flag) => /^(del|delete.*)$/.test(flag));
  const targets = [...sources, ...(deletes ? rest.slice(-1) : [])];
  judgeTargets(call, targets.filter(local), true, call.what);
}
