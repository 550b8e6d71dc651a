#!/usr/bin/env node
// The entry. It may be read by an old Node, so it is plain JavaScript, and `--version` imports nothing of the product.
import { existsSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

/** The first Node that runs our TypeScript sources as they are. */
const NODE_MAJOR_MIN = 24;

const root = fileURLToPath(new URL("../", import.meta.url));
const argv = process.argv.slice(2);

if (argv.length === 1 && (argv[0] === "--version" || argv[0] === "-v")) {
  const { version } = JSON.parse(readFileSync(new URL("../package.json", import.meta.url), "utf8"));
  process.stdout.write(`agentyard ${version}\n`);
} else if (!existsSync(new URL("../node_modules/.package-lock.json", import.meta.url))) {
  await sayPackagesAreMissing(); // npm writes that file at the end of an installation.
} else if (Number.parseInt(process.versions.node, 10) < NODE_MAJOR_MIN) {
  await startAgainWithOwnNode();
} else {
  await startHere();
}

async function startHere() {
  const { enableCompileCache } = await import("node:module");
  enableCompileCache(fileURLToPath(new URL("../node_modules/.cache/compiled", import.meta.url)));
  const { main } = await import("../src/main.ts");
  process.exitCode = await main(argv);
}

async function startAgainWithOwnNode() {
  const { ownNodePath } = await import("../scripts/setup/own-node.mjs");
  const { spawn } = await import("node:child_process");
  const child = spawn(ownNodePath(root), process.argv.slice(1), { stdio: "inherit" });

  // A terminal sends Ctrl+C to both of us; passed on once more it would count as a second one.
  const hasTerminal = [process.stdin, process.stdout, process.stderr].some((stream) => stream.isTTY);
  process.on("SIGINT", () => hasTerminal || child.kill("SIGINT"));
  for (const signal of ["SIGTERM", "SIGHUP"]) process.on(signal, () => child.kill(signal));

  child.on("error", () => void sayPackagesAreMissing());
  child.on("exit", (code, signal) => {
    if (signal === null) return process.exit(code);
    process.removeAllListeners(signal);
    process.kill(process.pid, signal);
  });
}

async function sayPackagesAreMissing() {
  const { wordsFor } = await import("../scripts/setup/words.mjs");
  process.stderr.write(`${wordsFor(process.env).missing}\n  ${root}\n`);
  process.exitCode = 1;
}
