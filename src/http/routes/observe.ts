import { ok, type Result } from "../../base/result.ts";
import { type Failure, failure } from "../../protocol/failure.ts";
import type { Handlers, Parts } from "../handler.ts";

/** Anybody may ask whether we are ready: however many do, the database is tried once in this time. */
const lookMs = 1_000;

export function observeHandlers({ storage, clock, metrics }: Parts): Pick<Handlers, "alive" | "ready" | "metrics"> {
  let looked: { readonly at: number; readonly found: Promise<Result<void, Failure>> } | undefined;
  const look = () => {
    if (looked === undefined || clock.monotonic() - looked.at >= lookMs)
      looked = { at: clock.monotonic(), found: storage.check() };
    return looked.found;
  };
  return {
    async alive() {
      return ok({ status: "ok" });
    },
    async ready({ leaving }) {
      const found = leaving.aborted ? undefined : await look();
      if (found?.ok) return ok({ status: "ready" });
      // A database that was taken away does not come back by itself.
      if (found?.failure.code === "storage_broken") return failure("not_ready", { why: "broken" });
      return { ...failure("not_ready", { why: "passing" }), headers: { "retry-after": "1" } };
    },
    async metrics() {
      if (metrics?.isOn !== true) return failure("route_not_found", { path: "/metrics" });
      return ok(await metrics.text());
    },
  };
}
