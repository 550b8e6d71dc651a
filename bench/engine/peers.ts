/** The peers live apart from the product, in bench/peers, and are installed when a bench first needs them. */
import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

const folder = join(import.meta.dirname, "..", "peers");
const stampFile = join(folder, "node_modules", ".bench-stamp");
const installTimeoutMs = 10 * 60_000;
const validationTimeoutMs = 2 * 60_000;

/** Installs what bench/peers/package-lock.json names, once; the stamp is written last, so a broken install is repeated. */
export function installPeers(): void {
  const stamp = createHash("sha256")
    .update(readFileSync(join(folder, "package-lock.json")))
    .digest("hex");
  if (existsSync(stampFile) && readFileSync(stampFile, "utf8") === stamp) return;
  console.log("Installing the peers into bench/peers/node_modules (about 280 MB, for this bench only) …");
  // Under `npm run`, npm hands its own settings down to this npm: what matters is said again.
  run("npm", ["ci", "--prefix", folder, "--ignore-scripts", "--no-audit", "--no-fund"], installTimeoutMs);
  writeFileSync(stampFile, stamp);
}

/** Puts the bench's checkpoint saver through LangGraph's own conformance tests. */
export function validateSaver(): void {
  console.log("Checking the LangGraph saver with @langchain/langgraph-checkpoint-validation …");
  const vitest = join(folder, "node_modules", "vitest", "vitest.mjs");
  run(process.execPath, [vitest, "run", "--globals", "langgraph-saver.spec.ts"], validationTimeoutMs);
}

/** The exact versions the bench measures. */
export function peerVersions(): Record<string, string> {
  const manifest: { dependencies: Record<string, string> } = JSON.parse(
    readFileSync(join(folder, "package.json"), "utf8"),
  );
  return manifest.dependencies;
}

function run(command: string, args: string[], timeout: number): void {
  const done = spawnSync(command, args, {
    cwd: folder,
    stdio: "inherit",
    timeout,
    shell: process.platform === "win32",
  });
  if (done.status !== 0) throw new Error(`${command} ${args.join(" ")} ended with ${done.signal ?? done.status}`);
}
