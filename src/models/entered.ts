import type { Clock } from "../base/clock.ts";
import { parsedJson } from "../base/json.ts";
import { ok, type Result } from "../base/result.ts";
import { type Failure, failure } from "../protocol/failure.ts";
import { localOwner } from "../protocol/ids.ts";
import { Slot } from "../protocol/message.ts";
import { ModelEntry, type ModelSlot } from "../protocol/model-routes.ts";
import type { Secrets } from "../users/users.ts";
import { offeredModels } from "./detect.ts";
import { modelFailure } from "./model-failure.ts";
import type { Models } from "./models.ts";
import { describeModel } from "./profiles.ts";
import type { Endpoint, ModelProvider } from "./provider.ts";
import type { SlotSettings } from "./settings.ts";
import { type Trial, tryModel } from "./trial.ts";

type Slots = Partial<Record<Slot, SlotSettings>>;
type Sealing = Awaited<ReturnType<Secrets["put"]>> extends Result<unknown, infer F> ? F : never;

/** What people entered while it runs: sealed with the key of the installation, kept here as it is used. */
export type KeptModels = {
  readonly entries: ReadonlyMap<Slot, ModelEntry>;
  /** Kept, but not to be opened: the reason. */
  readonly broken: ReadonlyMap<Slot, Failure>;
  /** Another server has changed something. */
  readAgain(): Promise<void>;
  keep(slot: Slot, entry: ModelEntry): Promise<Result<void, Sealing>>;
  forget(slot: Slot): Promise<Result<boolean, Sealing>>;
  /** Those of the settings count before those that were entered. */
  beside(fixed: Slots): Slots;
};

export async function readKeptModels(secrets: Secrets): Promise<KeptModels> {
  const entries = new Map<Slot, ModelEntry>();
  const broken = new Map<Slot, Failure>();
  const readOne = async (slot: Slot) => {
    const opened = await secrets.open(localOwner, nameOf(slot));
    entries.delete(slot);
    broken.delete(slot);
    if (!opened.ok) broken.set(slot, opened.failure);
    // One that a later version wrote is not ours to guess at: the slot is empty until it is entered again.
    const entry = opened.ok && opened.value !== undefined ? ModelEntry.safeParse(parsedJson(opened.value)) : undefined;
    if (entry?.success) entries.set(slot, entry.data);
  };
  const readAgain = async () => {
    for (const slot of Slot.options) await readOne(slot);
  };
  await readAgain();
  return {
    readAgain,
    entries,
    broken,
    async keep(slot, entry) {
      const put = await secrets.put(localOwner, nameOf(slot), JSON.stringify(entry));
      if (!put.ok) return put;
      entries.set(slot, entry);
      broken.delete(slot);
      return ok(undefined);
    },
    async forget(slot) {
      const dropped = await secrets.drop(localOwner, nameOf(slot));
      if (!dropped.ok) return dropped;
      entries.delete(slot);
      broken.delete(slot);
      return dropped;
    },
    beside: (fixed) => ({
      ...Object.fromEntries([...entries].map(([slot, entry]) => [slot, { slot, ...entry }])),
      ...fixed,
    }),
  };
}

/** Whether a secret of this name is an entered model. */
export function isModelName(name: string): boolean {
  return name.startsWith("model/");
}

function nameOf(slot: Slot): string {
  return `model/${slot}`;
}

export type Entering = {
  describe(slot: Slot): Omit<ModelSlot, "broken"> & { readonly broken: Failure | undefined };
  enter(slot: Slot, entry: ModelEntry): Promise<Result<void, Sealing | Failure<"model_fixed">>>;
  remove(slot: Slot): Promise<Result<void, Sealing | Failure<"model_fixed" | "model_not_entered">>>;
  test(wanted: WantedModel): Promise<TestedModel>;
};

export type WantedModel = Pick<SlotSettings, "slot" | "baseUrl" | "apiKey" | "api"> & {
  readonly model?: string | undefined;
};

export type TestedModel = {
  readonly server: string;
  readonly api: ModelSlot["api"];
  readonly offered: readonly string[];
  /** Absent where no model was named. */
  readonly trial: Trial | undefined;
  readonly failure: Failure | undefined;
};

export type EnteringParts = {
  readonly models: Pick<Models, "get" | "change">;
  readonly kept: KeptModels;
  /** As variables and files have them now. */
  readonly fixed: () => Slots;
  /** A variable that people know the slot by. */
  readonly variableOf: (slot: Slot) => string;
  readonly makeProvider: (endpoint: Endpoint) => ModelProvider;
  readonly clock: Clock;
  readonly proxyEnv: Parameters<typeof offeredModels>[1]["proxyEnv"];
};

/** More than anybody reads; a name as long as a page is no name. */
const offeredMax = 500;
const limits = { idleTimeoutMs: 30_000, firstDataTimeoutMs: 60_000 };

/** Filling slots while it runs, and trying a model before. */
export function openEntering({ models, kept, fixed, variableOf, ...out }: EnteringParts): Entering {
  const fixedFailure = (slot: Slot) => failure("model_fixed", { slot, variable: variableOf(slot) });
  return {
    describe(slot) {
      const { id, server, isDemo, windowTokens, slot: own } = models.get(slot);
      const settings = kept.beside(fixed())[own];
      const ownSource = isDemo ? "demo" : fixed()[slot] === undefined ? "entered" : "settings";
      const from = own === slot ? ownSource : "base";
      return {
        ...{ slot, id, server, isDemo, windowTokens, filled: own === slot, from },
        baseUrl: settings === undefined ? null : withoutPassword(settings.baseUrl),
        api: settings === undefined ? "chat" : describeModel(settings).profile.api,
        hasKey: settings?.apiKey !== undefined,
        broken: kept.broken.get(slot),
      };
    },
    async enter(slot, entry) {
      if (fixed()[slot] !== undefined) return fixedFailure(slot);
      const { apiKey = keyFor(kept.entries.get(slot), entry.baseUrl), ...rest } = entry;
      const stored = await kept.keep(slot, { ...rest, ...(apiKey !== undefined && { apiKey }) });
      if (!stored.ok) return stored;
      await models.change(kept.beside(fixed()));
      return ok(undefined);
    },
    async remove(slot) {
      if (fixed()[slot] !== undefined) return fixedFailure(slot);
      const dropped = await kept.forget(slot);
      if (!dropped.ok) return dropped;
      if (!dropped.value) return failure("model_not_entered", { slot });
      await models.change(kept.beside(fixed()));
      return ok(undefined);
    },
    test: (wanted) =>
      testModel({ ...wanted, apiKey: wanted.apiKey ?? keyFor(kept.entries.get(wanted.slot), wanted.baseUrl) }, out),
  };
}

/** A key goes to the server it was entered for, and to no other. */
function keyFor(entry: ModelEntry | undefined, baseUrl: string): string | undefined {
  return entry !== undefined && URL.parse(entry.baseUrl)?.origin === URL.parse(baseUrl)?.origin
    ? entry.apiKey
    : undefined;
}

function withoutPassword(address: string): string {
  const url = URL.parse(address);
  if (url === null || (url.username === "" && url.password === "")) return address;
  url.username = "";
  url.password = "";
  return url.href;
}

/** A server that does not list its models is asked with a name that nobody has: whether the key fits shows all the same. */
async function testModel(
  { baseUrl, apiKey, api, model = "" }: Omit<WantedModel, "slot">,
  { makeProvider, clock, proxyEnv }: Pick<EnteringParts, "makeProvider" | "clock" | "proxyEnv">,
): Promise<TestedModel> {
  const named = { baseUrl, apiKey, model: model === "" ? "default" : model, api };
  const { profile } = describeModel(named);
  const server = URL.parse(baseUrl)?.host ?? baseUrl;
  const offered = (await offeredModels(named, { clock, proxyEnv })).slice(0, offeredMax).map((id) => id.slice(0, 200));
  const about = { server, api: profile.api, offered };
  if (model === "" && offered.length > 0) return { ...about, trial: undefined, failure: undefined };
  const provider = makeProvider({ ...named, profile, ...limits });
  try {
    const trial = await tryModel(provider, clock);
    const reason = trial.error === undefined ? undefined : modelFailure({ model: named.model, server }, trial.error);
    if (model !== "") return { ...about, trial, failure: reason };
    const isNameless = trial.error?.kind === "not_found" || trial.error?.kind === "bad_request";
    return { ...about, trial: undefined, failure: isNameless ? undefined : reason };
  } finally {
    await provider.close();
  }
}
