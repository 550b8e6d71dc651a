import { z } from "zod";
import { inBackground } from "../../base/background.ts";
import type { Clock } from "../../base/clock.ts";
import { derivedHex } from "../../base/ids.ts";
import { parsedJson } from "../../base/json.ts";
import { ok, type Result } from "../../base/result.ts";
import { type Failure, failure } from "../../protocol/failure.ts";
import type { OwnerId } from "../../protocol/ids.ts";
import type { Storage } from "../../storage/storage.ts";
import type { Once } from "../handler.ts";

/** A call under an `Idempotency-Key`. */
export type KeyedCall = {
  readonly owner: OwnerId;
  readonly key: string;
  /** What is asked, as far as that is known before the body of an upload is read. */
  readonly fingerprint: string;
  readonly signal: AbortSignal;
};

/** What a repeat is answered. `content`: the hash of the bytes that came with the call. */
export type KeptAnswer = z.infer<typeof KeptAnswer>;
const KeptAnswer = z.object({
  status: z.number().int(),
  headers: z.record(z.string(), z.string()),
  body: z.string().nullable(),
  content: z.string().optional(),
});

/** Does the work of a call, or tells what came of it before. */
export type DoOnce = <Done extends { readonly kept: KeptAnswer | undefined }>(
  call: KeyedCall,
  work: (once: Once) => Promise<Done>,
) => Promise<Result<{ readonly done: Done } | { readonly before: KeptAnswer }, Failure>>;

/** For so long a repeat waits for the call that runs; after that it is told to come again. */
const waitMsMax = 10_000;
const retryAfterSeconds = 5;
const keptMs = 24 * 3_600_000;
const tidyEveryMs = 3_600_000;

type OnceParts = {
  readonly storage: OnceStorage;
  readonly clock: Clock;
  /** Hears of our own mistakes. */
  readonly logger?: ((line: string) => void) | undefined;
};

type Running = { readonly fingerprint: string; readonly over: Promise<void> };

/**
 * One thing for each key. A call whose answer was not kept (the process died, it failed on our side, it is a stream or
 * too long) is done again with the same seed: whoever makes something finds by its id that it is there already.
 */
export function openDoOnce(parts: OnceParts): DoOnce {
  const { storage, clock } = parts;
  const running = new Map<string, Running>();
  const tidy = openTidy(parts);
  return async ({ owner, key, fingerprint, signal }, work) => {
    const place = JSON.stringify([owner, key]);
    const claimed = await claim(running, { place, fingerprint, signal, clock });
    if (!claimed.ok) return claimed;
    try {
      tidy();
      const begun = await storage.beginOnce({ owner, key, fingerprint, at: clock.now() });
      if (!begun.ok) return begun;
      const { row, isNew } = begun.value;
      if (row.fingerprint !== fingerprint) return failure("key_used_otherwise", {});
      const before = row.answer === undefined ? undefined : readKept(row.answer);
      if (before !== undefined) return ok({ before });
      const done = await work({ seed: derivedHex(32, owner, key, String(row.at)), isRetry: !isNew });
      // Where this fails, a repeat finds what was made.
      if (done.kept !== undefined) await storage.endOnce(owner, key, JSON.stringify(done.kept));
      return ok({ done });
    } finally {
      claimed.value.release();
    }
  };
}

type OnceStorage = Pick<Storage, "beginOnce" | "endOnce" | "dropOnceBefore">;

type Waiting = Pick<KeyedCall, "fingerprint" | "signal"> & { readonly place: string; readonly clock: Clock };

/** One call at a time; those that waited for it are answered as it was. */
async function claim(
  running: Map<string, Running>,
  { place, fingerprint, signal, clock }: Waiting,
): Promise<Result<{ readonly release: () => void }, Failure>> {
  const until = clock.monotonic() + waitMsMax;
  for (let other = running.get(place); other !== undefined; other = running.get(place)) {
    if (other.fingerprint !== fingerprint) return failure("key_used_otherwise", {});
    const patience = new AbortController();
    const restMs = until - clock.monotonic();
    const isOver = await Promise.race([
      other.over.then(() => true),
      clock.wait(Math.max(0, restMs), AbortSignal.any([signal, patience.signal])).then(() => false),
    ]);
    patience.abort();
    if (!isOver) return failure("key_in_use", { retryAfterSeconds });
  }
  // In the same breath as the look: of many that waited one goes on.
  const { promise: over, resolve: end } = Promise.withResolvers<void>();
  running.set(place, { fingerprint, over });
  return ok({
    release() {
      running.delete(place);
      end();
    },
  });
}

/** One that cannot be read is as good as none. */
function readKept(text: string): KeptAnswer | undefined {
  return KeptAnswer.safeParse(parsedJson(text)).data;
}

/** Rows come only by calls, so calls are when to look for old ones. */
function openTidy({ storage, clock, logger }: OnceParts): () => void {
  let lastAt: number | undefined;
  return () => {
    const now = clock.monotonic();
    if (lastAt !== undefined && now - lastAt < tidyEveryMs) return;
    lastAt = now;
    // What could not be dropped now is dropped later.
    const log = { error: (what: string, { error }: { error: unknown }) => logger?.(`${what}: ${error}`) };
    void inBackground(log, "old answers were not dropped", storage.dropOnceBefore(clock.now() - keptMs));
  };
}
