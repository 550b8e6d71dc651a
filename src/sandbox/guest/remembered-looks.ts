import { whenOver } from "../../base/background.ts";
import type { Clock } from "../../base/clock.ts";

/** Something that is missing may have been mended meanwhile, and nothing tells. */
const missingAgainMs = 10_000;

/** The same answer until somebody asks anew. Without a host in it, it counts for a short time only. */
export function rememberLooks<T extends { readonly host: unknown }>(clock: Clock, lookAround: () => Promise<T>) {
  let looking: Promise<T> | undefined;
  let staleAt = Number.POSITIVE_INFINITY;
  const lookAgain = async () => {
    staleAt = Number.POSITIVE_INFINITY;
    let looked: T | undefined;
    try {
      looked = await lookAround();
    } finally {
      if (looked?.host === undefined) staleAt = clock.monotonic() + missingAgainMs;
    }
    return looked;
  };
  return {
    look(isFresh = false) {
      if (looking === undefined || isFresh || clock.monotonic() >= staleAt) looking = lookAgain();
      return looking;
    },
    forget() {
      looking = undefined;
    },
    async settled() {
      if (looking !== undefined) await whenOver(looking);
    },
  };
}
