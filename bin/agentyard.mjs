#!/usr/bin/env node
// The entry. It may be read by an old Node, so it is plain JavaScript, and `--version` imports nothing of the product.
import { existsSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

/** The first Node that runs our TypeScript sources as they are, and what is made of them. */
const NODE_MAJOR_MIN = 24;

const root = fileURLToPath(new URL("../", import.meta.url));
const argv = process.argv.slice(2);
/** A clone runs its sources, whatever was built in it before; a package has neither them nor the set-up. */
const isClone = existsSync(new URL("../scripts/setup.mjs", import.meta.url));

if (argv.length === 1 && (argv[0] === "--version" || argv[0] === "-v")) {
  const { version } = JSON.parse(readFileSync(new URL("../package.json", import.meta.url), "utf8"));
  process.stdout.write(`agentyard ${version}\n`);
} else if (isClone && !existsSync(new URL("../node_modules/.package-lock.json", import.meta.url))) {
  await sayPackagesAreMissing(); // npm writes that file at the end of an installation.
} else if (Number.parseInt(process.versions.node, 10) < NODE_MAJOR_MIN) {
  await startAgainWithOwnNode();
} else {
  await startHere();
}

async function startHere() {
  const { enableCompileCache } = await import("node:module");
  const { status } = enableCompileCache(fileURLToPath(new URL("../node_modules/.cache/compiled", import.meta.url)));
  // Of a package that another user has installed. The folder for all users, Node's own choice, could hold anybody's code.
  const { XDG_CACHE_HOME: cache, HOME: home } = process.env;
  if (status === 0 && (cache || home)) enableCompileCache(`${cache || `${home}/.cache`}/agentyard/compiled`);
  const { main } = await (isClone ? import("../src/main.ts") : import("../dist/main.js"));
  process.exitCode = await main(argv);
}

async function startAgainWithOwnNode() {
  const { installedNodePath, ownNodePath } = await import("../scripts/setup/own-node.mjs");
  const { spawn } = await import("node:child_process");
  const child = spawn(isClone ? ownNodePath(root) : installedNodePath(root), process.argv.slice(1), {
    stdio: "inherit",
  });

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
  const words = wordsFor(process.env);
  process.stderr.write(isClone ? `${words.missing}\n  ${root}\n` : `${words.nodeLeftOut(process.version)}\n`);
  process.exitCode = 1;
}
