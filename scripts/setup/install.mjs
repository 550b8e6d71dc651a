import { spawn, spawnSync } from "node:child_process";
import { accessSync, constants, existsSync, lstatSync, readdirSync, rmSync, statfsSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { fileURLToPath } from "node:url";
import { takeLock } from "./lock.mjs";
import { ownNodePath } from "./own-node.mjs";
import { wordsFor } from "./words.mjs";

const NODE_MAJOR_MIN = 20;
const PLATFORMS = ["linux-x64", "linux-arm64", "darwin-x64", "darwin-arm64", "win32-x64"];
const LINES_SHOWN_MAX = 15;
/** The packages take more than this; with less it would take npm two minutes to find out. */
const NEEDED_BYTES_MIN = 400e6;
/** So long npm may work without a file of it being here. Without a network it goes on for more than a minute. */
const NOTHING_SECONDS_MAX = 15;

// Every flag is written out, because the npm that started us hands its own settings on as npm_config_* variables.
const NPM_ARGUMENTS = "ci --ignore-scripts --no-audit --no-fund --include=dev --include=optional --loglevel=error";

/** Files of an earlier, interrupted npm; the npm that stumbled over them has cleared them away. */
const isInTheWay = /ENOTEMPTY|EEXIST/;

const root = fileURLToPath(new URL("../../", import.meta.url));
const words = wordsFor(process.env);
const say = (text) => process.stderr.write(`${text}\n`);

/** Installs what the lock file names and writes the stamp. Answers the exit code. */
export async function install({ stamp, stampFile, isDone }) {
  const isInstalled = existsSync(join(root, "node_modules"));
  if (process.env.AGENTYARD_SETUP === "none") {
    say(words.declined(`npm ${NPM_ARGUMENTS}`));
    return isInstalled ? 0 : 1;
  }
  const obstacle = findObstacle();
  if (obstacle !== undefined) return stop(obstacle);

  let lock;
  try {
    lock = await takeLock(root, (pid, folder) => say(words.waiting(pid, folder)));
    if (isDone()) return 0;
    say(words.begin(reasonFor(isInstalled, existsSync(stampFile)), `npm ${NPM_ARGUMENTS}`));
    const startedAt = Date.now();
    const seconds = () => Math.round((Date.now() - startedAt) / 1000);
    const exitCode = await runNpm(lock, seconds);
    const trouble = tryOwnNode();
    if (exitCode !== 0) return exitCode;
    if (trouble !== undefined) return stop(trouble);
    writeFileSync(stampFile, stamp);
    say(words.finished(seconds()));
    return 0;
  } catch (error) {
    const advice = adviceFor(String(error.code));
    if (advice === words.tryAgain) throw error;
    return stop(advice);
  } finally {
    lock?.giveBack();
  }
}

function findObstacle() {
  if (Number.parseInt(process.versions.node, 10) < NODE_MAJOR_MIN) return words.nodeTooOld(process.versions.node);
  const platform = `${process.platform}-${process.arch}`;
  if (!PLATFORMS.includes(platform)) return words.noNodeFor(platform);
  const isMusl = process.platform === "linux" && !process.report.getReport().header.glibcVersionRuntime;
  if (isMusl) return words.noNodeFor(`${platform}, musl`);
  if (!isWritable()) return words.cannotWrite(root);
  return isDiskFull() ? words.diskFull : undefined;
}

/** Asked, not tried: making a folder on a read-only disk is “no such folder” (ENOENT) under Node 20. */
function isWritable() {
  try {
    accessSync(root, constants.W_OK);
    return true;
  } catch {
    return false;
  }
}

/** What is here already counts as room: npm removes it first. */
function isDiskFull() {
  const { bavail, blocks, bsize } = statfsSync(root);
  // Some network disks do not tell their size.
  if (blocks === 0) return false;
  return bavail * bsize + folderBytes(join(root, "node_modules")) < NEEDED_BYTES_MIN;
}

/**
 * What is wrong with the Node that npm has put here, if anything is. It is an optional package: where the disk got full, npm
 * leaves half of it and says that all is well. `npm run` would take that half for `node`, and no set-up could start again;
 * so it is removed.
 */
function tryOwnNode() {
  const path = ownNodePath(root);
  const trial = spawnSync(path, ["-v"], { encoding: "utf8" });
  if (trial.status === 0) return undefined;
  for (const broken of [path, join(root, "node_modules", ".bin")]) rmSync(broken, { recursive: true, force: true });
  if (isDiskFull()) return words.diskFull;
  return words.nodeDoesNotRun(path, trial.error?.code ?? trial.signal ?? trial.stderr);
}

function reasonFor(isInstalled, hasStamp) {
  if (!isInstalled) return "first";
  return hasStamp ? "changed" : "unfinished";
}

async function runNpm(lock, seconds) {
  let ended = await tryNpm(lock, seconds);
  if (ended.code > 0 && ended.stoppedBy === undefined && isInTheWay.test(ended.output)) {
    say(words.again);
    ended = await tryNpm(lock, seconds);
  }
  if (ended.stoppedBy !== undefined) {
    say(words.interrupted);
    return ended.stoppedBy === "SIGINT" ? 130 : 143;
  }
  if (ended.error) return stop(words.npmMissing(ended.error.code));
  return ended.code === 0 ? 0 : stop(explain(ended.output, ended.code));
}

async function tryNpm(lock, seconds) {
  const child = startNpm();
  if (child.pid !== undefined) lock.noteNpm(child.pid);
  let output = "";
  for (const stream of [child.stdout, child.stderr]) stream.setEncoding("utf8").on("data", (text) => (output += text));
  let stoppedBy;
  const onSignal = (signal) => {
    stoppedBy = signal;
    child.kill(signal);
  };
  const signals = ["SIGINT", "SIGTERM", "SIGHUP"];
  for (const signal of signals) process.on(signal, onSignal);
  const endProgress = showProgress(seconds);

  const ended = await new Promise((resolve) => {
    child.on("error", (error) => resolve({ error }));
    child.on("close", (code) => resolve({ code }));
  });

  endProgress();
  for (const signal of signals) process.off(signal, onSignal);
  return { ...ended, output, stoppedBy };
}

function startNpm() {
  const options = { cwd: root, stdio: ["ignore", "pipe", "pipe"] };
  const npmScript = process.env.npm_execpath;
  // Under yarn or pnpm npm_execpath names those. The Node that runs npm is the machine's own: ours is being replaced.
  if (npmScript && basename(npmScript).startsWith("npm")) {
    const node = process.env.npm_node_execpath ?? process.execPath;
    return spawn(node, [npmScript, ...NPM_ARGUMENTS.split(" ")], options);
  }
  return spawn("npm", NPM_ARGUMENTS.split(" "), { ...options, shell: process.platform === "win32" });
}

function showProgress(seconds) {
  const isTty = process.stderr.isTTY;
  const show = () => {
    const megabytes = Math.round(folderBytes(join(root, "node_modules")) / 1e6);
    const isNothing = megabytes === 0 && seconds() >= NOTHING_SECONDS_MAX;
    const line = words.progress(seconds(), megabytes) + (isNothing ? words.nothingYet : "");
    process.stderr.write(isTty ? `\r${line}\u001b[K` : `${line}\n`);
  };
  const timer = setInterval(show, isTty ? 1000 : 5000);
  return () => {
    clearInterval(timer);
    if (isTty) process.stderr.write("\r\u001b[K");
  };
}

function folderBytes(folder) {
  try {
    return readdirSync(folder, { withFileTypes: true })
      .map((entry) => join(folder, entry.name))
      .reduce((sum, path) => sum + (lstatSync(path).isDirectory() ? folderBytes(path) : lstatSync(path).size), 0);
  } catch (error) {
    if (error.syscall === undefined) throw error;
    return 0; // npm moves folders while we look.
  }
}

function explain(output, exitCode) {
  const lines = output.trim().split("\n").slice(-LINES_SHOWN_MAX).join("\n");
  return words.npmFailed(exitCode, lines, adviceFor(output));
}

function adviceFor(output) {
  if (/ENOSPC|no space left/i.test(output)) return words.diskFull;
  if (/EROFS|EACCES|EPERM/.test(output)) return words.cannotWrite(root);
  if (/CERT_|certificate/i.test(output)) return words.certificate;
  if (/ENOTFOUND|EAI_AGAIN|ECONN|ETIMEDOUT|ENETUNREACH|EHOSTUNREACH|ERR_SOCKET/.test(output)) return words.offline;
  return words.tryAgain;
}

function stop(text) {
  say(text);
  return 1;
}
