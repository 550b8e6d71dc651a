/** Small durable writes against the same by hand: write beside, sync, rename, sync the folder. */
import { mkdirSync } from "node:fs";
import { open, rename } from "node:fs/promises";
import { join } from "node:path";
import { type Figure, timed } from "../figure.ts";
import { must } from "../must.ts";
import type { Sizes } from "./sizes.ts";
import type { World } from "./world.ts";

const ratioMax = 2;
const text = "x".repeat(200);

export async function measureWrites({ workspace, outside }: World, sizes: Sizes): Promise<Figure[]> {
  const { writes, writesPerRound } = sizes;
  const byHand = join(outside, "outputs", "by-hand");
  mkdirSync(byHand, { recursive: true });
  let [oursMs, handMs] = [0, 0];
  for (let done = 0; done < writes; done += writesPerRound) {
    oursMs += await timed(async () => {
      for (let index = done; index < done + writesPerRound; index += 1)
        must(await workspace.write(`outputs/ours/file-${index}.txt`, text));
    });
    handMs += await timed(async () => {
      for (let index = done; index < done + writesPerRound; index += 1) await writeByHand(byHand, `file-${index}.txt`);
    });
  }
  return [
    {
      what: `${writes} small writes, each`,
      value: oursMs / writes,
      unit: "ms",
      against: { what: "write, fsync, rename, fsync of the folder by hand", value: handMs / writes },
      atMost: ratioMax,
    },
  ];
}

async function writeByHand(folder: string, name: string): Promise<void> {
  const beside = join(folder, `.${name}.new`);
  const file = await open(beside, "wx", 0o644);
  await file.write(text);
  await file.sync();
  await file.close();
  await rename(beside, join(folder, name));
  const parent = await open(folder, "r");
  await parent.sync();
  await parent.close();
}
