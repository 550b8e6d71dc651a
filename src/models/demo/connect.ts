import { bestOffers, type FoundServer, type Offer } from "../detect.ts";
import type { ServerKind } from "../note.ts";
import type { DemoWords, NoteWords } from "./intent.ts";

const serverNames: Readonly<Record<ServerKind, string>> = {
  ollama: "Ollama",
  lmstudio: "LM Studio",
  llamacpp: "llama.cpp",
  vllm: "vLLM",
  sglang: "SGLang",
};

/** How to get a real model: what was found on this machine first, then the lines for everything else. */
export function connectText(servers: readonly FoundServer[], words: DemoWords, notes: NoteWords): string {
  const offers = bestOffers(servers);
  return [
    words.connectHead,
    ...(offers.length === 0 ? [] : [words.foundHead, ...offers.map((offer) => offerText(offer, words, notes))]),
    `${words.openAiHead}\n\n${block("OPENAI_API_KEY=sk-…", "OPENAI_MODEL=gpt-4.1")}`,
    `${words.compatibleHead}\n\n${block("MODEL_BASIC_API_KEY=…", "MODEL_BASIC_BASE_URL=https://…/v1", "MODEL_BASIC_ID=…")}`,
    ...(offers.length > 0 ? [] : [`${words.localHead}\n\n${localBlock("http://127.0.0.1:11434/v1", "qwen3")}`]),
  ].join("\n\n");
}

function offerText({ kind, baseUrl, model }: Offer, words: DemoWords, notes: NoteWords): string {
  const note = model.advice === undefined ? "" : `\n\n${notes[model.advice.code](model.advice)}`;
  const head = words.found(model.id, serverNames[kind], model.windowTokens, model.tools);
  return `${head}\n\n${localBlock(baseUrl, model.id)}${note}`;
}

function localBlock(baseUrl: string, model: string): string {
  return block(`MODEL_BASIC_BASE_URL=${baseUrl}`, `MODEL_BASIC_ID=${model}`);
}

function block(...lines: readonly string[]): string {
  return ["```", ...lines, "```"].join("\n");
}
