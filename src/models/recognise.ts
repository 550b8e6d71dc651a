import { z } from "zod";
import type { JsonAnswer } from "./ask-json.ts";
import { agentWindowTokensMin, type ServedModel, type ServerKind } from "./note.ts";

/** Asks for a path below the server's root; with a body it is a POST. */
export type Ask = (path: string, body?: unknown) => Promise<JsonAnswer | undefined>;

export type Recognised = { readonly kind: ServerKind; readonly models: readonly ServedModel[] };

/** How each kind of server is known and asked. Only GETs are sent before a server has been recognised. */
export const recognisers: readonly {
  readonly kind: ServerKind;
  readonly port: number;
  recognise(ask: Ask): Promise<Recognised | undefined>;
}[] = [
  { kind: "ollama", port: 11_434, recognise: recogniseOllama },
  { kind: "lmstudio", port: 1_234, recognise: recogniseLmStudio },
  { kind: "llamacpp", port: 8_080, recognise: recogniseLlamaCpp },
  { kind: "vllm", port: 8_000, recognise: recogniseEngine },
  { kind: "sglang", port: 30_000, recognise: recogniseEngine },
];

const modelsAskedMax = 12;

/** Ids end up in commands that people paste: only what a shell takes as one plain word. */
const ModelId = z.string().regex(/^[\w./:@+-]{1,200}$/);
const Tokens = z.int().positive();

/** Entries that make no sense are left out; the others count. */
function many<T extends object>(entry: z.ZodType<T>) {
  return z.array(z.unknown()).transform((all) =>
    all.flatMap((one): T[] => {
      const { data } = entry.safeParse(one);
      return data === undefined ? [] : [data];
    }),
  );
}

const OllamaVersion = z.object({ version: z.string() });
const OllamaTags = z.object({ models: many(z.object({ name: ModelId })) });
const OllamaLoaded = z.object({ models: many(z.object({ name: z.string(), context_length: Tokens.optional() })) });
const OllamaShow = z.object({
  capabilities: z.array(z.string()).optional(),
  parameters: z.string().optional(),
  model_info: z.record(z.string(), z.unknown()).optional(),
});

async function recogniseOllama(ask: Ask): Promise<Recognised | undefined> {
  const [version, tags, loaded] = await Promise.all([ask("/api/version"), ask("/api/tags"), ask("/api/ps")]);
  const listed = OllamaTags.safeParse(tags?.body).data?.models.slice(0, modelsAskedMax);
  if (!OllamaVersion.safeParse(version?.body).success || listed === undefined) return undefined;
  const running = OllamaLoaded.safeParse(loaded?.body).data?.models ?? [];
  const shown = await Promise.all(listed.map(({ name }) => ask("/api/show", { model: name })));
  const models = listed.map(({ name }, index) => {
    const show = OllamaShow.safeParse(shown[index]?.body).data;
    const servedTokens = running.find((model) => model.name === name)?.context_length ?? numCtx(show?.parameters);
    return {
      id: name,
      windowTokens: leastTokens(servedTokens, trainedTokens(show?.model_info)),
      tools: show?.capabilities?.includes("tools"),
      answers: show?.capabilities?.includes("completion") !== false,
    };
  });
  return { kind: "ollama", models: models.filter(({ answers }) => answers).map(({ answers, ...model }) => model) };
}

/** Set in the model's own file; it counts unless the server was started with another figure. */
function numCtx(parameters: string | undefined): number | undefined {
  const found = /^num_ctx\s+(\d+)/m.exec(parameters ?? "")?.[1];
  return found === undefined ? undefined : Number(found);
}

/** `qwen3.context_length` and the like: what the model could take, not what it is served with. */
function trainedTokens(info: Readonly<Record<string, unknown>> | undefined): number | undefined {
  const entry = Object.entries(info ?? {}).find(([key]) => key.endsWith(".context_length"));
  return Tokens.safeParse(entry?.[1]).data;
}

/** What the model could take caps what is served; alone it says nothing, unless it is too small itself. */
function leastTokens(served: number | undefined, trained: number | undefined): number | undefined {
  if (served !== undefined) return Math.min(served, trained ?? served);
  return trained !== undefined && trained < agentWindowTokensMin ? trained : undefined;
}

const LmStudioModels = z.object({
  models: many(
    z.object({
      type: z.string(),
      key: ModelId,
      loaded_instances: z.array(z.object({ config: z.object({ context_length: Tokens }) })).default([]),
      capabilities: z.object({ trained_for_tool_use: z.boolean().optional() }).optional(),
    }),
  ),
});
/** Before LM Studio 0.4. */
const LmStudioModelsV0 = z.object({
  data: many(
    z.object({
      type: z.string(),
      id: ModelId,
      loaded_context_length: Tokens.optional(),
      capabilities: z.array(z.string()).optional(),
    }),
  ),
});

async function recogniseLmStudio(ask: Ask): Promise<Recognised | undefined> {
  const [v1, v0, compatible] = await Promise.all([ask("/api/v1/models"), ask("/api/v0/models"), ask("/v1/models")]);
  const models =
    lmStudioModels(v1) ??
    lmStudioModelsV0(v0) ??
    modelsOwnedBy(/^organization[_-]owner$/, compatible)?.map(({ id }) => ({ id }));
  return models === undefined ? undefined : { kind: "lmstudio", models };
}

function lmStudioModels(answer: JsonAnswer | undefined): readonly ServedModel[] | undefined {
  const models = LmStudioModels.safeParse(answer?.body).data?.models;
  return models
    ?.filter(({ type }) => type === "llm")
    .map((model) => ({
      id: model.key,
      windowTokens: model.loaded_instances[0]?.config.context_length,
      tools: model.capabilities?.trained_for_tool_use,
    }));
}

function lmStudioModelsV0(answer: JsonAnswer | undefined): readonly ServedModel[] | undefined {
  const models = LmStudioModelsV0.safeParse(answer?.body).data?.data;
  return models
    ?.filter(({ type }) => type !== "embeddings")
    .map((model) => ({
      id: model.id,
      windowTokens: model.loaded_context_length,
      tools: model.capabilities?.includes("tool_use"),
    }));
}

const LlamaCppHealth = z.object({ status: z.literal("ok") });
const LlamaCppProps = z.object({
  default_generation_settings: z.object({ n_ctx: Tokens }),
  chat_template_caps: z.object({ supports_tools: z.boolean().optional() }).optional(),
});

async function recogniseLlamaCpp(ask: Ask): Promise<Recognised | undefined> {
  const [health, properties, listed] = await Promise.all([ask("/health"), ask("/props"), ask("/v1/models")]);
  const props = LlamaCppProps.safeParse(properties?.body).data;
  if (!LlamaCppHealth.safeParse(health?.body).success || props === undefined) return undefined;
  const windowTokens = props.default_generation_settings.n_ctx;
  // A template without tools still gets them in llama.cpp's own form, so only a yes says something.
  const tools = props.chat_template_caps?.supports_tools === true ? true : undefined;
  return {
    kind: "llamacpp",
    models: (modelsOwnedBy(/./, listed) ?? []).map(({ id }) => ({ id, windowTokens, tools })),
  };
}

/** vLLM and SGLang name themselves as the owner of what they serve, on whichever port they are found. */
async function recogniseEngine(ask: Ask): Promise<Recognised | undefined> {
  const listed = await ask("/v1/models");
  const sglang = modelsOwnedBy(/^sglang$/, listed);
  if (sglang !== undefined) return { kind: "sglang", models: sglang.map(engineModel) };
  const vllm = modelsOwnedBy(/^vllm$/, listed);
  if (vllm === undefined) return undefined;
  const tools = await takesTools(ask, vllm[0]?.id);
  return { kind: "vllm", models: vllm.map((model) => ({ ...engineModel(model), tools })) };
}

const CompatibleModels = z.object({
  data: many(z.object({ id: ModelId, owned_by: z.string(), max_model_len: Tokens.nullish() })),
});
type CompatibleModel = z.infer<typeof CompatibleModels>["data"][number];

function modelsOwnedBy(owner: RegExp, answer: JsonAnswer | undefined): readonly CompatibleModel[] | undefined {
  const models = CompatibleModels.safeParse(answer?.body).data?.data.filter((model) => owner.test(model.owned_by));
  return models === undefined || models.length === 0 ? undefined : models;
}

function engineModel({ id, max_model_len }: CompatibleModel): ServedModel {
  return { id, windowTokens: max_model_len ?? undefined };
}

/** vLLM tells only in answer to a request with tools: a 400 that names the missing flag, before any work is done. */
async function takesTools(ask: Ask, model: string | undefined): Promise<boolean | undefined> {
  const answer = await ask("/v1/chat/completions", {
    model,
    messages: [{ role: "user", content: "hi" }],
    max_tokens: 1,
    tools: [{ type: "function", function: { name: "noop", parameters: { type: "object", properties: {} } } }],
    tool_choice: "auto",
  });
  if (answer?.status === 200) return true;
  return JSON.stringify(answer?.body ?? "").includes("--enable-auto-tool-choice") ? false : undefined;
}
