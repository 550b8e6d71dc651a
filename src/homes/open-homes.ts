import { inBackground } from "../base/background.ts";
import { makeFailure } from "../protocol/failure.ts";
import { type ServerRow, type Sharing, StorageAway } from "../storage/storage.ts";
import { type HeartbeatOptions, openHeartbeat } from "./heartbeat.ts";
import type { Home, HomeKey, Homes } from "./homes.ts";
import { openListeners } from "./listeners.ts";
import { openRemembered } from "./remembered.ts";

type HomesOptions = Omit<HeartbeatOptions, "storage" | "onBeat"> & {
  readonly storage: Pick<Sharing, "beat" | "homeOf" | "leave" | "tell" | "onTold">;
};

/** A storage that answers each time that this server does not live is not asked for ever. */
const asksMax = 3;
const leftTopic = "server left";

/** Several servers on one storage: this one says every second that it lives, and asks whose a home is. */
export async function openHomes({ storage, server, clock, log }: HomesOptions): Promise<Homes> {
  const remembered = openRemembered();
  /** Was at home here, and may be somebody else's by now. */
  const unsure = new Set<HomeKey>();
  const [gone, lost, back] = [openListeners<string>(), openListeners<HomeKey>(), openListeners<void>()];
  let isClosed = false;
  let living: ReadonlySet<string> = new Set();

  const heart = openHeartbeat({
    ...{ storage, server, clock, log },
    onBeat(now, isBack) {
      const missing = [...living].filter((id) => !now.has(id));
      living = now;
      missing.forEach(miss);
      if (isBack) {
        for (const key of remembered.forgetHere()) unsure.add(key);
        back.tell();
      }
      // Also what a database that went away again has left.
      if (unsure.size > 0) void inBackground(log, "homes could not be looked at again", lookAgain());
    },
  });
  function miss(id: string): void {
    remembered.forgetServer(id);
    gone.tell(id);
  }
  async function lookAgain(): Promise<void> {
    for (const key of unsure) {
      if (isClosed) return;
      const { isHere } = await homeOf(key);
      if (unsure.delete(key) && !isHere) lost.tell(key);
    }
  }

  async function homeOf(key: HomeKey): Promise<Home> {
    // Whoever left must not be known again because somebody asked.
    if (isClosed) throw notNow("this server has left");
    const known = remembered.find(key);
    if (known !== undefined && (!known.isHere || heart.isFresh())) return known;
    for (let asks = 1; ; asks += 1) {
      if (!heart.isFresh()) await heart.once();
      const home = homeAt(await storage.homeOf(key, server.id), server);
      // An answer may have waited for a server that was held up: then it is no answer any more.
      if (home !== undefined && (!home.isHere || heart.isFresh())) return remembered.keep(key, home);
      if (asks === asksMax) throw notNow("the storage does not know this server, or not in time");
      if (home === undefined) heart.forget();
    }
  }

  const stopListening = storage.onTold(({ topic, key }) => {
    if (topic === "gap") remembered.forgetThere();
    // It may have begun so short a while ago that no beat of ours has seen it.
    if (topic !== leftTopic) return;
    living = new Set([...living].filter((id) => id !== key));
    miss(key);
  });
  await heart.once();
  heart.later();
  return {
    ...{ server: server.id, isShared: true, homeOf, isFresh: heart.isFresh, doubt: remembered.forgetServer },
    ...{ onGone: gone.add, onLost: lost.add, onBack: back.add },
    holds: async (key) => !isClosed && (await homeOf(key)).isHere,
    async close() {
      isClosed = true;
      await heart.close();
      stopListening();
      await leave(storage, server);
    },
  };
}

/** Who does not hear of it misses this server in a moment. */
async function leave(storage: HomesOptions["storage"], { id }: ServerRow): Promise<void> {
  const left = await storage.leave(id);
  if (left.ok) await storage.tell(leftTopic, id);
}

function notNow(why: string): StorageAway {
  return new StorageAway(makeFailure("storage_busy", {}), why);
}

function homeAt(found: ServerRow | undefined, own: ServerRow): Home | undefined {
  if (found === undefined) return undefined;
  return found.id === own.id ? { isHere: true } : { isHere: false, server: found.id, address: found.address };
}
