/** Many executions in many conversations: what the server holds afterwards, and how neighbours fare. */
import { systemClock } from "../../src/base/clock.ts";
import { type Figure, spreadOf, timed } from "../figure.ts";
import { holdings, openService, type Service } from "./service.ts";
import type { Sizes } from "./sizes.ts";
import type { World } from "./world.ts";

/** With each pass, so a quarter of a KiB for each execution of a full one: all that stays is a row in the database. */
const liveMibMax = 0.25;
/** From half of the passes to the other. It goes up and down by more than that: the system gets it back in large pieces. */
const residentMibMax = 16;
const latencyMax = 3;

export async function measureMany({ folder }: World, sizes: Sizes): Promise<Figure[]> {
  await using service = await openService(folder);
  const { passes, executions, users, conversationsPerUser } = sizes;
  const held: Held[] = [];
  // The first pass fills what is kept on purpose; what the others add is lost.
  for (let pass = 0; pass <= passes; pass += 1) held.push(await heldAfter(service, sizes));
  const pass = `${executions} executions in ${users * conversationsPerUser} conversations`;
  const figure = (what: string, unit: string, key: keyof Held, added: typeof slopeOf, target: number): Figure => {
    const from = held.map((each) => each[key]);
    const value = added(from.slice(1));
    return { what: `${what} by ${pass}`, unit, value, from, atMost: target };
  };
  return [
    figure("more objects in the server", "MiB", "liveMib", slopeOf, liveMibMax),
    figure("more memory of the server", "MiB", "residentMib", riseOf, residentMibMax),
    figure("more descriptors of the server", "of them", "descriptors", differenceOf, 0),
    figure("more processes of the server", "of them", "processes", differenceOf, 0),
    ...(await measureNeighbours(service, sizes)),
  ];
}

type Held = { liveMib: number; residentMib: number; descriptors: number; processes: number };

/** By how much each one is more than the one before it: of the straight line that is nearest to all. */
function slopeOf(values: readonly number[]): number {
  const middle = (values.length - 1) / 2;
  const spread = values.reduce((sum, _, index) => sum + (index - middle) ** 2, 0);
  return values.reduce((sum, value, index) => sum + (index - middle) * value, 0) / spread;
}

/** From the lowest of the first half to the lowest of the second. */
function riseOf(values: readonly number[]): number {
  const half = values.length / 2;
  return Math.min(...values.slice(half)) - Math.min(...values.slice(0, half));
}

function differenceOf(counts: readonly number[]): number {
  return (counts.at(-1) ?? 0) - (counts[0] ?? 0);
}

/** A few at a time; then all sessions are ended, and with them all sandboxes. */
async function heldAfter(
  service: Service,
  { users, conversationsPerUser, executions, settleMs }: Sizes,
): Promise<Held> {
  const lanes = Array.from({ length: users }, async (_, user) => {
    for (let index = 0; index < executions / users; index += 1) {
      const conversation_id = `u${user}-${index % conversationsPerUser}`;
      await service.run(`u${user}`, { code: "x = globals().get('x', 0) + 1\nprint(x)", conversation_id });
    }
    await service.endSession(`u${user}`);
  });
  await Promise.all(lanes);
  await systemClock.wait(settleMs);
  for (let look = 0; look < looksMax && holdings(service.pid).processes > 0; look += 1) await systemClock.wait(lookMs);
  return { ...(await service.memory()), ...holdings(service.pid) };
}

/** A list of fonts may still be made, in a sandbox of its own. */
const looksMax = 200;
const lookMs = 50;

const bombs = {
  "a fork bomb": "import os\nwhile True:\n    try:\n        os.fork()\n    except OSError:\n        pass",
  "a memory bomb": "hoard = []\nwhile True:\n    hoard.append(bytearray(16 * 1024 * 1024))",
  "an endless print": "while True: print('x' * 1000)",
};
const bombSeconds = 8;

/** How long a cell of somebody else takes meanwhile, against how long it took right before. */
async function measureNeighbours(service: Service, { neighbourRuns }: Sizes): Promise<Figure[]> {
  const figures: Figure[] = [];
  for (const [name, code] of Object.entries(bombs)) {
    const what = `warm Python cell over HTTP beside ${name}`;
    if (neighbourRuns === 0) {
      figures.push({ what, value: Number.NaN, unit: "ms", skipped: "it takes long" });
      continue;
    }
    const cell = { code: "1 + 1", conversation_id: "quiet" };
    await service.run("quiet", cell);
    const quiet = await times(neighbourRuns, () => service.run("quiet", cell));
    const bomb = { isOver: false };
    const going = goOff(service, code, bomb);
    const beside = await times(neighbourRuns, () => service.run("quiet", cell));
    bomb.isOver = true;
    await service.endSession("loud");
    await going;
    const against = { what: "the same before", value: quiet };
    figures.push({ what, value: beside, unit: "ms", against, atMost: latencyMax });
  }
  return figures;
}

/** One that is ended by its limits goes off again. */
async function goOff(service: Service, code: string, bomb: { isOver: boolean }): Promise<void> {
  while (!bomb.isOver) {
    await service.tryRun("loud", { code, conversation_id: "loud", timeout: bombSeconds });
  }
}

async function times(count: number, work: () => Promise<unknown>) {
  const all: number[] = [];
  for (let index = 0; index < count; index += 1) all.push(await timed(work));
  return spreadOf(all);
}
