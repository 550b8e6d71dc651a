import { spawn } from "node:child_process";
import { writeFileSync } from "node:fs";
import { wordsFor } from "./words.mjs";

const LINES_SHOWN_MAX = 5;
const LINE_CHARACTERS_MAX = 70;
/** The libraries for data are about 80 MB: a slow network gets its time, one that says nothing does not. */
const INSTALL_MS_MAX = 15 * 60 * 1000;
const UPDATE_MS_MAX = 90 * 1000;
const SILENCE_MS_MAX = 2 * 60 * 1000;
const PIPES_MS_MAX = 1000;
const SIGNALS = ["SIGINT", "SIGTERM", "SIGHUP"];

const words = wordsFor(process.env);
const say = (text) => void process.stderr.write(`${text}\n`);

/**
 * Installs packages of the system where that may be done: as root with apt-get. Else it says how. What is still missing
 * then is noted and neither tried nor said again, because everything starts without them; on CI it is tried each time.
 * Answers the exit code.
 */
export async function installPrograms({ wanted, findMissing, isThere, noteFile, notes }) {
  const how = howToInstall(isThere("apt-get"));
  const others = notes.filter((note) => note.includes(" ") && !wanted.some((name) => note.endsWith(` ${name}`)));
  const noted = (missing) => missing.map((name) => `${how} ${name}`);
  const missing = findMissing();
  const isNews = Boolean(process.env.CI) || noted(missing).some((note) => !notes.includes(note));
  if (missing.length > 0 && isNews) {
    const stoppedBy = await sayAndInstall(how, missing, findMissing);
    if (stoppedBy !== undefined) return stoppedBy === "SIGINT" ? 130 : 143;
  }
  const text = [...others, ...noted(findMissing())].join("\n");
  const isNoted = text === notes.join("\n");
  try {
    if (!isNoted) writeFileSync(noteFile, text);
  } catch {
    // A folder that cannot be written: it is said again next time.
  }
  return 0;
}

function howToInstall(hasApt) {
  if (process.env.AGENTYARD_SETUP === "none") return "declined";
  if (!hasApt) return "elsewhere";
  return process.getuid() === 0 ? "tried" : "told";
}

/** Answers the signal that ended it, if one did. */
async function sayAndInstall(how, missing, findMissing) {
  const command = commandFor(missing);
  if (how === "declined") return say(words.declined(command));
  say(words.programs(usesOf(missing)));
  if (how === "elsewhere") return say(words.programsElsewhere(missing.join(" ")));
  if (how === "told") return say(words.programsByHand(`sudo ${command}`));

  say(`  ${command}`);
  const { stoppedBy, output } = await tryToInstall(missing);
  if (stoppedBy !== undefined) {
    say(words.interrupted);
    return stoppedBy;
  }
  const left = findMissing();
  const lines = output.trim().split("\n").slice(-LINES_SHOWN_MAX).join("\n");
  say(left.length === 0 ? words.programsThere : words.programsFailed(left.join(" "), lines, commandFor(left)));
  return undefined;
}

/** What each is for; packages of one use stand on one line. */
function usesOf(names) {
  const uses = [...new Set(names.map((name) => words.programUses[name]))];
  return uses
    .map((use) => `  ${names.filter((name) => words.programUses[name] === use).join(", ")}: ${use}`)
    .join("\n");
}

function commandFor(names) {
  return `apt-get install -y --no-install-recommends ${names.join(" ")}`;
}

/** A machine that never asked for its list of packages does so first. What is not on the list must not keep the others away. */
async function tryToInstall(names) {
  const first = await run(commandFor(names), INSTALL_MS_MAX);
  if (first.code === 0 || first.stoppedBy !== undefined) return first;
  const update = await run("apt-get update", UPDATE_MS_MAX);
  if (update.code !== 0) return update;
  const second = await run(commandFor(names), INSTALL_MS_MAX);
  const known = names.filter((name) => !unknownIn(second.output).includes(name));
  const isWorthMore = second.code !== 0 && known.length > 0 && known.length < names.length;
  return isWorthMore && second.stoppedBy === undefined ? run(commandFor(known), INSTALL_MS_MAX) : second;
}

function unknownIn(output) {
  const said = /Unable to locate package (\S+)|Package '?([^\s']+)'? has no installation candidate/g;
  return [...output.matchAll(said)].map(([, one, other]) => one ?? other);
}

/** Runs until it ends, a signal comes, or it takes too long; says now and then that it goes on. */
async function run(command, limitMs) {
  const [program, ...parameters] = command.split(" ");
  // Without a network it must give up soon; with another apt at work it may wait.
  const patience = ["-o", "Acquire::Retries=0", "-o", "Acquire::http::Timeout=15", "-o", "DPkg::Lock::Timeout=60"];
  const child = spawn(program, [...patience, ...parameters], {
    env: { ...process.env, DEBIAN_FRONTEND: "noninteractive", LC_ALL: "C" },
    stdio: ["ignore", "pipe", "pipe"],
  });
  let output = "";
  let stoppedBy;
  const end = (why) => {
    output += why;
    child.kill();
  };
  const limit = setTimeout(() => end(words.programsTooLong(limitMs / 1000)), limitMs);
  const silence = setTimeout(() => end(words.programsTooLong(SILENCE_MS_MAX / 1000)), SILENCE_MS_MAX);
  const streams = [child.stdout, child.stderr];
  for (const stream of streams)
    stream.setEncoding("utf8").on("data", (text) => {
      output += text;
      silence.refresh();
    });
  const onSignal = (signal) => {
    stoppedBy = signal;
    child.kill(signal);
  };
  for (const signal of SIGNALS) process.on(signal, onSignal);
  const endProgress = showProgress(() => output);

  const code = await new Promise((resolve) => {
    child.on("error", (error) => {
      output += error.message;
      resolve(1);
    });
    // A service that a package starts may keep the pipes: what was said is read, and then they are let go.
    child.on("exit", () => setTimeout(() => streams.map((stream) => stream.destroy()), PIPES_MS_MAX).unref());
    child.on("close", (exitCode) => resolve(exitCode ?? 1));
  });

  endProgress();
  for (const timer of [limit, silence]) clearTimeout(timer);
  for (const signal of SIGNALS) process.off(signal, onSignal);
  return { code, output, stoppedBy };
}

function showProgress(output) {
  const startedAt = Date.now();
  const isTty = process.stderr.isTTY;
  const show = () => {
    const last = output().trim().split("\n").at(-1).replace(/\p{C}/gu, " ").slice(0, LINE_CHARACTERS_MAX);
    const line = words.programsProgress(Math.round((Date.now() - startedAt) / 1000), last);
    process.stderr.write(isTty ? `\r${line}\u001b[K` : `${line}\n`);
  };
  const timer = setInterval(show, isTty ? 1000 : 5000);
  return () => {
    clearInterval(timer);
    if (isTty) process.stderr.write("\r\u001b[K");
  };
}
