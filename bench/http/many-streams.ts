import { setTimeout as sleep } from "node:timers/promises";
import type { Figure } from "../figure.ts";
import type { Sizes } from "./sizes.ts";
import { chatBody, chatPath, post, type World } from "./world.ts";

/** So many chats at once, all of them in the middle of their answer: does each end, and what does one hold? */
export async function measureManyStreams(world: World, { streams, streamPieces, settleMs }: Sizes): Promise<Figure[]> {
  await all(world, Math.ceil(streams / 10), { pieces: 10, paceMs: 0 }); // Warms up: code and caches are there.
  await sleep(settleMs);
  const before = world.memory();
  let peak = before;
  const watch = setInterval(() => {
    peak = Math.max(peak, world.memory());
  }, 50);
  const startedAt = performance.now();
  const done = await all(world, streams, { pieces: streamPieces, paceMs: 100 });
  clearInterval(watch);
  const seconds = (performance.now() - startedAt) / 1000;
  return [
    { what: `chats of ${streams} at once that ended well`, unit: "of them", value: done },
    { what: `${streams} chats at once, all of them`, unit: "s", value: seconds },
    {
      what: `memory of the server per chat, ${streams} at once`,
      unit: "KB",
      value: (peak - before) / 1024 / streams,
      from: [before / 1e6, peak / 1e6],
      atMost: memoryKbMax,
    },
  ];
}

const memoryKbMax = 200;

async function all(world: World, count: number, order: { pieces: number; paceMs: number }): Promise<number> {
  const ended = await Promise.all(Array.from({ length: count }, () => one(world, order)));
  return ended.filter((isWell) => isWell).length;
}

async function one(world: World, { pieces, paceMs }: { pieces: number; paceMs: number }): Promise<boolean> {
  const answer = await post(`${world.yard}${chatPath}`, chatBody({ pieces, paceMs, bytes: 20, firstMs: 0 }));
  let tail = "";
  for await (const chunk of answer) tail = String(chunk).slice(-200);
  return answer.statusCode === 200 && tail.includes('"end"');
}
