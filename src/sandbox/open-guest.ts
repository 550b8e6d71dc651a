import { unreachable } from "../base/assert.ts";
import { ok, type Result } from "../base/result.ts";
import { type Failure, failure } from "../protocol/failure.ts";
import type { FileFailure, Workspace } from "../workspace/workspace.ts";
import type { GuestFailure, GuestOrder, GuestsOptions } from "./guests.ts";
import type { Guest, GuestWanted, Lack, SandboxFault } from "./provider.ts";

type Parts = Pick<GuestsOptions, "provider" | "ids" | "logger" | "settings" | "network" | "folderOf" | "onMounted">;

/** Starts a guest that sees the workspace of a place and nothing else; what went wrong on the host stays in the log. */
export async function openGuest(parts: Parts, order: GuestOrder): Promise<Result<Guest, GuestFailure>> {
  try {
    return await open(parts, order);
  } catch (error) {
    // Whoever waits for this guest must not wait for ever because of a mistake of ours, nor all others with them.
    parts.logger.error("a sandbox could not be started", { error });
    return failure("sandbox_start_failed", { why: "broke_down" });
  }
}

/** A folder is put in its place once. */
const triesMax = 2;

async function open(parts: Parts, order: GuestOrder, tries = triesMax): Promise<Result<Guest, GuestFailure>> {
  const { provider, ids, logger } = parts;
  const mounted = order.place.workspace === undefined ? ok(nothing) : await mountOf(order.place.workspace);
  if (!mounted.ok) return mounted;
  const { release, ...mount } = mounted.value;
  const { limits, env } = order.session;
  const id = ids.hex(16);
  const { owner } = order.place;
  const start = async () => {
    const ways = { network: parts.network.wayOut(owner), packages: await parts.folderOf(owner) };
    return provider.open({ id, ...mount, ...ways, limits, env, near: owner });
  };
  const opened = await start().catch((error) => {
    release();
    throw error;
  });
  if (opened.ok) {
    if (mount.workspace !== undefined) parts.onMounted?.(owner, true);
    void opened.value.ended.then(release);
    return opened;
  }
  release();
  // Something was written to the task in this moment, and its folder is in another place by now: there it is found.
  if (tries > 1 && (await hasMoved(order.place.workspace, mount))) return open(parts, order, tries - 1);
  const { why, said } = opened.failure;
  if (why === "wrong_workspace") parts.onMounted?.(owner, false);
  logger.warn("a sandbox could not be started", { guest: id, why, said });
  return startRefusal(parts, opened.failure);
}

type Mount = Pick<GuestWanted, "workspace" | "uid">;
type Mounted = Mount & { readonly release: () => void };
const nothing: Mounted = { workspace: undefined, uid: undefined, release() {} };

async function mountOf(workspace: Workspace): Promise<Result<Mounted, GuestFailure>> {
  const found = await workspace.guestFolder();
  if (!found.ok) return fileRefusal(found.failure);
  const { uid, release, ...mounted } = found.value;
  return ok({ workspace: mounted, uid, release });
}

async function hasMoved(workspace: Workspace | undefined, mount: Mount): Promise<boolean> {
  const now = await workspace?.guestFolder();
  if (now?.ok !== true) return false;
  now.value.release();
  return now.value.folder !== mount.workspace?.folder;
}

/** What keeps a program from being run, in the words that are known for it. */
export function fileRefusal(fault: FileFailure): { readonly ok: false; readonly failure: GuestFailure } {
  switch (fault.code) {
    case "workspace_not_assigned":
    case "write_failed":
    case "quota_exceeded":
    case "path_invalid":
    case "path_traversal_blocked":
      return { ok: false, failure: fault };
    default:
      return failure("write_failed", { path: ".", why: "io" });
  }
}

/** Why a guest did not start. */
export async function startRefusal(
  { provider }: Pick<Parts, "provider">,
  { why }: SandboxFault,
): Promise<{
  readonly ok: false;
  readonly failure: Failure<"sandbox_unavailable" | "sandbox_start_failed" | "sandbox_full">;
}> {
  switch (why) {
    case "unavailable": {
      const [lack] = (await provider.probe({ fresh: true })).missing;
      if (lack === undefined) return failure("sandbox_start_failed", { why: "start_failed" });
      return unavailable(lack);
    }
    case "full":
      return failure("sandbox_full", { retryAfterSeconds });
    case "start_failed":
    case "start_timeout":
    case "wrong_workspace":
      return failure("sandbox_start_failed", { why });
    default:
      return unreachable(why);
  }
}

/** Nobody can run code here before somebody sees to it. */
export function unavailable({ name: lack, reason, fix, about }: Lack) {
  return failure("sandbox_unavailable", { lack, reason, fix, ...about });
}

const retryAfterSeconds = 5;
