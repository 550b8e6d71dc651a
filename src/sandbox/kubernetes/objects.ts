import type { Clock } from "../../base/clock.ts";
import { failed, type Result } from "../../base/result.ts";
import type { CallFault } from "../guest/http-call.ts";
import type { ClusterApi } from "./api.ts";
import { detailOf, isPassing } from "./faults.ts";

type Place = { readonly api: ClusterApi; readonly clock: Clock };
type Named = { readonly path: string; readonly name: string };

/** First and longest pause before a cluster is asked again that has too much to do. */
const againMs = 250;
const againMsMax = 5000;

/** Asked again as long as the cluster only says that it is busy, and as often as it allows. */
export async function makeObject(
  { api, clock }: Place,
  { path, body }: Named & { readonly body: unknown },
  signal?: AbortSignal,
): Promise<Result<unknown, CallFault>> {
  let busy: CallFault | undefined;
  for (let pauseMs = againMs; ; pauseMs = Math.min(2 * pauseMs, againMsMax)) {
    const made = await api.ask("POST", path, { body, signal });
    if (made.ok) return made;
    // Time is over in the middle of the last question: what was said before tells why, and it may have been done all the same.
    if (busy !== undefined && made.failure.why === "late") return failed({ ...made.failure, said: detailOf(busy) });
    if (!isPassing(made.failure)) return made;
    busy = made.failure;
    const waited = await clock.wait(Math.max(pauseMs, made.failure.retryAfterMs ?? 0), signal);
    if (waited === "aborted") return failed(made.failure);
  }
}

/** Its programs have a second: they are not asked to end, and need no more. */
export async function removeObject(
  { api }: Pick<Place, "api">,
  { path, name }: Named,
  signal?: AbortSignal,
): Promise<"asked" | "absent" | "not_asked"> {
  const asked = await api.ask("DELETE", `${path}/${name}?gracePeriodSeconds=1`, { signal });
  if (asked.ok) return "asked";
  return asked.failure.status === 404 ? "absent" : "not_asked";
}
