import type { Guest } from "../provider.ts";
import type { GuestConnection } from "./connection.ts";

/** What runs a guest, as its provider knows it. */
export type GuestLife = {
  /** When its processes are gone. `code`: of the first one. */
  readonly ended: Promise<{ readonly code: number | null; readonly oomKills: number }>;
  kill(): void;
} & Pick<Guest, "usage" | "sharedFiles" | "unnamedBytes">;

/** What runtimes say of a first process that was killed. */
const killedCode = 137;

/** One whose connection is gone is ended, whatever runs in it; one that is ended has no connection. */
export function tieGuest(connection: GuestConnection, life: GuestLife): Guest {
  void connection.ended.then(() => life.kill());
  void life.ended.then(() => connection.close("ended"));
  const ended = Promise.all([connection.ended, life.ended]).then(([{ why }, { code, oomKills }]) => ({
    why: why === "ended" && oomKills > 0 && code === killedCode ? "out_of_memory" : why,
  }));
  const { usage, sharedFiles, unnamedBytes } = life;
  return {
    ...connection,
    ...{ ended, usage, sharedFiles, unnamedBytes },
    async close(why) {
      await connection.close(why);
      await ended;
    },
  };
}

/** The kernel's count is gone with the group; who asks later is told the last one. */
export function createOomCount(read: () => number): () => number {
  let count = 0;
  return () => {
    count = Math.max(count, read());
    return count;
  };
}
