import { systemClock } from "../../src/base/clock.ts";
import { systemIds } from "../../src/base/ids.ts";
import { describeModel } from "../../src/models/models.ts";
import { providerFor } from "../../src/providers.ts";
import { modelServer } from "../world/model-server.ts";
import { wires } from "../world/wires.ts";
import { modelProviderContract } from "./model-provider.ts";

for (const wire of wires) {
  modelProviderContract(wire.api, async (script) => {
    const server = await modelServer(script, wire);
    const { model, api } = wire;
    const { profile } = describeModel({ baseUrl: server.url, model, api });
    const times = { idleTimeoutMs: 30_000, firstDataTimeoutMs: 30_000 };
    const endpoint = { baseUrl: server.url, model, profile, ...times };
    const provider = providerFor({ endpoint, clock: systemClock, ids: systemIds });
    return {
      provider,
      arrived: server.messageBytes,
      leave: server.close,
      async [Symbol.asyncDispose]() {
        await provider.close();
        await server.close();
      },
    };
  });
}
