/** Many executions in many conversations: what the server holds afterwards, and how neighbours fare. */
import { systemClock } from "../../src/base/clock.ts";
import { type Figure, spreadOf, timed } from "./figure.ts";
import { holdings, openService, type Service } from "./service.ts";
import type { Sizes } from "./sizes.ts";
import type { World } from "./world.ts";

/** Without growing it moves by some forty: the collector takes its time. */
const growthMibMax = 48;
const latencyMax = 3;

export async function measureMany({ folder }: World, sizes: Sizes): Promise<Figure[]> {
  await using service = await openService(folder);
  const { users, conversationsPerUser, executions, isJudged } = sizes;
  // The first pass fills what is kept on purpose; what the second one adds is lost.
  const before = await heldAfter(service, sizes);
  const after = await heldAfter(service, sizes);
  const what = `after ${executions} executions in ${users * conversationsPerUser} conversations`;
  const grown = (key: keyof typeof before, unit: string, target: number): Figure => {
    const value = after[key] - before[key];
    return { what: `${unit} more ${what}`, unit, value, atMost: isJudged ? target : undefined };
  };
  return [
    { what: `memory of the server ${what}`, unit: "MiB", value: after.memoryMib },
    grown("memoryMib", "MiB", growthMibMax),
    grown("descriptors", "descriptors", 0),
    grown("processes", "processes", 0),
    ...(await measureNeighbours(service, sizes)),
  ];
}

/** A few at a time; then all sessions are ended, and with them all sandboxes. */
async function heldAfter(service: Service, { users, conversationsPerUser, executions, settleMs }: Sizes) {
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
  return holdings(service.pid);
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
async function measureNeighbours(service: Service, { neighbourRuns, isJudged }: Sizes): Promise<Figure[]> {
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
    figures.push({ what, value: beside, unit: "ms", against, atMost: isJudged ? latencyMax : undefined });
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
