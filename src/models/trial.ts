import type { Clock } from "../base/clock.ts";
import type { ModelAnswer, ModelError, ModelProvider } from "./provider.ts";

/** What trying a model showed. */
export type Trial = {
  readonly checks: readonly Check[];
  readonly latency: { readonly firstMs?: number; readonly totalMs: number };
  readonly error?: ModelError | undefined;
};
type Check = {
  readonly name: "answers" | "streams" | "tools" | "usage";
  readonly isOk: boolean;
  readonly detail?: string;
};

const probeTool = {
  name: "report_number",
  description: "Report a number. Use it when you are asked to report a number.",
  parameters: {
    type: "object",
    properties: { number: { type: "integer", description: "The number." } },
    required: ["number"],
  },
};
const trialLimitMs = 120_000;

/** Two short calls: does it answer and stream, and does it call a tool when asked to. */
export async function tryModel(provider: ModelProvider, clock: Clock): Promise<Trial> {
  const startedAt = clock.monotonic();
  let firstMs: number | undefined;
  let deltas = 0;
  const count = () => {
    firstMs ??= Math.round(clock.monotonic() - startedAt);
    deltas += 1;
  };
  const limit = new AbortController();
  const cancelLimit = clock.after(trialLimitMs, () => limit.abort());
  const ask = (text: string, tools?: readonly (typeof probeTool)[]): Promise<ModelAnswer> =>
    provider
      .prepare({ messages: [{ role: "user", text }], tools, stream: true })
      .send({ text: count, reasoning: count }, limit.signal);
  const plain = await ask("Count from one to ten in words.");
  const called =
    plain.error === undefined ? await ask("Report the number 7 with the tool report_number.", [probeTool]) : undefined;
  cancelLimit();
  const error = plain.error ?? called?.error;
  const call = called?.toolCalls.find(({ name }) => name === probeTool.name);
  return {
    checks: [
      { name: "answers", isOk: plain.error === undefined && plain.text !== "", detail: plain.text.slice(0, 60) },
      { name: "streams", isOk: deltas > 1 },
      {
        name: "tools",
        isOk: call !== undefined && call.invalid !== true,
        ...(call === undefined ? {} : { detail: call.arguments.slice(0, 60) }),
      },
      { name: "usage", isOk: plain.usageEstimated !== true },
    ],
    latency: { ...(firstMs === undefined ? {} : { firstMs }), totalMs: Math.round(clock.monotonic() - startedAt) },
    ...(error === undefined ? {} : { error }),
  };
}
