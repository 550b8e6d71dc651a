/** Whether those who are served meanwhile notice: the longest wait of the event loop, and the memory of it all. */
import type { Figure } from "../figure.ts";
import { watchStalls } from "../stalls.ts";
import type { Sizes } from "./sizes.ts";
import type { World } from "./world.ts";

const memoryMegabytesMost = 1_500;

export async function measureStalls({ manuals, extract }: World, sizes: Sizes): Promise<Figure[]> {
  const text = {
    name: "long.txt",
    bytes: Buffer.from("A paragraph of a very long text, and nothing else.\n\n".repeat(sizes.rows * 4)),
  };
  // Read and unpacked before: what the bench does itself is no stall of the product.
  const files = [text, ...manuals(sizes).slice(-4)];
  await extract({ name: "warm.txt", bytes: Buffer.from("warm") });
  const stalls = watchStalls();
  await Promise.all(files.map(extract));
  return [
    ...stalls.stop("longest stall of the event loop"),
    {
      what: "memory, threads and all",
      unit: "MB",
      value: process.resourceUsage().maxRSS / 1_024,
      atMost: memoryMegabytesMost,
    },
  ];
}
