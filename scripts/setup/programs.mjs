import { spawnSync } from "node:child_process";
import { existsSync, writeFileSync } from "node:fs";
import { delimiter, join } from "node:path";
import { wordsFor } from "./words.mjs";

const LINES_SHOWN_MAX = 5;
const TIMEOUT_MS = 2 * 60 * 1000;

const words = wordsFor(process.env);
const say = (text) => process.stderr.write(`${text}\n`);

/**
 * Installs programs of the system that tests and benches can use, where that may be done: as root with apt-get. Tried
 * once: the stamp is also written when it did not work, because everything runs without them, and says what it left out.
 */
export function installPrograms({ wanted, stampFile, stamp }) {
  const missing = Object.keys(wanted).filter((name) => !isThere(wanted[name]));
  if (missing.length > 0) {
    const command = `apt-get install -y --no-install-recommends ${missing.join(" ")}`;
    if (process.env.AGENTYARD_SETUP === "none") return say(words.declined(command));
    say(words.programs(missing.map((name) => `  ${name}: ${words.programUses[name]}`).join("\n")));
    say(!isThere("apt-get") ? words.programsElsewhere(missing.join(" ")) : attempt(command));
  }
  try {
    writeFileSync(stampFile, stamp);
  } catch {
    // A folder that cannot be written: it is said again next time.
  }
}

function isThere(command) {
  const folders = (process.env.PATH ?? "").split(delimiter).filter((folder) => folder !== "");
  return folders.some((folder) => existsSync(join(folder, command)) || existsSync(join(folder, `${command}.exe`)));
}

/** Answers what came of it. A machine that never asked for its list of packages does so first. */
function attempt(command) {
  if (process.getuid?.() !== 0) return words.programsByHand(`sudo ${command}`);
  say(`  ${command}`);
  let done = run(command);
  if (done.status !== 0) {
    const update = run("apt-get update");
    done = update.status === 0 ? run(command) : update;
  }
  if (done.status === 0) return words.programsThere;
  const output = done.error?.message ?? `${done.stdout}${done.stderr}`;
  return words.programsFailed(output.trim().split("\n").slice(-LINES_SHOWN_MAX).join("\n"), command);
}

function run(command) {
  const [program, ...parameters] = command.split(" ");
  // Without a network it must give up soon; with another apt at work it may wait.
  const patience = ["-o", "Acquire::Retries=0", "-o", "Acquire::http::Timeout=15", "-o", "DPkg::Lock::Timeout=60"];
  return spawnSync(program, [...patience, ...parameters], {
    encoding: "utf8",
    env: { ...process.env, DEBIAN_FRONTEND: "noninteractive" },
    stdio: ["ignore", "pipe", "pipe"],
    timeout: TIMEOUT_MS,
  });
}
