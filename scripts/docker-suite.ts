// `npm run docker-suite`: the sandbox contract and the attacks against a real Docker engine, which is started for them with
// folders and a socket of its own and stopped again; an engine that this machine runs otherwise is left alone. It gets what
// it needs by itself (root, Debian, some 300 MB at the first time), and is therefore no part of `npm test`.
// `npm run docker-suite -- image` only builds the image into that engine; `-- word…` runs the files whose path has one of the
// words; `--runtime runsc` has containers started by gVisor, where it is installed.
import { execFileSync, spawn, spawnSync } from "node:child_process";
import { closeSync, copyFileSync, globSync, mkdirSync, openSync, readFileSync, realpathSync, rmSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import { setTimeout } from "node:timers/promises";
import { parseArgs } from "node:util";

const root = join(import.meta.dirname, "..");
/** Kept: to make an image takes minutes, to start the engine a second. */
const folder = join(homedir(), ".cache", "agentyard", "docker-suite");
const socketPath = join(folder, "docker.sock");
const image = "agentyard-sandbox";
const startLooksMax = 300;
const lookMs = 100;
/** They try the host's own side of a guest, and are the same for every provider. */
const notOfProvider = /protocol|web-addresses/;

const { positionals, values } = parseArgs({ allowPositionals: true, options: { runtime: { type: "string" } } });

if (process.platform !== "linux" || process.geteuid?.() !== 0) {
  console.error("An engine is started by root, on Linux.");
  process.exit(1);
}
install({ dockerd: "docker.io", debootstrap: "debootstrap" });
const engine = await startEngine();
try {
  if (!isThere("image", "inspect", image)) makeImage();
  if (!positionals.includes("image")) process.exitCode = runTests();
} finally {
  await engine.stop();
}

function install(programs: Readonly<Record<string, string>>): void {
  const missing = Object.entries(programs).filter(([name]) => spawnSync("which", [name]).status !== 0);
  if (missing.length === 0) return;
  const names = missing.map(([, name]) => name);
  console.log(`apt-get install -y --no-install-recommends ${names.join(" ")}`);
  execFileSync("apt-get", ["install", "-y", "--no-install-recommends", ...names], { stdio: "inherit" });
}

async function startEngine(): Promise<{ stop(): Promise<void> }> {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  rmSync(join(folder, "pid"), { force: true });
  const log = openSync(join(folder, "log"), "w");
  const places = [
    "--data-root",
    join(folder, "data"),
    "--exec-root",
    join(folder, "exec"),
    "--pidfile",
    join(folder, "pid"),
  ];
  const runtime = values.runtime === undefined ? [] : ["--add-runtime", `${values.runtime}=${pathOf(values.runtime)}`];
  const args = [...places, ...runtime, "--host", `unix://${socketPath}`, "--iptables=false", "--bridge=none"];
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

function pathOf(program: string): string {
  return execFileSync("which", [program], { encoding: "utf8" }).trim();
}

function docker(args: readonly string[], input?: Buffer | undefined): void {
  const env = { ...process.env, DOCKER_HOST: `unix://${socketPath}`, DOCKER_BUILDKIT: "0" };
  execFileSync("docker", [...args], {
    env,
    stdio: [input === undefined ? "ignore" : "pipe", "inherit", "inherit"],
    input,
  });
}

function isThere(...what: string[]): boolean {
  const env = { ...process.env, DOCKER_HOST: `unix://${socketPath}` };
  return spawnSync("docker", what, { env }).status === 0;
}

/** From the Dockerfile, and without a registry: what it begins with comes from Debian's archive and from this Node. */
function makeImage(): void {
  const base = join(folder, "base");
  const node = join(folder, "node");
  for (const made of [base, node]) rmSync(made, { recursive: true, force: true });
  execFileSync("debootstrap", ["--variant=minbase", suite(), base, archive()], { stdio: "inherit" });
  mkdirSync(join(node, "usr/local/bin"), { recursive: true });
  copyFileSync(realpathSync(process.execPath), join(node, "usr/local/bin/node"));
  for (const [made, name] of [
    [base, "agentyard-base"],
    [node, "agentyard-node"],
  ] as const) {
    const packed = join(folder, "packed.tar");
    execFileSync("tar", ["--numeric-owner", "--owner=0", "--group=0", "-C", made, "-cf", packed, "."]);
    docker(["import", packed, name]);
    for (const left of [packed, made]) rmSync(left, { recursive: true, force: true });
  }
  const images = ["--build-arg", "BASE=agentyard-base", "--build-arg", "NODE=agentyard-node"];
  docker(["build", "--network", "host", ...images, "--tag", image, join(root, "deploy/sandbox")]);
}

function suite(): string {
  return /^VERSION_CODENAME=(\w+)$/m.exec(readFileSync("/etc/os-release", "utf8"))?.[1] ?? "stable";
}

/** The archive that apt itself uses. */
function archive(): string {
  const listed = execFileSync(
    "apt-get",
    ["indextargets", "--format", "$(REPO_URI) $(ORIGIN)", "Created-By: Packages"],
    {
      encoding: "utf8",
    },
  );
  const [uri] = listed.split("\n").filter((line) => line.endsWith(" Debian") && !line.includes("security"));
  return uri?.split(" ")[0] ?? "http://deb.debian.org/debian";
}

function runTests(): number {
  const all = globSync(["test/docker/*.test.ts", "test/attacks/*.test.ts"], { cwd: root });
  const words = positionals.filter((word) => word !== "image");
  const wanted = words.length === 0 ? all.filter((path) => !notOfProvider.test(path)) : all;
  const files = wanted.filter((path) => words.length === 0 || words.some((word) => path.includes(word)));
  const { PATH, HOME } = process.env;
  const runtime = values.runtime === undefined ? {} : { AGENTYARD_TEST_DOCKER_RUNTIME: values.runtime };
  const env = { PATH, HOME, LANG: "C.UTF-8", AGENTYARD_TEST_DOCKER: socketPath, ...runtime };
  const ran = spawnSync(process.execPath, ["--test", "--test-concurrency=1", ...files.sort()], {
    ...{ cwd: root, env, stdio: "inherit" },
  });
  return ran.status ?? 1;
}
