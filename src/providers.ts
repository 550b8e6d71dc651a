import { anthropic } from "./models/anthropic/anthropic.ts";
import { googleGemini } from "./models/google/google.ts";
import { openAiCompatible } from "./models/openai/openai.ts";
import type { Api } from "./models/profile.ts";
import type { ModelProvider } from "./models/provider.ts";
import { openAiResponses } from "./models/responses/responses.ts";
import type { WireOptions } from "./models/wire/wire.ts";

const providers: Readonly<Record<Api, (options: WireOptions) => ModelProvider>> = {
  chat: openAiCompatible,
  responses: openAiResponses,
  anthropic,
  google: googleGemini,
};

/** Who speaks with a model: its profile says in which format. */
export function providerFor(options: WireOptions): ModelProvider {
  return providers[options.endpoint.profile.api](options);
}
