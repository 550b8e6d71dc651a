import type { Profile } from "./profile.ts";

/** What is known of a family of models before its server says anything. Figures: litellm's table, 2026-08. */
export type Family = {
  /** Tried on the id in lower case, without the vendor's path. */
  readonly id: RegExp;
  readonly windowTokens: number;
  readonly outputTokens: number | undefined;
  readonly profile: Partial<Profile>;
  /** Open weights are served by anybody, with any window. */
  readonly isOpen: boolean;
};

const gpt5: Partial<Profile> = {
  systemRole: "developer",
  maxTokensField: "max_completion_tokens",
  sampling: false,
  thinkingSwitch: "reasoning_effort",
};
/** Chat completions refuse tools together with reasoning from 5.4 on (openai/openai-openapi#541). */
const gpt54: Partial<Profile> = { ...gpt5, effortWithTools: "none" };
const oSeries: Partial<Profile> = { ...gpt5, parallelToolCalls: false };
/** Signed thinking goes back as it came, where a gateway hands it out at all. */
const claude: Partial<Profile> = { reasoningReplay: "details", thinkingSwitch: "budget" };
const claude46: Partial<Profile> = { ...claude, sampling: false, noPrefill: true, thinkingSwitch: "adaptive" };
const gemini: Partial<Profile> = { reasoningReplay: "details", thinkingSwitch: "reasoning_effort" };
/** A temperature below 1 makes Gemini 3 go round in circles, says its vendor. */
const gemini3: Partial<Profile> = { ...gemini, sampling: false };
const deepseek: Partial<Profile> = { reasoningReplay: "tool_calls", thinkingSwitch: "thinking-object" };
/** Thinking is on by default and takes no forced tool (deepseek-ai/DeepSeek-V3#1376). */
const deepseek4: Partial<Profile> = { ...deepseek, forcedToolChoice: false };
const qwen: Partial<Profile> = {
  reasoningReplay: "tool_calls",
  thinkingSwitch: "enable_thinking",
  thinkTags: "leading",
};
/** The chat template opens the block itself, so that answers hold only its end. */
const thinksFirst: Partial<Profile> = { thinkTags: "implicit-open" };
const glm: Partial<Profile> = {
  reasoningReplay: "tool_calls",
  thinkingSwitch: "thinking-object",
  thinkTags: "leading",
};
const kimi: Partial<Profile> = { reasoningReplay: "tool_calls", schemaDialect: "mfjs" };
/** Any temperature but the server's own is a 400, and that one has changed over time. */
const kimi25: Partial<Profile> = {
  ...kimi,
  sampling: false,
  forcedToolChoice: false,
  thinkingSwitch: "thinking-object",
};
const minimax: Partial<Profile> = { reasoningReplay: "tool_calls", thinkTags: "leading" };
const mistral: Partial<Profile> = { toolCallIds: "alnum9", roleOrder: "mistral" };

/** The first that fits counts: newer and narrower rows stand above older and wider ones. */
export const families: readonly Family[] = [
  closed(/gpt-5\.4-(mini|nano)/, 272_000, 128_000, gpt54),
  closed(/gpt-(5\.([4-9]|\d\d)|[6-9])/, 1_050_000, 128_000, gpt54),
  closed(/gpt-5/, 272_000, 128_000, gpt5),
  closed(/^o[134](-|$)/, 200_000, 100_000, oSeries),
  closed(/gpt-4\.1/, 1_047_576, 32_768, {}),
  closed(/gpt-4o/, 128_000, 16_384, {}),
  closed(/gpt-4-(turbo|1106|0125)/, 128_000, 4_096, {}),
  closed(/gpt-4(?!\d)/, 8_192, 4_096, {}),
  closed(/gpt-3\.5/, 16_385, 4_096, {}),
  open(/gpt-oss/, 131_072, undefined, { thinkingSwitch: "reasoning_effort" }),

  closed(/claude-sonnet-4[-.][6-9](?!\d)/, 1_000_000, 64_000, claude46),
  closed(/claude-(opus-4[-.][6-9]|[a-z]+-[5-9])(?!\d)/, 1_000_000, 128_000, claude46),
  closed(/claude-opus-4(?![-.]5)/, 200_000, 32_000, claude),
  closed(/claude-([a-z]+-4|3[-.]7)/, 200_000, 64_000, claude),
  closed(/claude/, 200_000, 4_096, { reasoningReplay: "details" }),

  closed(/gemini-[3-9]/, 1_048_576, 65_536, gemini3),
  closed(/gemini-2\.5/, 1_048_576, 65_536, gemini),
  closed(/gemini/, 1_048_576, 8_192, gemini),

  open(/deepseek-v?[4-9]/, 1_000_000, 65_536, deepseek4),
  closed(/deepseek-reasoner/, 131_072, 65_536, deepseek4),
  open(/deepseek-r1/, 131_072, undefined, thinksFirst),
  open(/deepseek/, 131_072, 8_192, deepseek),

  closed(/qwen3(\.\d)?-max/, 258_048, 65_536, qwen),
  closed(/qwen3-coder-plus/, 997_952, 65_536, qwen),
  closed(/qwen3\.\d-plus/, 991_808, 65_536, qwen),
  closed(/qwen-plus/, 129_024, 16_384, qwen),
  open(/qwen.*thinking|qwq/, 131_072, undefined, { ...qwen, ...thinksFirst }),
  open(/qwen/, 131_072, undefined, qwen),

  open(/glm-(4\.[6-9]|[5-9])/, 200_000, 128_000, glm),
  open(/glm/, 128_000, 32_000, glm),

  open(/kimi-k(2\.[5-9]|[3-9])/, 262_144, undefined, kimi25),
  open(/kimi-k2-0711/, 131_072, undefined, kimi),
  open(/kimi/, 262_144, undefined, kimi),

  open(/minimax-m[3-9]/, 1_000_000, 128_000, minimax),
  open(/minimax/, 200_000, undefined, minimax),

  open(/mistral-large-(3|2512|latest)|devstral-(2|2512|latest)/, 256_000, undefined, mistral),
  open(/mistral|ministral|mixtral|magistral|codestral|devstral|pixtral/, 131_072, undefined, mistral),

  closed(/grok-(4\.[3-9]|[5-9])/, 1_000_000, undefined, {}),
  closed(/grok-4/, 256_000, undefined, {}),
];

function closed(id: RegExp, windowTokens: number, outputTokens: number | undefined, profile: Partial<Profile>): Family {
  return { id, windowTokens, outputTokens, profile, isOpen: false };
}

function open(id: RegExp, windowTokens: number, outputTokens: number | undefined, profile: Partial<Profile>): Family {
  return { id, windowTokens, outputTokens, profile, isOpen: true };
}
