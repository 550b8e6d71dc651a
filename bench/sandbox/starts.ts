/** Starting a sandbox, and the first thing that runs in it. */
import { systemClock } from "../../src/base/clock.ts";
import type { Guest } from "../../src/sandbox/provider.ts";
import { type Figure, inTurns, type Job, timed } from "../figure.ts";
import { barePython, dataLibraries } from "./bare.ts";
import type { Sizes } from "./sizes.ts";
import { runAtPort, runInService, type World } from "./world.ts";

const atMost = { prewarmed: 0.3, launch: 2.5, cold: 4, imports: 1.3 };
const first = "1 + 1";

export async function measureStarts(world: World, sizes: Sizes): Promise<Figure[]> {
  const bare = barePython(world.folder);
  const [none, launch, prewarmed, cold, service] = await inTurns(sizes.launches, [
    () => timed(bare),
    launched(world),
    prewarmedRun(world),
    coldAtPort(world),
    coldInService(world, first),
  ]);
  if (!(none && launch && prewarmed && cold && service)) throw new Error("a job has no times");
  const ours = { unit: "ms", against: { what: "python3 -c pass", value: none } };
  return [
    { what: "full launch", value: launch, ...ours, atMost: atMost.launch },
    { what: "first execution in a prewarmed sandbox", value: prewarmed, ...ours, atMost: atMost.prewarmed },
    { what: "cold to the first result, at the port", value: cold, ...ours, atMost: atMost.cold },
    { what: "cold to the first result, with its report", value: service, ...ours, atMost: atMost.cold },
  ];
}

function launched(world: World): Job {
  return async () => {
    const place = await world.place();
    const guest: { it?: Guest } = {};
    const ms = await timed(async () => {
      guest.it = await world.open(place);
    });
    await guest.it?.close("measured");
    return ms;
  };
}

function prewarmedRun(world: World): Job {
  return async () => {
    const guest = await world.open(await world.place());
    guest.warm("root", []);
    await untilIdle(guest);
    const ms = await timed(() => runAtPort(guest, "python", first));
    await guest.close("measured");
    return ms;
  };
}

/** Until its Python is there and used no processor for a while. */
export async function untilIdle(guest: Guest): Promise<void> {
  for (let [last, idle] = [-1, 0]; idle < idleLooks; ) {
    await systemClock.wait(lookMs);
    const { cpuMs, processes } = await guest.usage();
    idle = processes > 1 && cpuMs - last < 1 ? idle + 1 : 0;
    last = cpuMs;
  }
}

const idleLooks = 3;
const lookMs = 30;

function coldAtPort(world: World): Job {
  return async () => {
    const place = await world.place();
    const guest: { it?: Guest } = {};
    const ms = await timed(async () => {
      guest.it = await world.open(place);
      await runAtPort(guest.it, "python", first);
    });
    await guest.it?.close("measured");
    return ms;
  };
}

function coldInService(world: World, code: string): Job {
  return async () => {
    const place = await world.place();
    const ms = await timed(() => runInService(world.sandbox, place, { language: "python", code }));
    await world.sandbox.leave(place.conversation ?? 0);
    return ms;
  };
}

export async function measureImports(world: World, sizes: Sizes): Promise<Figure[]> {
  const what = "cold to the first result with pandas and matplotlib";
  const skipped = await whyNoDataLibraries(world, sizes);
  if (skipped !== undefined) return [{ what, value: Number.NaN, unit: "ms", skipped }];
  await untilFontsAreListed(world);
  const [bare, cold] = await inTurns(sizes.imports, [
    () => timed(barePython(world.folder, dataLibraries)),
    coldInService(world, dataLibraries),
  ]);
  if (!(bare && cold)) throw new Error("a job has no times");
  const against = { what: `python3 -c "${dataLibraries}"`, value: bare };
  return [{ what, value: cold, unit: "ms", against, atMost: atMost.imports }];
}

/** Undefined: they are there, and wanted. */
export async function whyNoDataLibraries(world: World, { imports }: Sizes): Promise<string | undefined> {
  const { degraded } = await world.provider.probe();
  const isLacking = degraded.some(({ name }) => name === "no_data_libraries");
  return isLacking ? "they are not installed here" : imports === 0 ? "it takes long" : undefined;
}

/** That happens once in the life of a server, in the background. */
export async function untilFontsAreListed(world: World): Promise<void> {
  for (;;) {
    const guest = await world.open(await world.place());
    const isListed = await runAtPort(guest, "bash", "ls /tmp/.cache/matplotlib/fontlist-*.json").then(
      () => true,
      () => false,
    );
    await guest.close("looked");
    if (isListed) return;
    await systemClock.wait(lookMs);
  }
}
