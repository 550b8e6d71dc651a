import type { Slot } from "../protocol/message.ts";
import type { FoundServer } from "./detect.ts";
import { agentWindowTokensMin, type ModelNote } from "./note.ts";
import type { Api, Profile } from "./profile.ts";
import { describeModel, isLocalHost } from "./profiles.ts";

/** What the user said about a slot. */
export type SlotSettings = {
  readonly slot: Slot;
  readonly baseUrl: string;
  readonly apiKey?: string | undefined;
  readonly model: string;
  /** The wire format; without it the address tells. */
  readonly api?: Api | undefined;
  /** Sent only where the model takes one. */
  readonly temperature?: number | undefined;
  readonly maxTokens?: number | undefined;
  readonly contextWindow?: number | undefined;
  readonly profile?: Partial<Profile> | undefined;
};

export type DescribeServer = (baseUrl: string) => Promise<FoundServer | undefined>;

/** A local server knows its window better than any table: it is asked, unless the user has said it. */
export async function completeSettings(
  settings: SlotSettings,
  describeServer: DescribeServer | undefined,
): Promise<{ readonly settings: SlotSettings; readonly note: ModelNote | undefined }> {
  const isOpen = settings.contextWindow === undefined && isLocalHost(URL.parse(settings.baseUrl)?.hostname ?? "");
  const server = isOpen ? await describeServer?.(settings.baseUrl) : undefined;
  // Ollama adds `:latest` to ids without a tag; a server with one model answers with it, whatever it is called.
  const wanted = server?.models.find(({ id }) => id === settings.model || id === `${settings.model}:latest`);
  const served = wanted ?? (server?.models.length === 1 ? server.models[0] : undefined);
  const complete = { ...settings, contextWindow: settings.contextWindow ?? served?.windowTokens };
  return { settings: complete, note: served?.advice ?? noteOn(complete) };
}

/** What the user should know about these settings before the first call. */
function noteOn(settings: SlotSettings): ModelNote | undefined {
  const { windowTokens, windowGuessed } = describeModel(settings);
  if (windowTokens >= agentWindowTokensMin) return undefined;
  return {
    code: windowGuessed ? "window_guessed" : "window_small",
    slot: settings.slot,
    model: settings.model,
    tokens: windowTokens,
    command: "",
  };
}
