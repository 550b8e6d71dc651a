import { z } from "zod";
import type { Clock } from "../base/clock.ts";
import { type AskOptions, askJson } from "./ask-json.ts";
import { keyHeaders } from "./key-headers.ts";
import { adviceFor, type ModelNote, type ServedModel, type ServerKind } from "./note.ts";
import { describeModel, type ModelNaming } from "./profiles.ts";
import { type Recognised, recognisers } from "./recognise.ts";

const detectLimitMs = 300;
const offeredLimitMs = 2_000;
const offersMax = 3;

const OfferedModels = z.union([
  z.object({ data: z.array(z.object({ id: z.string() })) }).transform(({ data }) => data.map(({ id }) => id)),
  // Google has the path of each in front of its name.
  z
    .object({ models: z.array(z.object({ name: z.string() })) })
    .transform(({ models }) => models.map(({ name }) => name.replace(/^models\//, ""))),
]);

type FoundModel = ServedModel & {
  /** What to do before working with it. */
  readonly advice?: ModelNote | undefined;
};
export type FoundServer = {
  readonly kind: ServerKind;
  /** Ends in `/v1`, ready for a slot. */
  readonly baseUrl: string;
  /** Best first; at least one. */
  readonly models: readonly FoundModel[];
};
export type Offer = { readonly kind: ServerKind; readonly baseUrl: string; readonly model: FoundModel };

export type DetectOptions = {
  readonly clock: Clock;
  readonly limitMs?: number | undefined;
  readonly ports?: Partial<Record<ServerKind, number>> | undefined;
};

/**
 * The model servers of this machine that hold at least one model. Loopback only, all at once, within the limit; what
 * was learnt until then counts.
 */
export async function detectServers({
  clock,
  limitMs = detectLimitMs,
  ports,
}: DetectOptions): Promise<readonly FoundServer[]> {
  return within(clock, limitMs, async (signal) => {
    const found = await Promise.all(
      recognisers.map(async ({ kind, port, recognise }) => {
        const root = `http://127.0.0.1:${ports?.[kind] ?? port}`;
        return foundServer(root, await recognise(askBelow(root, signal)));
      }),
    );
    return found.filter((server) => server !== undefined);
  });
}

/** What the server behind a configured base URL says of itself, if it is of a kind we know. */
export async function describeServer(
  baseUrl: string,
  { clock, limitMs = detectLimitMs }: Omit<DetectOptions, "ports">,
): Promise<FoundServer | undefined> {
  const root = baseUrl.replace(/\/+(v1\/*)?$/, "");
  return within(clock, limitMs, async (signal) => {
    const ask = askBelow(root, signal);
    const answers = await Promise.all(recognisers.map(({ recognise }) => recognise(ask)));
    return foundServer(
      root,
      answers.find((answer) => answer !== undefined),
    );
  });
}

/** The best models of all servers, best first, few enough to choose from. */
export function bestOffers(servers: readonly FoundServer[]): readonly Offer[] {
  const offers = servers.flatMap(({ kind, baseUrl, models }) => models.map((model) => ({ kind, baseUrl, model })));
  return offers.sort((a, b) => byWorth(a.model, b.model)).slice(0, offersMax);
}

/** The ids a server offers to whoever has this key; empty when it does not say so in time. */
export async function offeredModels(
  { apiKey, ...naming }: ModelNaming & { readonly apiKey?: string | undefined },
  { clock, limitMs = offeredLimitMs, proxyEnv }: Omit<DetectOptions, "ports"> & Pick<AskOptions, "proxyEnv">,
): Promise<readonly string[]> {
  const { api } = describeModel(naming).profile;
  const root = naming.baseUrl.replace(/\/+$/, "");
  const url = URL.parse(`${root}${api === "anthropic" && !/\/v\d+$/.test(root) ? "/v1" : ""}/models`);
  if (url === null) return [];
  const headers = keyHeaders(api, url, apiKey);
  const answer = await within(clock, limitMs, (signal) => askJson(url.href, { signal, headers, proxyEnv }));
  return OfferedModels.safeParse(answer?.body).data ?? [];
}

function foundServer(root: string, answer: Recognised | undefined): FoundServer | undefined {
  if (answer === undefined || answer.models.length === 0) return undefined;
  const models = answer.models.map((model) => ({ ...model, advice: adviceFor(answer.kind, model) }));
  return { kind: answer.kind, baseUrl: `${root}/v1`, models: models.sort(byWorth) };
}

/** Tools known to work, then nothing to mend, then the larger window; equal ones stay in the server's own order. */
function byWorth(a: FoundModel, b: FoundModel): number {
  return worth(b) - worth(a) || (b.windowTokens ?? 0) - (a.windowTokens ?? 0);
}

function worth({ tools, advice }: FoundModel): number {
  const toolsWorth = tools === true ? 4 : tools === undefined ? 2 : 0;
  return toolsWorth + (advice === undefined ? 1 : 0);
}

function askBelow(root: string, signal: AbortSignal) {
  return (path: string, body?: unknown) => askJson(`${root}${path}`, { signal, body });
}

async function within<T>(clock: Clock, limitMs: number, action: (signal: AbortSignal) => Promise<T>): Promise<T> {
  const limit = new AbortController();
  const cancel = clock.after(limitMs, () => limit.abort());
  try {
    return await action(limit.signal);
  } finally {
    cancel();
    limit.abort();
  }
}
