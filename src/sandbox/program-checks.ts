import { ok, type Result } from "../base/result.ts";
import { failure } from "../protocol/failure.ts";
import { type Measured, shownPath } from "../workspace/workspace.ts";
import { fileRefusal, unavailable } from "./open-guest.ts";
import { executionLimits, type SandboxProvider } from "./provider.ts";
import type { ProgramFailure, ProgramPlace, ProgramWanted } from "./sandbox.ts";

/**
 * Why a program cannot be run at this place at all, before anything is done for it. A workspace that is too full is no
 * reason by itself: a program is how an agent makes room.
 */
export async function checkProgram(
  provider: Pick<SandboxProvider, "probe">,
  { workspace }: ProgramPlace,
  wanted: ProgramWanted,
): Promise<Result<void, ProgramFailure>> {
  const sizeBytes = Buffer.byteLength(wanted.code);
  const limitBytes = executionLimits.codeBytesMax;
  if (sizeBytes > limitBytes) return failure("code_too_long", { sizeBytes, limitBytes });
  const folder = folderRefusal(wanted.folder ?? "");
  if (folder !== undefined) return folder;
  const [lack] = (await provider.probe()).missing;
  if (lack !== undefined) return unavailable(lack);
  // The look before it runs counts once more: what was left in the background may have written since the last one.
  const measured = await workspace?.measure({ mayBeOld: true });
  if (measured === undefined) return ok(undefined);
  return measured.ok ? (roomRefusal(measured.value) ?? ok(undefined)) : fileRefusal(measured.failure);
}

type Refusal = { readonly ok: false; readonly failure: ProgramFailure };

/** A program inside goes where it likes; what is refused here is a wish that can only be a mistake. */
function folderRefusal(folder: string): Refusal | undefined {
  const path = shownPath(folder);
  if (folder.startsWith("/") || folder.split("/").includes("..")) return failure("path_traversal_blocked", { path });
  if (controlCharacter.test(folder)) return failure("path_invalid", { path, why: "control_character" });
  if (folder.length > executionLimits.folderCharactersMax) return failure("path_invalid", { path, why: "too_long" });
  return undefined;
}

const controlCharacter = /\p{Cc}/u;

/** Without an end to it, one program after another could fill the disk a little more. */
export function roomRefusal({ over, isFarOver, bytesMax, filesMax }: Measured): Refusal | undefined {
  if (over === "disk") return failure("write_failed", { path: ".", why: "full" });
  if (over === undefined || !isFarOver) return undefined;
  const limit = over === "bytes" ? bytesMax : filesMax;
  return failure("quota_exceeded", { path: ".", what: over, limit, setting: `workspace.${over}_max` });
}
