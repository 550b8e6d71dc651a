/** The memory that a sandbox takes while nothing runs in it. */
import { readFileSync } from "node:fs";
import type { Guest } from "../../src/sandbox/provider.ts";
import type { Figure } from "./figure.ts";
import { descendantsOf } from "./service.ts";
import type { Sizes } from "./sizes.ts";
import { untilIdle } from "./starts.ts";
import type { World } from "./world.ts";

const atMost = { bare: 12, dataLibraries: 80 };
const sideBySide = 6;
const modules = ["numpy", "pandas", "matplotlib.pyplot"];

export async function measureIdle(world: World, sizes: Sizes): Promise<Figure[]> {
  const names = ["idle sandbox", "idle sandbox with a Python", "idle sandbox with the data libraries"];
  const [bare = "", python = "", heavy = ""] = names;
  if (process.geteuid?.() !== 0) {
    const skipped = "only root may look into the memory of a sandbox";
    return names.map((what) => ({ what, value: Number.NaN, unit: "MiB (PSS)", skipped }));
  }
  const judged = (target: number) => (sizes.isJudged ? target : undefined);
  const unit = "MiB (PSS)";
  const guestCount = sizes.isJudged ? sideBySide : 1;
  const figures: Figure[] = [
    { what: bare, unit, value: await idleMib(world, guestCount, () => {}), atMost: judged(atMost.bare) },
    { what: python, unit, value: await idleMib(world, guestCount, (guest) => guest.warm("root", [])) },
  ];
  if (sizes.imports === 0) return [...figures, { what: heavy, value: Number.NaN, unit, skipped: "it takes long" }];
  const value = await idleMib(world, guestCount, (guest) => guest.warm("root", modules));
  return [...figures, { what: heavy, unit, value, atMost: judged(atMost.dataLibraries) }];
}

/**
 * Of all processes of a sandbox, bubblewrap's included, with six of them side by side: a server seldom has one alone, and
 * what they share counts for a part.
 */
async function idleMib(world: World, guestCount: number, prepare: (guest: Guest) => void): Promise<number> {
  const before = new Set(descendantsOf(process.pid));
  const guests: Guest[] = [];
  for (let count = 0; count < guestCount; count += 1) {
    const guest = await world.open(await world.place());
    guests.push(guest);
    prepare(guest);
    if ((await guest.usage()).processes > 1 || prepare.length > 0) await untilIdle(guest);
  }
  const own = descendantsOf(process.pid).filter((pid) => !before.has(pid));
  const kibibytes = own.map((pid) => /^Pss:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/smaps_rollup`, "utf8"))?.[1]);
  for (const guest of guests) await guest.close("measured");
  return kibibytes.reduce((sum, text) => sum + Number(text ?? 0), 0) / 1024 / guestCount;
}
