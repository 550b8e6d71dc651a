import { systemClock } from "../../src/base/clock.ts";
import { systemIds } from "../../src/base/ids.ts";
import { openAiCompatible } from "../../src/models/openai/openai.ts";
import { defaultProfile } from "../../src/models/profile.ts";
import { modelServer } from "../world/model-server.ts";
import { modelProviderContract } from "./model-provider.ts";

modelProviderContract("OpenAI-compatible", async (script) => {
  const server = await modelServer(script);
  const times = { idleTimeoutMs: 30_000, firstDataTimeoutMs: 30_000 };
  const provider = openAiCompatible({
    ...{ clock: systemClock, ids: systemIds },
    endpoint: { baseUrl: server.url, model: "test-model", profile: defaultProfile, ...times },
  });
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
