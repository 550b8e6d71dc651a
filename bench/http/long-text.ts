import { type Figure, spreadOf } from "../figure.ts";
import type { Sizes } from "./sizes.ts";
import { chatBody, chatPath, post, type World } from "./world.ts";

/** What a text of a hundred times the length costs in increments: time, and processor time of the server. */
export async function measureLongText(world: World, { textBytes, textRuns }: Sizes): Promise<Figure[]> {
  const short: Times = { ms: [], cpu: [] };
  const long: Times = { ms: [], cpu: [] };
  await stream(world, textBytes / 100); // Warms up.
  for (let run = 0; run < textRuns; run += 1) {
    for (const [into, bytes, times] of [
      [short, textBytes / 100, 10],
      [long, textBytes, 1],
    ] as const) {
      const cpu = world.cpuMs();
      const startedAt = performance.now();
      for (let each = 0; each < times; each += 1) await stream(world, bytes);
      into.ms.push((performance.now() - startedAt) / times);
      into.cpu.push((world.cpuMs() - cpu) / times);
    }
  }
  const what = `${textBytes / 1e6} MB of text in increments`;
  const against = (values: number[]) => ({ what: `${textBytes / 1e5} KB`, value: spreadOf(values) });
  return [
    { what, unit: "ms", value: spreadOf(long.ms), against: against(short.ms), atMost: ratioMax },
    {
      what: `${what}, processor`,
      unit: "ms",
      value: spreadOf(long.cpu),
      against: against(short.cpu),
      atMost: ratioMax,
    },
  ];
}

type Times = { readonly ms: number[]; readonly cpu: number[] };

const ratioMax = 120;
const pieceBytes = 100;

async function stream(world: World, bytes: number): Promise<void> {
  const order = { pieces: bytes / pieceBytes, bytes: pieceBytes, firstMs: 0, paceMs: 0 };
  const answer = await post(`${world.yard}${chatPath}`, chatBody(order));
  let [got, tail] = [0, ""];
  for await (const chunk of answer) {
    got += chunk.length;
    tail = String(chunk).slice(-200);
  }
  if (!tail.includes('"end"') || got < bytes) throw new Error(`the stream of ${bytes} bytes broke off: ${tail}`);
}
