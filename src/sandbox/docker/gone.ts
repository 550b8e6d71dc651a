import { z } from "zod";
import type { Clock } from "../../base/clock.ts";
import { removeInTime } from "../guest/removal.ts";
import type { DockerEngine } from "./engine.ts";

type Place = { readonly engine: DockerEngine; readonly clock: Clock };

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
    // It is not the answer that counts: `ended` comes when it is gone.
    const ask = () => removeContainer(engine, container, over.signal).then(() => false);
    if ((await removeInTime(clock, over.signal, ask)) === "late") over.abort();
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
  const over = new AbortController();
  const ask = async () => (await removeContainer(engine, name, over.signal)) !== "not_removed";
  await removeInTime(clock, over.signal, ask);
  over.abort();
}

/** What is gone already, or on its way, is as good for most. */
export async function removeContainer(
  engine: DockerEngine,
  container: string,
  signal?: AbortSignal,
): Promise<"removed" | "unreachable" | "not_removed"> {
  const asked = await engine.ask("DELETE", `/containers/${container}?force=1&v=1`, { signal });
  if (asked.ok) return "removed";
  return asked.failure.why === "unreachable" ? "unreachable" : "not_removed";
}
