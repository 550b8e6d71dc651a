import { join } from "node:path";
import { systemClock } from "../../src/base/clock.ts";
import { listen } from "../../src/http/http.ts";
import { effectTool } from "../world/tools.ts";
import { startYard } from "../world/yard.ts";

// A whole AgentYard that serves whoever knocks at its socket, until it is killed.

const { data, modelUrl, socketPath }: { data: string; modelUrl: string; socketPath: string } = JSON.parse(
  process.argv[2] ?? "{}",
);
const yard = await startYard({
  data,
  env: { MODEL_BASIC_BASE_URL: modelUrl, MODEL_BASIC_ID: "test-model", MODEL_BASIC_CONTEXT_WINDOW: "128000" },
  tools: [effectTool("pay", "unsafe", join(data, "marks.jsonl"), { asks: true })],
});
const server = await listen(yard.app, { socketPath }, { clock: systemClock });
process.stdout.write(server.ok ? "ready\n" : "cannot listen\n");
