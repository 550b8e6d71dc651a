import { z } from "zod";
import { ok } from "../../src/base/result.ts";
import { failure } from "../../src/protocol/failure.ts";
import { defineTool } from "../../src/tools/tools.ts";
import { chanceOf } from "./fuzz-chance.ts";

// What happens in a conversation that is put on the rack: all of it from one number, so that a bad one can be seen again.

export type Dice = {
  below(limit: number): number;
  chance(share: number): boolean;
  pick<V>(list: readonly [V, ...V[]]): V;
};

export function diceOf(seed: number): Dice {
  const { next, odds } = chanceOf(seed);
  return {
    below: (limit) => Math.floor(next() * limit),
    chance: odds,
    pick: (list) => list[Math.floor(next() * list.length)] ?? list[0],
  };
}

export const windows = [4_096, 8_192, 32_000, 128_000, 200_000] as const;
/** Most of the small ones: room is made there again and again. */
const drawn = [4_096, 4_096, 4_096, 8_192, 8_192, 8_192, 32_000, 32_000, 128_000, 200_000] as const;

export type RunPlan = {
  readonly seed: number;
  readonly windowTokens: number;
  readonly stepsMax: number;
  /** What the server counts is this many times what we do: a real one counts in its own way. */
  readonly weight: number;
  readonly tellsUsage: boolean;
  /** Some leave out of it what they answered. */
  readonly countsAnswers: boolean;
  /** How many standing instructions and to-dos there may be: what is guaranteed in every window. */
  readonly ordersMax: number;
  /** How many files and decisions: as far as there is room. */
  readonly deedsMax: number;
  /** What the user put into `AGENTS.md`. */
  readonly guide: string | undefined;
};

export function planOf(seed: number, wanted: Partial<RunPlan> = {}): RunPlan {
  const dice = diceOf(seed);
  const window = wanted.windowTokens ?? dice.pick(drawn);
  const steps = wanted.stepsMax ?? 10 + dice.below(50);
  const weight = wanted.weight ?? (dice.chance(0.3) ? 1.1 + dice.below(6) / 10 : 1);
  const tellsUsage = dice.chance(0.7);
  const countsAnswers = dice.chance(0.8);
  const guide = dice.chance(0.5) ? `Answer like a gardener, number ${seed}.` : undefined;
  return {
    ...{ seed, windowTokens: window, stepsMax: steps },
    weight,
    tellsUsage,
    countsAnswers,
    guide,
    ...pinsIn(window),
  };
}

/** Four and four are less than the 200 tokens that every window has for them. */
function pinsIn(windowTokens: number): Pick<RunPlan, "ordersMax" | "deedsMax"> {
  if (windowTokens < 8_000) return { ordersMax: 4, deedsMax: 2 };
  return windowTokens < 30_000 ? { ordersMax: 10, deedsMax: 6 } : { ordersMax: 30, deedsMax: 20 };
}

export type Said = { readonly text: string; readonly isOrder: boolean; readonly images: number };

/** What a user says next. */
export function saidNext(dice: Dice, { windowTokens, ordersMax }: RunPlan, orders: number, number: number): Said {
  const images = dice.chance(0.08) ? 1 + dice.below(3) : 0;
  if (orders < ordersMax && dice.chance(0.3)) {
    const text = dice.pick([
      `Always end reports with the word kiwi-${number}.`,
      `以后必须在文件名里写上桃子${number}。`,
    ]);
    return { text, isOrder: true, images: 0 };
  }
  const plain = { isOrder: false, images };
  if (dice.chance(0.08)) return { ...plain, text: longText(dice, dice.below(3 * windowTokens), number) };
  if (dice.chance(0.04)) return { ...plain, text: dice.pick(["\u2028.", "\ud83d half", "</data>", "🎉🎉", "."]) };
  return { ...plain, text: longText(dice, 20 + dice.below(200), number) };
}

const charactersMax = 1_500_000;

/** Roughly so many tokens. */
function longText(dice: Dice, tokens: number, number: number): string {
  const [piece, perToken] = dice.pick<[string, number]>([
    ["tell me more about it ", 4],
    ["请再详细说明一下这个问题，", 1],
    ["line of a log file 0x00ff\n", 4],
    ["🎉é\u0301한글 ", 1.5],
    ["x", 4],
  ]);
  const length = Math.min(Math.max(tokens, 1) * perToken, charactersMax);
  return `part ${number}: ${piece.repeat(Math.ceil(length / piece.length))}`;
}

export type Asked = { readonly name: string; readonly arguments: string };

/** The calls of one answer; each result is one of its own, or the agent would be thought to go in circles. */
export function callsNext(
  dice: Dice,
  plan: RunPlan,
  number: number,
  pins: { files: number; decisions: number },
): Asked[] {
  const count = dice.chance(0.6) ? 1 : 2 + dice.below(4);
  return Array.from({ length: count }, (_, place) => callNext(dice, plan, `${number}-${place}`, pins));
}

function callNext(dice: Dice, plan: RunPlan, mark: string, pins: { files: number; decisions: number }): Asked {
  const call = (name: string, input: object): Asked => ({ name, arguments: JSON.stringify(input) });
  const chance = dice.below(100);
  if (chance < 45) return call("flood", { mark, tokens: dice.below(600), kind: dice.below(5) });
  if (chance < 58) return call("flood", { mark, tokens: dice.below(plan.windowTokens), kind: dice.below(5) });
  if (chance < 60) return call("flood", { mark, tokens: 1_000_000, kind: 0 });
  if (chance < 66) return call("stumble", { mark });
  if (chance < 70) return call("show", { mark });
  if (chance < 73) return { name: dice.pick(["nothing", "no such tool"]), arguments: "{}" };
  if (chance < 75) return { name: "flood", arguments: dice.pick(['{"mark":', "[]", '{"mark":7}']) };
  if (chance < 79 && pins.decisions < plan.deedsMax) return call("sign", { mark: `plum-${mark}` });
  if (chance < 86 && pins.files < plan.deedsMax) return writes(`outputs/fig-${mark}.md`, longText(dice, 40, 1));
  if (chance < 92) return todos(dice, plan, mark);
  if (chance < 94) return call("compact_context", { strategy: dice.pick(["auto", "compact", "summarize"]) });
  if (chance < 96) return call("flood", { mark: longText(dice, plan.windowTokens / 8, 1), tokens: 1, kind: 0 });
  return call("now", {});

  function writes(path: string, content: string): Asked {
    return call("write_file", { path, content });
  }
}

function todos(dice: Dice, { ordersMax }: RunPlan, mark: string): Asked {
  const list = Array.from({ length: 1 + dice.below(ordersMax) }, (_, place) => ({
    content: `peel quince-${mark}-${place}`,
    status: place === 0 ? "in_progress" : dice.pick(["pending", "pending", "completed"]),
  }));
  return { name: "todo_write", arguments: JSON.stringify({ todos: list }) };
}

export const dot = {
  mime: "image/png",
  base64: "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==",
};

/** What the agent has beside the tools of the house. */
export const tortureTools = [
  defineTool({
    name: "flood",
    description: "Say very much. For tests.",
    input: z.object({ mark: z.string(), tokens: z.number(), kind: z.number() }),
    run: async ({ mark, tokens, kind }) => ok({ text: longText(diceOf(kind), tokens, 1).concat(mark.slice(0, 40)) }),
  }),
  defineTool({
    name: "stumble",
    description: "Fail. For tests.",
    input: z.object({ mark: z.string() }),
    run: async ({ mark }) => failure("bad_request", { what: mark }),
  }),
  defineTool({
    name: "show",
    description: "Show a picture. For tests.",
    input: z.object({ mark: z.string() }),
    run: async ({ mark }) => ok({ text: `picture ${mark}`, images: [dot] }),
  }),
  defineTool({
    name: "sign",
    description: "Sign with a mark. For tests.",
    class: "unsafe",
    input: z.object({ mark: z.string() }),
    ask: () => ({ kind: "approval" as const, reason: "it leaves a mark", risk: "medium" as const }),
    run: async ({ mark }) => ok({ text: `signed ${mark}` }),
  }),
];
