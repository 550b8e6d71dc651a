import assert from "node:assert/strict";
import { test } from "node:test";
import { createUsageMeter } from "./usage.ts";

const cases: [what: string, sent: unknown[], usage: unknown][] = [
  ["nothing", [undefined, null, {}], undefined],
  ["zeros", [{ prompt_tokens: 0, completion_tokens: 0 }], undefined],
  [
    "running totals",
    [
      { prompt_tokens: 9, completion_tokens: 1 },
      { prompt_tokens: 9, completion_tokens: 2 },
    ],
    { input: 9, output: 2 },
  ],
  [
    "halves",
    [
      { prompt_tokens: 20, completion_tokens: 0 },
      { prompt_tokens: 0, completion_tokens: 9 },
    ],
    { input: 20, output: 9 },
  ],
  ["a total and one part", [{ prompt_tokens: 10, total_tokens: 15 }], { input: 10, output: 5 }],
  ["numbers as text", [{ prompt_tokens: "10", completion_tokens: "5" }], { input: 10, output: 5 }],
  [
    "a prompt without its cached part",
    [{ prompt_tokens: 10, completion_tokens: 5, total_tokens: 95, cache_read_input_tokens: 80 }],
    { input: 90, output: 5, cachedInput: 80 },
  ],
  [
    "reasoning counted twice",
    [
      {
        prompt_tokens: 10,
        completion_tokens: 30,
        total_tokens: 20,
        completion_tokens_details: { reasoning_tokens: 20 },
      },
    ],
    { input: 10, output: 10, reasoning: 20 },
  ],
  [
    "details that say zero",
    [
      {
        prompt_tokens: 1,
        completion_tokens: 2,
        prompt_tokens_details: { cached_tokens: 0 },
        completion_tokens_details: null,
      },
    ],
    { input: 1, output: 2, cachedInput: 0 },
  ],
  [
    "Google's names",
    [{ promptTokenCount: 4, candidatesTokenCount: 2, thoughtsTokenCount: 3, totalTokenCount: 9 }],
    { input: 4, output: 5, reasoning: 3 },
  ],
];

for (const [what, sent, usage] of cases) {
  test(`usage is read from ${what} [M3]`, () => {
    const meter = createUsageMeter();
    for (const part of sent) meter.take(part);
    assert.deepEqual(meter.read(), usage);
  });
}
