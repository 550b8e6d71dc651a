import { z } from "zod";
import type { Clock } from "../../base/clock.ts";
import type { Engine } from "./engine.ts";

type Place = { readonly engine: Engine; readonly clock: Clock };

/** How long an engine is asked to remove a container: one that is not gone by then is found by whoever sweeps later. */
const removeMsMax = 15_000;
const removeAgainMs = 3000;

const waited = z.object({ StatusCode: z.number() });
const looksMax = 20;
const lookMs = 500;

/**
 * Follows a container to its end. Without `kill` it may take as long as it likes; after that `ended` comes in time, even
 * where the engine takes every request and answers none.
 */
export function followContainer({ engine, clock }: Place, container: string) {
  const over = new AbortController();
  const ended = whenGone({ engine, clock }, container, over.signal);
  void ended.then(() => over.abort());
  let isAsked = false;
  const kill = async () => {
    if (isAsked) return;
    isAsked = true;
    for (let askedMs = 0; askedMs < removeMsMax; askedMs += removeAgainMs) {
      void removeContainer(engine, container, over.signal);
      if ((await clock.wait(removeAgainMs, over.signal)) === "aborted") return;
    }
    over.abort();
  };
  return { ended, kill: () => void kill() };
}

/** An engine that is started anew does not know who waited, so it is asked again; one that stays away tells nobody. */
async function whenGone(
  { engine, clock }: Place,
  container: string,
  signal: AbortSignal,
): Promise<{ readonly code: number | null }> {
  for (let look = 1; look <= looksMax; look += 1) {
    const path = `/containers/${container}/wait?condition=removed`;
    const answered = await engine.ask("POST", path, { timeoutMs: null, signal });
    if (answered.ok) return { code: waited.safeParse(answered.value).data?.StatusCode ?? null };
    if (answered.failure.status === 404) break;
    if ((await clock.wait(lookMs, signal)) === "aborted") break;
    void removeContainer(engine, container, signal);
  }
  return { code: null };
}

/** One whose making was asked for and not confirmed: it may be there only a moment later. */
export async function removeUnconfirmed({ engine, clock }: Place, name: string): Promise<void> {
  for (let askedMs = 0; askedMs < removeMsMax; askedMs += removeAgainMs) {
    const over = new AbortController();
    const removed = removeContainer(engine, name, over.signal);
    const late = clock.wait(removeAgainMs, over.signal).then(() => "late" as const);
    const how = await Promise.race([removed, late]);
    if (how === "removed" || how === "unreachable") return over.abort();
    await late;
    over.abort();
  }
}

/** What is gone already, or on its way, is as good for most. */
export async function removeContainer(
  engine: Engine,
  container: string,
  signal?: AbortSignal,
): Promise<"removed" | "unreachable" | "not_removed"> {
  const asked = await engine.ask("DELETE", `/containers/${container}?force=1&v=1`, { signal });
  if (asked.ok) return "removed";
  return asked.failure.why === "unreachable" ? "unreachable" : "not_removed";
}
