import { assert } from "../base/assert.ts";
import type { Clock } from "../base/clock.ts";
import { Slot } from "../protocol/message.ts";
import type { ModelNote } from "./note.ts";
import { describeModel, type ModelDescription, outputLimit } from "./profiles.ts";
import type { Endpoint, ModelProvider, ModelRequest, PreparedCall } from "./provider.ts";
import { defaultResolver, type ModelFacts, type Resolver } from "./resolver.ts";
import { completeSettings, type DescribeServer, type SlotSettings } from "./settings.ts";
import { openTurnstiles, type Turnstile } from "./turnstile.ts";

export {
  bestOffers,
  type DetectOptions,
  describeServer,
  detectServers,
  type FoundServer,
  offeredModels,
} from "./detect.ts";
export type { Embedder, EmbeddingSettings } from "./embedding/embedding.ts";
export { type Entering, isModelName, openEntering, readKeptModels } from "./entered.ts";
export { estimateTokens } from "./estimate.ts";
export { modelFailure } from "./model-failure.ts";
export { NeutralRequest, toModelRequest, toNeutralResult } from "./neutral.ts";
export type { ModelNote, ServerKind } from "./note.ts";
export { costOf, type Price, type PriceTable, priceOf } from "./prices.ts";
export { describeModel } from "./profiles.ts";
export type { ModelError } from "./provider.ts";
export type { ModelFacts, Resolver } from "./resolver.ts";
export type { SlotSettings } from "./settings.ts";
export { type Trial, tryModel } from "./trial.ts";

/** The models of this installation: which slots are filled, and which one a step uses. */
export interface Models {
  /** The model for one step, with the reason that goes into the log. */
  choose(facts: ModelFacts): ModelChoice;
  /** The slot's own model, or the base model in its place. */
  get(slot: Slot): Model;
  /** The filled slots, base first. */
  list(): readonly Model[];
  /**
   * The slots as they are set now: filled, filled anew, or empty again, and then the demo model is there for an empty base
   * slot. Calls on their way to the earlier model end as they began.
   */
  change(slots: ModelsOptions["slots"]): Promise<void>;
  close(): Promise<void>;
}

export type ModelChoice = { readonly slot: Slot; readonly reason: string; readonly model: Model };

export type Model = {
  /** The slot whose settings it has. */
  readonly slot: Slot;
  readonly id: string;
  /** For people: the server's host, or `demo`. */
  readonly server: string;
  readonly isDemo: boolean;
  readonly windowTokens: number;
  /** `small`: short prompt and fewer tools, for small or local models and windows. */
  readonly promptSize: "full" | "small";
  /** The longest answer that is asked for; undefined: the server decides. */
  readonly outputTokensMax: number | undefined;
  /** Settings of the slot (temperature, output limit) are added here; `owner` is for fairness among users. */
  prepare(request: ModelTurnRequest): PreparedCall;
};

export type ModelTurnRequest = Pick<ModelRequest, "messages" | "tools" | "toolChoice" | "cacheKey"> & {
  readonly owner: string;
  /** A shorter answer than the settings of the slot allow. */
  readonly outputTokensMax?: number | undefined;
};

export type ModelsOptions = {
  readonly slots: Partial<Record<Slot, SlotSettings>>;
  readonly makeProvider: (endpoint: Endpoint) => ModelProvider;
  /** Starts the demo model; called only when nothing fills the base slot. */
  readonly startDemo: () => Promise<DemoEndpoint>;
  readonly clock: Clock;
  readonly resolver?: Resolver | undefined;
  /** Asks a local server what it serves; its window then counts where the user named none. */
  readonly describeServer?: DescribeServer | undefined;
  readonly onNote?: ((note: ModelNote) => void) | undefined;
  /** Calls at once to one base URL. */
  readonly callsMax?: number | undefined;
  readonly idleTimeoutMs?: number | undefined;
  readonly firstDataTimeoutMs?: number | undefined;
};

export type DemoEndpoint = { readonly baseUrl: string; readonly apiKey: string; close(): Promise<void> };

const demoModelId = "demo";
const demoWindowTokens = 128_000;
const callsMaxDefault = 256;
const holdMsMax = 60_000;
const idleTimeoutMsDefault = 120_000;
/** Local servers load the model, and read a long prompt, before the first word. */
const firstDataTimeoutMsDefault = 300_000;

/** Fills the slots; an empty base slot gets the demo model, so that there is always somebody to answer. */
export async function openModels(options: ModelsOptions): Promise<Models> {
  const models = new Map<Slot, Model>();
  const turnstileBefore = openTurnstiles({
    clock: options.clock,
    callsMax: options.callsMax ?? callsMaxDefault,
    holdMsMax,
  });
  const providers: ModelProvider[] = [];
  const resolver = options.resolver ?? defaultResolver;

  await fillAll(options.slots);
  let demo: Promise<DemoEndpoint> | undefined;
  if (!models.has("base")) await fillWithDemo();

  return {
    choose(facts) {
      const { slot, reason } = resolver(facts, new Set(models.keys()));
      const model = models.get(slot);
      return model === undefined
        ? { slot: "base", reason: "fallback to base", model: base() }
        : { slot, reason, model };
    },
    get: (slot) => models.get(slot) ?? base(),
    list: () => Slot.options.flatMap((slot) => models.get(slot) ?? []),
    async change(slots) {
      await fillAll(slots);
      for (const slot of Slot.options) if (slot !== "base" && slots[slot] === undefined) models.delete(slot);
      if (slots.base === undefined && !base().isDemo) await fillWithDemo();
    },
    async close() {
      await Promise.all(providers.map((provider) => provider.close()));
      await (await demo)?.close();
    },
  };

  async function fillAll(slots: ModelsOptions["slots"]): Promise<void> {
    const wanted = Object.values(slots);
    for (const told of await Promise.all(wanted.map((slot) => completeSettings(slot, options.describeServer)))) {
      fill(told.settings, false);
      noteIf(told.note);
    }
  }

  async function fillWithDemo(): Promise<void> {
    demo ??= options.startDemo();
    fill(demoSettings(await demo), true);
  }

  function base(): Model {
    const model = models.get("base");
    assert(model !== undefined, "the base slot is filled when models are opened, and never emptied");
    return model;
  }

  function noteIf(note: ModelNote | undefined): void {
    if (note !== undefined) options.onNote?.(note);
  }

  function fill(slot: SlotSettings, isDemo: boolean): Model {
    const known = describeModel(slot);
    const { baseUrl, apiKey, model: name } = slot;
    const { idleTimeoutMs = idleTimeoutMsDefault, firstDataTimeoutMs = firstDataTimeoutMsDefault } = options;
    const limits = { idleTimeoutMs, firstDataTimeoutMs };
    const provider = options.makeProvider({ baseUrl, apiKey, model: name, profile: known.profile, ...limits });
    providers.push(provider);
    const model = makeModel(slot, { known, provider, turnstile: turnstileBefore(slot.baseUrl), isDemo });
    models.set(slot.slot, model);
    return model;
  }
}

function demoSettings({ baseUrl, apiKey }: DemoEndpoint): SlotSettings {
  return { slot: "base", baseUrl, apiKey, model: demoModelId, contextWindow: demoWindowTokens };
}

type ModelParts = {
  readonly known: ModelDescription;
  readonly provider: ModelProvider;
  readonly turnstile: Turnstile;
  readonly isDemo: boolean;
};

function makeModel(slot: SlotSettings, { known, provider, turnstile, isDemo }: ModelParts): Model {
  const settings = {
    stream: true,
    temperature: known.profile.sampling ? slot.temperature : undefined,
    maxOutputTokens: outputLimit(known, slot.maxTokens),
  };
  return {
    slot: slot.slot,
    id: slot.model,
    server: isDemo ? "demo" : (URL.parse(slot.baseUrl)?.host ?? slot.baseUrl),
    isDemo,
    windowTokens: known.windowTokens,
    promptSize: known.promptSize,
    outputTokensMax: settings.maxOutputTokens,
    prepare({ owner, outputTokensMax, ...request }) {
      const shorter = outputTokensMax === undefined ? {} : { maxOutputTokens: outputTokensMax };
      return turnstile.guard(provider.prepare({ ...request, ...settings, ...shorter }), owner);
    },
  };
}
