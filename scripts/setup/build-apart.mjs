import { spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { takeLock } from "./lock.mjs";
import { ownNodePath } from "./own-node.mjs";
import { isWebBuilt, root } from "./web-stamp.mjs";
import { wordsFor } from "./words.mjs";

const LINES_SHOWN_MAX = 15;

const words = wordsFor(process.env);
const say = (text) => process.stderr.write(`${text}\n`);

/**
 * Builds the browser app under AgentYard's own Node, in about a second: this process may be one that the build cannot use.
 * Where it fails the product starts all the same, and its first page says what to do.
 */
export async function buildApart() {
  const builder = join(root, "scripts", "build-web.mjs");
  // Packages for development may be left out, and a program that is only installed brings the finished folder along.
  const canBuild = [builder, join(root, "web"), join(root, "node_modules", "vite")].every((path) => existsSync(path));
  if (!canBuild) return;
  let lock;
  try {
    lock = await takeLock(root, (pid, folder) => say(words.waiting(pid, folder)));
    if (isWebBuilt()) return;
    const { code, output } = await run(ownNodePath(root), builder);
    if (code !== 0) say(words.webFailed(output.trim().split("\n").slice(-LINES_SHOWN_MAX).join("\n")));
  } catch (error) {
    if (error.syscall === undefined) throw error;
    say(words.webFailed(String(error.message)));
  } finally {
    lock?.giveBack();
  }
}

function run(program, script) {
  const child = spawn(program, [script], { cwd: root, stdio: ["ignore", "pipe", "pipe"] });
  let output = "";
  for (const stream of [child.stdout, child.stderr]) stream.setEncoding("utf8").on("data", (text) => (output += text));
  return new Promise((resolve, reject) => {
    child.on("error", reject);
    child.on("close", (code) => resolve({ code, output }));
  });
}
