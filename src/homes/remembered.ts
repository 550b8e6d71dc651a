import type { Home, HomeKey } from "./homes.ts";

/** Which answers are remembered at the most; the one that was asked for longest ago goes first. */
const rememberedMax = 10_000;

/** What the storage has answered about homes. */
export function openRemembered() {
  const answers = new Map<HomeKey, Home>();
  const forget = (isMeant: (home: Home) => boolean) => {
    const keys = [...answers].filter(([, home]) => isMeant(home)).map(([key]) => key);
    for (const key of keys) answers.delete(key);
    return keys;
  };
  return {
    find(key: HomeKey): Home | undefined {
      const home = answers.get(key);
      if (home !== undefined) {
        answers.delete(key);
        answers.set(key, home);
      }
      return home;
    },
    keep(key: HomeKey, home: Home): Home {
      answers.delete(key);
      answers.set(key, home);
      const [oldest] = answers.keys();
      if (answers.size > rememberedMax && oldest !== undefined) answers.delete(oldest);
      return home;
    },
    /** The keys that were. */
    forgetHere: () => forget(({ isHere }) => isHere),
    forgetThere: () => void forget(({ isHere }) => !isHere),
    forgetServer: (server: string) => void forget((home) => !home.isHere && home.server === server),
  };
}
