import { timingSafeEqual } from "node:crypto";

// What all who let somebody in by a signature need, whatever it is that was signed.

/** How long it takes tells nothing of where they differ. */
export function isSameSecret(given: string, right: string): boolean {
  const [one, other] = [Buffer.from(given), Buffer.from(right)];
  return one.length === other.length && timingSafeEqual(one, other);
}

/** More than anybody sends us in two minutes; only who has the secret comes to be remembered at all. */
export const rememberedMax = 100_000;

/** Whether something that counts once comes for the first time. What is good no longer need not be remembered. */
export function createOnce(): (once: string, until: number, now: number) => boolean {
  /** In the order in which they came. */
  const untils = new Map<string, number>();
  return (once, until, now) => {
    for (const [old, oldUntil] of untils) {
      if (oldUntil >= now && untils.size < rememberedMax) break;
      untils.delete(old);
    }
    if (untils.has(once)) return false;
    untils.set(once, until);
    return true;
  };
}
