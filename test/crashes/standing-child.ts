import { must, startYard } from "../world/yard.ts";

/** The user puts standing instructions there, and the process is killed at once: `{data, modelUrl}` as JSON. */
const { data, modelUrl } = JSON.parse(process.argv[2] ?? "{}");
const yard = await startYard({ data, env: { MODEL_BASIC_BASE_URL: modelUrl, MODEL_BASIC_ID: "test-model" } });
const { id } = await must(yard.client.call("createConversation", { body: { id: "verses" } }));
await must(yard.client.upload(id, "AGENTS.md", Buffer.from("Answer in verse.")));
process.kill(process.pid, "SIGKILL");
