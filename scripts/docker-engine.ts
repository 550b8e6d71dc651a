// A Docker engine of one's own, with folders and a socket of its own, and images that need no registry: for what is tried against a
// real one. An engine that this machine runs otherwise is left alone. Root, Debian.
import { execFileSync, spawn, spawnSync } from "node:child_process";
import { closeSync, copyFileSync, mkdirSync, openSync, readFileSync, realpathSync, rmSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import { setTimeout } from "node:timers/promises";

const root = join(import.meta.dirname, "..");
/** Kept: to make an image takes minutes, to start the engine a second. */
export const engineFolder = join(homedir(), ".cache", "agentyard", "docker-suite");
export const socketPath = join(engineFolder, "docker.sock");
export const sandboxImage = "agentyard-sandbox";
/** What our images begin with, in place of those of a registry. */
export const bases = ["--build-arg", "BASE=agentyard-base", "--build-arg", "NODE=agentyard-node"] as const;
const startLooksMax = 300;
const lookMs = 100;

export type Engine = { stop(): Promise<void> };

/** Ends the process where there can be none; gets the programs by itself. */
export async function startEngine(runtime?: string, more: Readonly<Record<string, string>> = {}): Promise<Engine> {
  if (process.platform !== "linux" || process.geteuid?.() !== 0) {
    console.error("An engine is started by root, on Linux.");
    process.exit(1);
  }
  install({ dockerd: "docker.io", debootstrap: "debootstrap", ...more });
  mkdirSync(engineFolder, { recursive: true, mode: 0o700 });
  rmSync(join(engineFolder, "pid"), { force: true });
  const log = openSync(join(engineFolder, "log"), "w");
  const places = [
    ...["--data-root", join(engineFolder, "data"), "--exec-root", join(engineFolder, "exec")],
    ...["--pidfile", join(engineFolder, "pid"), "--host", `unix://${socketPath}`],
  ];
  const added = runtime === undefined ? [] : ["--add-runtime", `${runtime}=${pathOf(runtime)}`];
  const args = [...places, ...added, "--iptables=false", "--bridge=none"];
  const child = spawn("dockerd", args, { stdio: ["ignore", log, log] });
  closeSync(log);
  const { promise: gone, resolve } = Promise.withResolvers<void>();
  child.once("exit", () => resolve());
  child.once("error", () => resolve());
  for (let look = 1; look <= startLooksMax && child.exitCode === null && !isThere("info"); look += 1)
    await setTimeout(lookMs);
  return {
    async stop() {
      child.kill("SIGTERM");
      await gone;
    },
  };
}

function install(programs: Readonly<Record<string, string>>): void {
  const missing = Object.entries(programs).filter(([name]) => spawnSync("which", [name]).status !== 0);
  if (missing.length === 0) return;
  const names = missing.map(([, name]) => name);
  console.log(`apt-get install -y --no-install-recommends ${names.join(" ")}`);
  execFileSync("apt-get", ["install", "-y", "--no-install-recommends", ...names], { stdio: "inherit" });
}

function pathOf(program: string): string {
  return execFileSync("which", [program], { encoding: "utf8" }).trim();
}

/** The environment of whoever speaks with this engine. */
export function engineEnv(): NodeJS.ProcessEnv {
  return { ...process.env, DOCKER_HOST: `unix://${socketPath}`, DOCKER_BUILDKIT: "0" };
}

export function docker(...args: readonly string[]): void {
  execFileSync("docker", args, { env: engineEnv(), stdio: ["ignore", "inherit", "inherit"] });
}

export function isThere(...what: readonly string[]): boolean {
  return spawnSync("docker", what, { env: engineEnv() }).status === 0;
}

/** From the Dockerfile, and without a registry: what it begins with comes from Debian's archive and from this Node. */
export function makeSandboxImage(): void {
  if (isThere("image", "inspect", sandboxImage)) return;
  makeBases();
  docker("build", "--network", "host", ...bases, "--tag", sandboxImage, join(root, "deploy/sandbox"));
}

/** What `bases` names. */
export function makeBases(): void {
  if (isThere("image", "inspect", "agentyard-base", "agentyard-node")) return;
  const base = join(engineFolder, "base");
  const node = join(engineFolder, "node");
  for (const made of [base, node]) rmSync(made, { recursive: true, force: true });
  execFileSync("debootstrap", ["--variant=minbase", suite(), base, archive()], { stdio: "inherit" });
  mkdirSync(join(node, "usr/local/bin"), { recursive: true });
  copyFileSync(realpathSync(process.execPath), join(node, "usr/local/bin/node"));
  for (const [made, name] of [
    [base, "agentyard-base"],
    [node, "agentyard-node"],
  ] as const) {
    const packed = join(engineFolder, "packed.tar");
    execFileSync("tar", ["--numeric-owner", "--owner=0", "--group=0", "-C", made, "-cf", packed, "."]);
    docker("import", packed, name);
    for (const left of [packed, made]) rmSync(left, { recursive: true, force: true });
  }
}

function suite(): string {
  return /^VERSION_CODENAME=(\w+)$/m.exec(readFileSync("/etc/os-release", "utf8"))?.[1] ?? "stable";
}

/** The archive that apt itself uses. */
function archive(): string {
  const listed = execFileSync(
    "apt-get",
    ["indextargets", "--format", "$(REPO_URI) $(ORIGIN)", "Created-By: Packages"],
    { encoding: "utf8" },
  );
  const [uri] = listed.split("\n").filter((line) => line.endsWith(" Debian") && !line.includes("security"));
  return uri?.split(" ")[0] ?? "http://deb.debian.org/debian";
}
