import type { Usage } from "../../protocol/message.ts";
import { isObject, type JsonObject, numberOf } from "./json.ts";

export interface UsageMeter {
  /** A server's usage object, wherever it stood; anything else is ignored. */
  take(usage: unknown): void;
  /** `undefined` when no usable number was ever sent. */
  read(): Usage | undefined;
}

/** The last number wins and nothing is added up, but a zero never replaces a number: some servers end with empty counts. */
export function createUsageMeter(): UsageMeter {
  let input = 0;
  let output = 0;
  let cachedInput: number | undefined;
  let reasoning: number | undefined;
  return {
    take(usage) {
      if (!isObject(usage)) return;
      const counts = reconcile(readCounts(usage));
      input = counts.input || input;
      output = counts.output || output;
      cachedInput = counts.cached || (cachedInput ?? counts.cached);
      reasoning = counts.reasoning || (reasoning ?? counts.reasoning);
    },
    read() {
      if (input === 0 && output === 0) return undefined;
      return {
        input,
        output,
        ...(cachedInput === undefined ? {} : { cachedInput }),
        ...(reasoning === undefined ? {} : { reasoning }),
      };
    },
  };
}

type Counts = {
  input: number;
  output: number;
  total: number;
  cached: number | undefined;
  /** Prompt tokens written to a cache; only the Anthropic shape counts them apart. */
  cacheWritten: number;
  reasoning: number | undefined;
  /** The prompt was counted under Anthropic's name, which leaves cached tokens out. */
  inputWithoutCache: boolean;
};

function readCounts(usage: JsonObject): Counts {
  const prompt = count(usage, ["prompt_tokens", "promptTokens", "promptTokenCount", "prompt_eval_count"]);
  const input = prompt ?? count(usage, ["input_tokens", "inputTokens"]) ?? 0;
  const cacheRead = count(usage, ["cache_read_input_tokens"]);
  return {
    input,
    output:
      count(usage, [
        "completion_tokens",
        "output_tokens",
        "completionTokens",
        "outputTokens",
        "candidatesTokenCount",
        "eval_count",
      ]) ?? 0,
    total: count(usage, ["total_tokens", "totalTokens", "totalTokenCount"]) ?? 0,
    cached:
      detail(usage, ["prompt_tokens_details", "input_tokens_details"], "cached_tokens") ??
      count(usage, ["prompt_cache_hit_tokens", "cached_tokens", "cachedContentTokenCount"]) ??
      cacheRead,
    cacheWritten: count(usage, ["cache_creation_input_tokens"]) ?? 0,
    reasoning:
      detail(usage, ["completion_tokens_details", "output_tokens_details"], "reasoning_tokens") ??
      detail(usage, ["output_tokens_details"], "thinking_tokens") ??
      count(usage, ["reasoning_tokens", "thoughtsTokenCount"]),
    inputWithoutCache: cacheRead !== undefined && (prompt === undefined || cacheRead > input),
  };
}

/** Makes input and output add up to the server's own total, by the part it is known to have left out. */
function reconcile(counts: Counts): Counts {
  const { input, output, total, cached = 0, cacheWritten, reasoning = 0 } = counts;
  if (total === 0) {
    return counts.inputWithoutCache ? { ...counts, input: input + cached + cacheWritten } : counts;
  }
  if (input === 0) return { ...counts, input: Math.max(0, total - output) };
  if (output === 0) return { ...counts, output: Math.max(0, total - input) };
  const missing = total - input - output;
  if (missing === 0) return counts;
  if (Math.abs(missing) === reasoning) return { ...counts, output: output + missing };
  if ([cached, cacheWritten, cached + cacheWritten].includes(Math.abs(missing))) {
    return { ...counts, input: input + missing };
  }
  // Thinking that is counted in the total only, as Gemini does.
  return missing > 0 ? { ...counts, output: output + missing } : counts;
}

function count(usage: JsonObject, names: readonly string[]): number | undefined {
  for (const name of names) {
    const number = numberOf(usage[name]);
    if (number !== undefined && number >= 0) return number;
  }
  return undefined;
}

function detail(usage: JsonObject, groups: readonly string[], name: string): number | undefined {
  for (const group of groups) {
    const details = usage[group];
    const number = isObject(details) ? count(details, [name]) : undefined;
    if (number !== undefined) return number;
  }
  return undefined;
}
