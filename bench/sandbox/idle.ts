/** The memory that a sandbox takes while nothing runs in it. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import type { Guest } from "../../src/sandbox/provider.ts";
import type { Figure } from "../figure.ts";
import { dataLibraries, python } from "./bare.ts";
import { descendantsOf } from "./service.ts";
import type { Sizes } from "./sizes.ts";
import { untilFontsAreListed, untilIdle, whyNoDataLibraries } from "./starts.ts";
import type { World } from "./world.ts";

const atMost = { bare: 12, dataLibraries: 80 };
const modules = ["numpy", "pandas", "matplotlib.pyplot"];

export async function measureIdle(world: World, sizes: Sizes): Promise<Figure[]> {
  const names = ["idle sandbox", "idle sandbox with a Python", "idle sandbox with the data libraries"];
  const [bare = "", light = "", heavy = ""] = names;
  if (process.geteuid?.() !== 0) {
    const skipped = "only root may look into the memory of a sandbox";
    return names.map((what) => ({ what, value: Number.NaN, unit: "MiB (PSS)", skipped }));
  }
  const skipped = await whyNoDataLibraries(world, sizes);
  // Else the sandbox that lists them may be counted, too.
  if (skipped === undefined) await untilFontsAreListed(world);
  const unit = "MiB (PSS)";
  const { guests } = sizes;
  const figures: Figure[] = [
    { what: bare, unit, value: await idleMib(world, guests, () => {}), atMost: atMost.bare },
    { what: light, unit, value: await idleMib(world, guests, (guest) => guest.warm("root", [])) },
  ];
  if (skipped !== undefined) return [...figures, { what: heavy, value: Number.NaN, unit, skipped }];
  const warm = (guest: Guest) => guest.warm("root", modules);
  const value = await idleMib(world, guests, warm);
  return [
    ...figures,
    { what: heavy, unit, value, atMost: atMost.dataLibraries },
    { what: `${heavy}, one alone`, unit, value: await idleMib(world, 1, warm), atMost: atMost.dataLibraries },
    { what: "bare Python with the data libraries, one alone", unit, value: await bareMib() },
  ];
}

/**
 * Of all processes of a sandbox, bubblewrap's included, with six of them side by side: a server seldom has one alone, and
 * what they share counts for a part.
 */
async function idleMib(world: World, wanted: number, prepare: (guest: Guest) => void): Promise<number> {
  const before = new Set(descendantsOf(process.pid));
  const guests: Guest[] = [];
  for (let count = 0; count < wanted; count += 1) {
    const guest = await world.open(await world.place());
    guests.push(guest);
    prepare(guest);
    if ((await guest.usage()).processes > 1 || prepare.length > 0) await untilIdle(guest);
  }
  const own = descendantsOf(process.pid).filter((pid) => !before.has(pid));
  const mib = own.map(pssMib).reduce((sum, each) => sum + each, 0);
  for (const guest of guests) await guest.close("measured");
  return mib / wanted;
}

/** What a sandbox with the same libraries cannot do without. */
async function bareMib(): Promise<number> {
  const code = `${dataLibraries}; print(flush=True); input()`;
  const env = { PATH: "/usr/bin:/bin", LANG: "C.UTF-8", MPLBACKEND: "Agg", OPENBLAS_NUM_THREADS: "1" };
  const child = spawn(python, ["-c", code], { env, stdio: ["pipe", "pipe", "ignore"] });
  await once(child.stdout, "data");
  const mib = pssMib(child.pid ?? 0);
  child.stdin.end("\n");
  await once(child, "close");
  return mib;
}

function pssMib(pid: number): number {
  const kibibytes = /^Pss:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/smaps_rollup`, "utf8"))?.[1];
  return Number(kibibytes ?? 0) / 1024;
}
