import type { Profile } from "../profile.ts";
import type { ModelRequest } from "../provider.ts";
import type { Fields } from "../wire/adapt.ts";
import type { SentTools } from "../wire/sent-tools.ts";
import { wireName } from "../wire/tool-names.ts";
import type { Transcript } from "../wire/transcript.ts";

type About = { readonly profile: Profile; readonly model: string; readonly sent: SentTools };

/** Everything but what was said. What Google wants below `generationConfig` stands here by itself, so that it can be refused by itself. */
export function requestFields(request: ModelRequest, { profile, model, sent }: About): Fields {
  const { maxOutputTokens, temperature } = request;
  const thinkingConfig = thinking(request.thinking, model);
  const toolConfig = sent.json === "" ? undefined : toolChoice(request.toolChoice, profile, sent);
  return {
    ...(sent.json === "" ? {} : { tools: sent.json }),
    ...(toolConfig === undefined ? {} : { toolConfig: { functionCallingConfig: toolConfig } }),
    ...(maxOutputTokens === undefined ? {} : { maxOutputTokens }),
    ...(temperature === undefined || !profile.sampling ? {} : { temperature }),
    ...(thinkingConfig === undefined ? {} : { thinkingConfig }),
  };
}

const budgets = new Map<string | boolean, number>([
  [false, 0],
  ["none", 0],
  ["minimal", 512],
  ["low", 1_024],
  ["medium", 8_192],
  ["high", 24_576],
]);

/** Thoughts are shown where there are any. How much is thought is said in words from Gemini 3 on, and in tokens before. */
function thinking(wanted: ModelRequest["thinking"], model: string): object | undefined {
  if (/gemini-(1|2\.0)|gemma|learnlm/.test(model)) return undefined;
  const shown = { includeThoughts: true };
  if (wanted === undefined || wanted === true) return shown;
  if (/gemini-2\.5/.test(model)) return { ...shown, thinkingBudget: budgets.get(wanted) ?? -1 };
  return { ...shown, thinkingLevel: wanted === false || wanted === "none" ? "minimal" : wanted };
}

function toolChoice(choice: ModelRequest["toolChoice"], profile: Profile, sent: SentTools): object | undefined {
  if (choice === undefined) return undefined;
  if (choice === "auto" || choice === "none") return { mode: choice.toUpperCase() };
  if (!profile.forcedToolChoice) return undefined;
  if (choice === "required") return { mode: "ANY" };
  return sent.byName.has(choice.tool) ? { mode: "ANY", allowedFunctionNames: [wireName(choice.tool)] } : undefined;
}

/** System text and what was said stand in front, so that a longer conversation begins with the bytes of a shorter one. */
export function requestBody({ system, json }: Transcript, { tools, toolConfig, ...generation }: Fields): string {
  const parts = [
    ...(system === "" ? [] : [`"systemInstruction":{"parts":[${system}]}`]),
    `"contents":[${json}]`,
    ...(tools === undefined ? [] : [`"tools":[{"functionDeclarations":${tools}}]`]),
    ...(toolConfig === undefined ? [] : [`"toolConfig":${JSON.stringify(toolConfig)}`]),
    ...(Object.keys(generation).length === 0 ? [] : [`"generationConfig":${JSON.stringify(generation)}`]),
  ];
  return `{${parts.join(",")}}`;
}
