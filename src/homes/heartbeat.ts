import { inBackground, whenOver } from "../base/background.ts";
import type { Clock } from "../base/clock.ts";
import { type ServerRow, type Sharing, serverGoneMs } from "../storage/storage.ts";

export type HeartbeatOptions = {
  readonly storage: Pick<Sharing, "beat">;
  readonly server: ServerRow;
  readonly clock: Clock;
  readonly log: Parameters<typeof inBackground>[0];
  /** Who lives. `isBack`: for a while others may have taken this server for gone, and what it had. */
  readonly onBeat: (living: ReadonlySet<string>, isBack: boolean) => void;
};

const beatMs = 1_000;
/** Others wait for the whole of it before they take what this server has. */
const freshMs = serverGoneMs * 0.8;
const never = { monotonic: Number.NEGATIVE_INFINITY, now: 0 };

/** Says every second that this server lives. */
export function openHeartbeat({ storage, server, clock, log, onBeat }: HeartbeatOptions) {
  let sentAt = never;
  let beating: Promise<void> | undefined;
  let cancel = () => {};
  let isUnanswered = false;
  let isClosed = false;

  /** Both clocks: one stands still while the machine sleeps, the other may be set. */
  const isFresh = () =>
    !isClosed && clock.monotonic() - sentAt.monotonic < freshMs && Math.abs(clock.now() - sentAt.now) < freshMs;

  async function beat(): Promise<void> {
    // From when it was sent: nobody knows when it arrived.
    const now = { monotonic: clock.monotonic(), now: clock.now() };
    // What was told to one that nobody answered is not told again: it may have been gone before that.
    const mayHaveBeenGone = isUnanswered && !isFresh();
    isUnanswered = true;
    const { wasGone, living } = await storage.beat(server);
    isUnanswered = false;
    sentAt = now;
    onBeat(new Set(living.map(({ id }) => id)), wasGone || mayHaveBeenGone);
  }
  const once = () => {
    beating ??= beat().finally(() => {
      beating = undefined;
    });
    return beating;
  };
  const later = () => {
    cancel = clock.after(beatMs, () => {
      later();
      void inBackground(log, "this server could not say that it lives", once());
    });
  };

  return {
    isFresh,
    once,
    later,
    /** The storage has not heard of it. */
    forget() {
      sentAt = never;
    },
    async close() {
      isClosed = true;
      cancel();
      if (beating !== undefined) await whenOver(beating);
    },
  };
}
