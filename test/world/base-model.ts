import assert from "node:assert/strict";
import type { Clock } from "../../src/base/clock.ts";
import { systemIds } from "../../src/base/ids.ts";
import { type Models, openModels } from "../../src/models/models.ts";
import type { Endpoint, ModelProvider } from "../../src/models/provider.ts";
import { providerFor } from "../../src/providers.ts";

/** Who speaks with a model in a yard. */
export function realProvider(endpoint: Endpoint, clock: Clock): ModelProvider {
  return providerFor({ endpoint, clock, ids: systemIds });
}

/** The models of a yard with one in its base slot, `m`, that nobody asks. */
export function baseModel(clock: Clock, contextWindow: number): Promise<Models> {
  return openModels({
    slots: { base: { slot: "base", baseUrl: "http://127.0.0.1:9", model: "m", contextWindow } },
    makeProvider: (endpoint) => realProvider(endpoint, clock),
    ...{ startDemo: () => assert.fail("there is a model"), clock },
  });
}
