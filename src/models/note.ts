import type { Slot } from "../protocol/message.ts";

/** Something a person should know about a model, as data; the sentence stands in words/. */
export type ModelNote = {
  readonly code: ModelNoteCode;
  /** Whose settings are meant, where they are. */
  readonly slot?: Slot;
  readonly model: string;
  readonly tokens?: number | undefined;
  /** What mends it, ready to paste; empty where no command does. */
  readonly command: string;
};

type ModelNoteCode =
  /** The model itself has little room, as the default `gpt-4` has. */
  | "window_small"
  /** Nobody told the window; we count with `tokens`. */
  | "window_guessed"
  /** The server gives the model less room than an agent needs. */
  | "served_window_small"
  | "served_window_untold"
  /** The model has no notion of tools. */
  | "tools_missing"
  /** The model may know tools, but its server was started without them. */
  | "tools_off";

/** Below this an agent soon forgets what it is doing. */
export const agentWindowTokensMin = 16_000;

export type ServerKind = "ollama" | "lmstudio" | "llamacpp" | "vllm" | "sglang";

export type ServedModel = {
  readonly id: string;
  /** The window it is served with, where the server tells. */
  readonly windowTokens?: number | undefined;
  readonly tools?: boolean | undefined;
};

/** What to do before working with a local model, if anything. Tools come first: an agent is nothing without them. */
export function adviceFor(kind: ServerKind, { id, windowTokens, tools }: ServedModel): ModelNote | undefined {
  const mend = commands[kind](id);
  if (tools === false) return { code: kind === "vllm" ? "tools_off" : "tools_missing", model: id, command: mend.tools };
  if (windowTokens !== undefined && windowTokens < agentWindowTokensMin)
    return { code: "served_window_small", model: id, tokens: windowTokens, command: mend.window };
  // Ollama serves 4,096 tokens unless told otherwise and cuts the rest without a word; the others refuse.
  if (windowTokens === undefined && kind === "ollama")
    return { code: "served_window_untold", model: id, command: mend.window };
  return undefined;
}

const commands: Readonly<Record<ServerKind, (model: string) => { readonly window: string; readonly tools: string }>> = {
  ollama: () => ({ window: "OLLAMA_CONTEXT_LENGTH=65536 ollama serve", tools: "ollama pull qwen3" }),
  lmstudio: (model) => ({ window: `lms load ${model} --context-length 65536`, tools: "lms get qwen3" }),
  llamacpp: () => ({
    window: "llama-server -m MODEL.gguf --jinja -c 65536",
    tools: "llama-server -m MODEL.gguf --jinja",
  }),
  vllm: (model) => ({
    window: `vllm serve ${model} --max-model-len 65536`,
    tools: `vllm serve ${model} --enable-auto-tool-choice --tool-call-parser hermes`,
  }),
  sglang: (model) => ({
    window: `python3 -m sglang.launch_server --model-path ${model} --context-length 65536`,
    tools: `python3 -m sglang.launch_server --model-path ${model} --tool-call-parser qwen25`,
  }),
};
