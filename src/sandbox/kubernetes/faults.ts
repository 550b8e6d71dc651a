import type { CallFault } from "../guest/http-call.ts";
import type { SandboxFault } from "../provider.ts";
import type { PodSeen } from "./follow.ts";

/** As a person reads it. */
export function detailOf({ why, status, said }: CallFault): string {
  return status === 0 ? said || why : `${status} ${said}`.trim();
}

/** Worth asking again in a moment: it has too much to do, or is being started anew. */
export function isPassing({ why, status }: CallFault): boolean {
  return why === "refused" && (status === 429 || status >= 500);
}

/**
 * A cluster that is away, or does not know us, has to be seen to before anything can be started. What it refuses is about
 * this guest, but for a quota: then there is no room.
 */
export function startFault(told: CallFault): SandboxFault {
  const said = detailOf(told);
  if (told.why !== "refused" || isPassing(told)) return { why: "unavailable", said };
  if (told.status === 403 && /exceeded quota/i.test(told.said)) return { why: "full", said };
  return { why: [401, 403, 404].includes(told.status) ? "unavailable" : "start_failed", said };
}

/** Reasons to wait which no waiting mends: somebody has to. */
const hopeless =
  /^(ErrImagePull|ImagePullBackOff|InvalidImageName|ErrImageNeverPull|ImageInspectError|CreateContainerConfigError|CreateContainerError|RunContainerError)$/;

/** Why it never comes to run; undefined while it may. */
export function podFault({ end, waits, isLeaving }: PodSeen): SandboxFault | undefined {
  if (end !== undefined) return { why: "start_failed", said: end.reason };
  if (isLeaving) return { why: "start_failed", said: "removed" };
  if (hopeless.test(waits.reason)) return { why: "unavailable", said: waitsText(waits) };
  return undefined;
}

/** Time is over, and it did not run: for want of room, or because something is not there. */
export function lateFault(seen: PodSeen | undefined): SandboxFault {
  if (seen === undefined) return { why: "start_timeout", said: "" };
  const said = waitsText(seen.waits);
  const isFull = seen.waits.reason === "Unschedulable" && /insufficient|too many pods/i.test(seen.waits.message);
  const isUnbound = /persistentvolumeclaim/i.test(seen.waits.message);
  return { why: isFull ? "full" : isUnbound ? "unavailable" : "start_timeout", said };
}

function waitsText({ reason, message }: PodSeen["waits"]): string {
  return [reason, message].filter(Boolean).join(": ");
}
