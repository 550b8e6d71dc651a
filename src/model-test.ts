import type { Writable } from "node:stream";
import { systemClock } from "./base/clock.ts";
import { systemIds } from "./base/ids.ts";
import { ok } from "./base/result.ts";
import type { Config } from "./config/config.ts";
import { startDemoServer } from "./models/demo/demo.ts";
import {
  describeModel,
  modelFailure,
  NeutralRequest,
  type Trial,
  toModelRequest,
  toNeutralResult,
  tryModel,
} from "./models/models.ts";
import { defaultProfile } from "./models/profile.ts";
import type { Endpoint } from "./models/provider.ts";
import { makeFailure } from "./protocol/failure.ts";
import type { Slot } from "./protocol/message.ts";
import { providerFor } from "./providers.ts";
import { exitCodeOf, printModelTest, readJsonFile, refuse } from "./terminal/terminal.ts";
import { failureWords, type Words } from "./words/words.ts";

type Command = { readonly slot: Slot; readonly json: boolean; readonly request?: string | undefined };
type Parts = { readonly config: Config; readonly words: Words; readonly output: Writable; readonly errors: Writable };

/** `agentyard model test`: tries the model of a slot, or makes the one call that a file describes. Nothing is retried. */
export async function testModel(command: Command, parts: Parts): Promise<number> {
  const { request } = command;
  const neutral = request === undefined ? ok(undefined) : await readJsonFile(request, NeutralRequest, parts.words);
  if (!neutral.ok) return refuse(makeFailure("usage", { what: `${request}: ${neutral.failure}` }), parts);
  const { endpoint, close } = await reach(command.slot, parts, neutral.value);
  const { proxyEnv } = parts.config.models;
  const provider = providerFor({ endpoint, clock: systemClock, ids: systemIds, proxyEnv });
  try {
    if (neutral.value === undefined) return report(command, endpoint, await tryModel(provider, systemClock), parts);
    const answer = await provider.prepare(toModelRequest(neutral.value)).send({}, new AbortController().signal);
    parts.output.write(`${JSON.stringify(toNeutralResult(answer))}\n`);
    return answer.error === undefined ? 0 : exitCodeOf(`model_${answer.error.kind}`);
  } finally {
    await provider.close();
    await close();
  }
}

/** The slot's model, the base model in its place, or the demo model. A request file brings its own profile and limits. */
async function reach(
  slot: Slot,
  { config, errors }: Parts,
  request: NeutralRequest | undefined,
): Promise<{ endpoint: Endpoint; close(): Promise<void> }> {
  const { slots } = config.models;
  const { idleTimeoutMs = config.models.idleTimeoutMs, firstDataTimeoutMs = config.models.firstDataTimeoutMs } =
    request?.client ?? {};
  const settings = slots[slot] ?? slots.base;
  const onThrown = (error: unknown) => errors.write(`${error instanceof Error ? error.stack : error}\n`);
  const demo = settings === undefined ? await startDemoServer({ clock: systemClock, onThrown }) : undefined;
  const model = settings ?? { baseUrl: demo?.baseUrl ?? "", apiKey: demo?.apiKey, model: "demo" };
  const { baseUrl, apiKey } = model;
  const known = describeModel(model).profile;
  // A file about an odd server says all that is known of it. What is known of a vendor's own format holds for its file, too.
  const profile = request?.profile ?? (request === undefined || known.api !== "chat" ? known : defaultProfile);
  const endpoint = {
    baseUrl,
    apiKey,
    model: model.model,
    profile,
    idleTimeoutMs,
    firstDataTimeoutMs,
  };
  return { endpoint, close: async () => demo?.close() };
}

function report(
  { slot, json }: Command,
  { model, baseUrl, profile }: Endpoint,
  { checks, latency, error }: Trial,
  { words, output }: Parts,
): number {
  const server = URL.parse(baseUrl)?.host ?? baseUrl;
  const reason = error === undefined ? undefined : modelFailure({ model, server }, error);
  const about = { slot, model, server, api: profile.api, checks, latency };
  const isWell = error === undefined && checks.every((check) => check.isOk);
  if (json)
    output.write(`${JSON.stringify({ ...about, ok: isWell, error: error === undefined ? null : { ...error } })}\n`);
  else
    printModelTest(
      { ...about, ...(reason === undefined ? {} : { failure: failureWords(words, reason) }) },
      { output, words },
    );
  if (reason !== undefined) return exitCodeOf(reason.code);
  return isWell ? 0 : 1;
}
