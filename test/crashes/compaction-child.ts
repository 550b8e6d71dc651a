import { startYard } from "../world/yard.ts";

/** Talks until the process is killed: `{data, modelUrl, window}` as JSON. */
const { data, modelUrl, window } = JSON.parse(process.argv[2] ?? "{}");
const env = { MODEL_BASIC_BASE_URL: modelUrl, MODEL_BASIC_ID: "test-model", MODEL_BASIC_CONTEXT_WINDOW: window };
const yard = await startYard({ data, env });
const made = await yard.client.call("createConversation", { body: { id: "long" } });
if (!made.ok) throw new Error(made.failure.code);
for (let n = 0; ; n += 1)
  await yard.ask(n === 0 ? "Always drink tea." : `part ${n} ${"tell me more ".repeat(200)}`, { conversation: "long" });
