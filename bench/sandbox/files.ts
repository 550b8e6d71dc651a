/** The first program among many files: all of them are looked at and kept before it runs. */
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { ProgramPlace } from "../../src/sandbox/sandbox.ts";
import { type Figure, inTurns, timed } from "../figure.ts";
import { must } from "../must.ts";
import { barePython } from "./bare.ts";
import type { Sizes } from "./sizes.ts";
import { runInService, type World } from "./world.ts";

const foldersMax = 100;
const first = { language: "python", code: "1 + 1" } as const;

export async function measureFiles(world: World, sizes: Sizes): Promise<Figure[]> {
  const run = (place: ProgramPlace) => timed(() => runInService(world.sandbox, place, first));
  let place: FilledPlace | undefined;
  const fresh = async () => {
    if (place !== undefined) await world.sandbox.leave(place.conversation ?? 0);
    place = await filled(world, sizes.manyFiles);
    return place;
  };
  const [bare, cold, second, prewarmed] = await inTurns(sizes.manyFilesRuns, [
    () => timed(barePython(world.folder)),
    async () => run(await fresh()),
    async () => run(place ?? (await fresh())),
    async () => {
      const here = await fresh();
      world.sandbox.prewarm(here, "python");
      // Whoever looks while another one does waits for it.
      must(await here.workspace.lookAhead({ signal: new AbortController().signal }));
      return run(here);
    },
  ]);
  if (!(bare && cold && second && prewarmed)) throw new Error("a job has no times");
  const ours = { unit: "ms", against: { what: "python3 -c pass", value: bare } };
  const where = `among ${sizes.manyFiles} files`;
  return [
    { what: `first program ${where}, nothing prepared`, value: cold, ...ours },
    { what: `first program ${where}, prewarmed`, value: prewarmed, ...ours },
    { what: `second program ${where}`, value: second, ...ours },
  ];
}

type FilledPlace = Awaited<ReturnType<World["place"]>>;

async function filled(world: World, files: number): Promise<FilledPlace> {
  const place = await world.place();
  const { folder } = must(await place.workspace.guestFolder());
  for (let file = 0; file < files; file += 1) {
    const inside = join(folder, "outputs", `d${file % foldersMax}`);
    if (file < foldersMax) mkdirSync(inside);
    writeFileSync(join(inside, `f${file}`), `content of ${file}`);
  }
  return place;
}
