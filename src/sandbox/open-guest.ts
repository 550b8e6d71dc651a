import { unreachable } from "../base/assert.ts";
import { ok, type Result } from "../base/result.ts";
import { type Failure, failure } from "../protocol/failure.ts";
import type { FileFailure, Workspace } from "../workspace/workspace.ts";
import type { GuestFailure, GuestOrder, GuestsOptions } from "./guests.ts";
import type { Guest, GuestWanted, Lack, SandboxFault } from "./provider.ts";

type Host = Pick<GuestsOptions, "provider" | "ids" | "logger" | "settings" | "network" | "folderOf" | "onMounted">;

/** Starts a guest that sees the workspace of a place and nothing else; what went wrong on the host stays in the log. */
export async function openGuest(host: Host, order: GuestOrder): Promise<Result<Guest, GuestFailure>> {
  try {
    return await open(host, order);
  } catch (error) {
    // Whoever waits for this guest must not wait for ever because of a mistake of ours, nor all others with them.
    host.logger.error("a sandbox could not be started", { error });
    return failure("sandbox_start_failed", { why: "broke_down" });
  }
}

async function open(host: Host, order: GuestOrder): Promise<Result<Guest, GuestFailure>> {
  const { provider, ids, logger } = host;
  const mounted = order.place.workspace === undefined ? ok(nothing) : await mountOf(order.place.workspace);
  if (!mounted.ok) return mounted;
  const { limits, env } = order.session;
  const id = ids.hex(16);
  const { owner } = order.place;
  const ways = { network: host.network.wayOut(owner), packages: await host.folderOf(owner) };
  const opened = await provider.open({ id, ...mounted.value, ...ways, limits, env });
  if (opened.ok) {
    if (mounted.value.workspace !== undefined) host.onMounted?.(owner, true);
    return opened;
  }
  const { why, said } = opened.failure;
  if (why === "wrong_workspace") host.onMounted?.(owner, false);
  logger.warn("a sandbox could not be started", { guest: id, why, said });
  return startRefusal(host, opened.failure);
}

type Mount = Pick<GuestWanted, "workspace" | "uid">;
const nothing: Mount = { workspace: undefined, uid: undefined };

async function mountOf(workspace: Workspace): Promise<Result<Mount, GuestFailure>> {
  const found = await workspace.guestFolder();
  if (!found.ok) return fileRefusal(found.failure);
  const { uid, ...mounted } = found.value;
  return ok({ workspace: mounted, uid });
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
  { provider }: Pick<Host, "provider">,
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
