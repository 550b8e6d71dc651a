/** `npm run bench <name> -- <options>`: runs one bench in a process of its own. */
import { spawnSync } from "node:child_process";
import { join } from "node:path";

const benches: Record<string, string> = {
  agents: "agents.ts",
  context: "context.ts",
  documents: "documents.ts",
  engine: "engine/engine.ts",
  files: "files.ts",
  http: "http.ts",
  markdown: "markdown.ts",
  retrieval: "retrieval.ts",
  sandbox: "sandbox.ts",
  scale: "scale.ts",
  soak: "soak.ts",
  start: "start.ts",
  web: "web.ts",
};

const [name = "", ...options] = process.argv.slice(2);
const file = benches[name];
if (file === undefined) {
  console.error(`npm run bench <name>, where <name> is one of: ${Object.keys(benches).join(", ")}`);
  process.exitCode = 2;
} else {
  const done = spawnSync(process.execPath, [join(import.meta.dirname, file), ...options], { stdio: "inherit" });
  process.exitCode = done.status ?? 1;
}
