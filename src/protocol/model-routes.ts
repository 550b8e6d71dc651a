import { z } from "zod";
import { Slot } from "./message.ts";
import { LocalServer, ModelInfo } from "./resources.ts";
import { Empty, type Route } from "./route.ts";

const addressCharactersMax = 2_000;
const nameCharactersMax = 200;
const keyCharactersMax = 10_000;

/** In which format a server is spoken with. */
const Api = z.enum(["chat", "responses", "anthropic", "google"]);

const place = {
  /** Where it is reached, such as `https://api.openai.com/v1`. */
  baseUrl: z.url({ protocol: /^https?$/ }).max(addressCharactersMax),
  /** Sealed on the server and never sent back. Left out: the one that is kept for this address stays. */
  apiKey: z.string().min(1).max(keyCharactersMax).optional(),
  /** Left out: the address tells. */
  api: Api.optional(),
};

/** A model as somebody enters it. */
export const ModelEntry = z.object({
  ...place,
  model: z.string().trim().min(1).max(nameCharactersMax),
  contextWindow: z.number().int().min(1_000).max(100_000_000).optional(),
});
export type ModelEntry = z.infer<typeof ModelEntry>;

export const ModelSlot = ModelInfo.extend({
  /** `settings`: a variable or the file says it, and counts before what is entered; `base` and `demo` stand in. */
  from: z.enum(["settings", "entered", "base", "demo"]),
  /** Null of the demo model. */
  baseUrl: z.string().nullable(),
  api: Api,
  hasKey: z.boolean(),
  /** What was entered is kept and cannot be used: why, in words. */
  broken: z.string().nullable(),
});
export type ModelSlot = z.infer<typeof ModelSlot>;

/** What trying a model showed. */
const ModelTest = z.object({
  /** It was reached, and everything that was tried went well. */
  ok: z.boolean(),
  server: z.string(),
  api: Api,
  /** The models that it offers to this key, as far as it says so. */
  offered: z.array(z.string()),
  /** Empty where no model was named. */
  checks: z.array(z.object({ name: z.enum(["answers", "streams", "tools", "usage"]), isOk: z.boolean() })),
  /** Milliseconds; null where nothing was asked. */
  firstMs: z.number().nullable(),
  totalMs: z.number().nullable(),
  failure: z.object({ code: z.string(), detail: z.string() }).nullable(),
});

const bySlot = z.object({ slot: z.string() });

/** Which models answer, and entering others while it runs. */
export const modelRoutes = {
  listModels: {
    method: "GET",
    path: "/api/v1/models",
    scope: "any",
    summary: "The model slots, and the local model servers that were found.",
    params: Empty,
    /** `detect`: looks for them anew; for admins. */
    query: z.object({ detect: z.stringbool().default(false) }),
    body: Empty,
    status: 200,
    failures: [],
    answer: z.object({ slots: z.array(ModelInfo), found: z.array(LocalServer) }),
  },
  getModel: {
    method: "GET",
    path: "/api/v1/models/{slot}",
    scope: "admin",
    summary: "One slot: its model, where it is set, and whether there is a key for it; never the key.",
    params: bySlot,
    query: Empty,
    body: Empty,
    status: 200,
    failures: ["slot_unknown"],
    answer: ModelSlot,
  },
  enterModel: {
    method: "PUT",
    path: "/api/v1/models/{slot}",
    scope: "admin",
    hasSecret: true,
    summary: "Fill a slot for everybody: kept sealed, in effect from the next step on.",
    params: bySlot,
    query: Empty,
    body: ModelEntry,
    status: 200,
    failures: ["slot_unknown", "model_fixed", "secret_key_unusable", "secret_too_long"],
    answer: ModelSlot,
  },
  removeModel: {
    method: "DELETE",
    path: "/api/v1/models/{slot}",
    scope: "admin",
    summary: "Forget what was entered for a slot, with its key; the base model or the demo model stands in.",
    params: bySlot,
    query: Empty,
    body: Empty,
    status: 200,
    failures: ["slot_unknown", "model_fixed", "model_not_entered"],
    answer: ModelSlot,
  },
  testModel: {
    method: "POST",
    path: "/api/v1/models/test",
    scope: "admin",
    hasSecret: true,
    summary: "Try a model before it is entered: two short calls. Without a name, what the server offers.",
    params: Empty,
    query: Empty,
    body: z.object({
      ...place,
      model: z.string().trim().max(nameCharactersMax).optional(),
      /** Whose key is used where none is sent and the address is the same. */
      slot: Slot.default("base"),
    }),
    status: 200,
    failures: [],
    answer: ModelTest,
  },
} as const satisfies Record<string, Route>;
