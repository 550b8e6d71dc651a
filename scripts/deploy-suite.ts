// `npm run deploy-suite`: builds the images of deploy/ without a registry, starts compose.yaml as it stands with Debian's
// docker-compose in an engine of its own, and uses it: a chat by way of the balancer and of each server, code in a sandbox, a server
// that is killed. It takes minutes, root and Debian, and is therefore no part of `npm test`.
// `npm run deploy-suite -- --keep` leaves everything running until Enter is pressed.
import assert from "node:assert/strict";
import { execFileSync, spawnSync } from "node:child_process";
import { chownSync, cpSync, mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline/promises";
import { setTimeout } from "node:timers/promises";
import { parseArgs } from "node:util";
import { bases, docker, engineEnv, makeBases, makeSandboxImage, socketPath, startEngine } from "./docker-engine.ts";

const root = join(import.meta.dirname, "..");
const { values } = parseArgs({ options: { keep: { type: "boolean", default: false } } });
const project = "agentyard-suite";
const address = "127.0.0.1:17400";
const readyMsMax = 120_000;
const lookMs = 500;
/** Of the image. */
const uid = 10_001;

const folder = mkdtempSync(join(tmpdir(), "deploy-suite-"));
const env = { ...engineEnv(), ...compose() };
const engine = await startEngine(undefined, { "docker-compose": "docker-compose" });
try {
  makeImages();
  await tryAll();
  if (values.keep)
    await createInterface({ input: process.stdin, output: process.stdout }).question(
      `http://${address} runs; Enter ends it. `,
    );
} catch (error) {
  composeDo("ps");
  composeDo("logs", "--tail=40");
  throw error;
} finally {
  composeDo("down", "--volumes", "--timeout", "20");
  await engine.stop();
  rmSync(folder, { recursive: true, force: true });
}

/** What .env has to say, and folders of this run. */
function compose(): Record<string, string> {
  const places = { AGENTYARD_FILES: join(folder, "files"), AGENTYARD_HOST_DATA: join(folder, "sandbox-host") };
  for (const place of Object.values(places)) mkdirSync(place);
  chownSync(places.AGENTYARD_FILES, uid, uid);
  return {
    ...places,
    ...{ POSTGRES_PASSWORD: "password", AGENTYARD_KEY: "the key of all servers of this suite" },
    ...{ AGENTYARD_SANDBOX_SECRET: "the secret of the hosts of this suite", POSTGRES_IMAGE: "agentyard-postgres" },
    ...{ AGENTYARD_PUBLISHED: address, DOCKER_SOCKET: socketPath },
  };
}

function makeImages(): void {
  makeBases();
  makeSandboxImage();
  const context = join(folder, "image");
  mkdirSync(context);
  cpSync(join(root, "deploy/Dockerfile"), join(context, "Dockerfile"));
  execFileSync(process.execPath, [join(root, "scripts/build.ts"), join(context, "package")], { stdio: "inherit" });
  const build = ["build", "--network", "host", ...bases];
  docker(...build, "--tag", "agentyard:latest", context);
  docker(...build, "--tag", "agentyard-balancer:latest", join(root, "deploy/balancer"));
  docker(...build, "--tag", "agentyard-postgres", join(root, "test/docker/postgres"));
}

async function tryAll(): Promise<void> {
  must("config", "--quiet");
  must("up", "--detach", "postgres", "sandbox-host");
  await until("postgres is well", () => healthOf("postgres") === "healthy");
  must("run", "--rm", "-T", "one", "user", "add", "ada");
  const key = /ay_\S+/.exec(must("run", "--rm", "-T", "one", "user", "key", "add", "ada"))?.[0];
  assert(key !== undefined, "an API key is shown");
  must("up", "--detach");
  for (const name of ["one", "two"]) await until(`${name} is well`, () => healthOf(name) === "healthy");
  const doors = { balancer: `http://${address}`, one: `http://${ipOf("one")}:7420`, two: `http://${ipOf("two")}:7420` };
  const call = callerOf(key);
  await until("the balancer has found a server", async () => (await call(doors.balancer, "/readyz")).status === 200);

  for (const [name, door] of Object.entries(doors)) {
    const told = await chat(call, door, "what time is it", "talk");
    say(`a chat by way of ${name}: ${told.slice(0, 60).replaceAll("\n", " ")}`);
  }
  const logs = new Set<string>();
  for (const door of Object.values(doors))
    logs.add((await call(door, "/api/v1/conversations/talk/events?limit=1000")).text);
  assert.equal(logs.size, 1, "every door tells the same history");
  say(`one history at all doors: ${[...logs][0]?.length} bytes`);

  for (const [name, door] of Object.entries(doors)) {
    assert.equal(await runCode(call, door), "42\n", name);
    say(`code by way of ${name}, in a container of the sandbox host: 42`);
  }
  await killOne(call, doors);
}

/** Who is killed is missed for three seconds; what it had at home is then served by the other. */
async function killOne(call: Call, { balancer }: { readonly balancer: string }): Promise<void> {
  // As a crash, and not as somebody who wants it stopped: then it is not started again.
  process.kill(Number(inspect("one", "{{.State.Pid}}")), "SIGKILL");
  const startedAt = performance.now();
  await until("the other server answers for it", async () => {
    const { status } = await call(balancer, "/api/v1/conversations/talk/events?limit=1");
    return status === 200;
  });
  const told = await chat(call, balancer, "what time is it", "talk");
  assert.notEqual(told, "");
  say(`one was killed: the next chat was answered after ${((performance.now() - startedAt) / 1000).toFixed(1)} s`);
  await until("one is back", () => healthOf("one") === "healthy");
}

type Call = (door: string, path: string, body?: object) => Promise<{ readonly status: number; readonly text: string }>;

function callerOf(key: string): Call {
  const headers = { Authorization: `Bearer ${key}`, "Content-Type": "application/json" };
  return async (door, path, body) => {
    const sent = body === undefined ? {} : { method: "POST", body: JSON.stringify(body) };
    try {
      const answer = await fetch(`${door}${path}`, { headers, ...sent, signal: AbortSignal.timeout(60_000) });
      return { status: answer.status, text: await answer.text() };
    } catch (error) {
      return { status: 0, text: String(error) };
    }
  };
}

async function chat(call: Call, door: string, query: string, conversation: string): Promise<string> {
  const body = { query, conversation_id: conversation, stream: false };
  const { status, text } = await call(door, "/api/agent-app/v1/app/suite/chat/completion", body);
  assert.equal(status, 200, text);
  const { message } = JSON.parse(text);
  return JSON.stringify(message?.content?.final_answer ?? message ?? text);
}

async function runCode(call: Call, door: string): Promise<string> {
  const path = "/api/v1/executions/sessions/sess-agent-default/execute-sync";
  const { status, text } = await call(door, path, {
    language: "python",
    code: "print(6 * 7)",
    conversation_id: "talk",
  });
  assert.equal(status, 200, text);
  return String(JSON.parse(text).stdout);
}

async function until(what: string, look: () => boolean | Promise<boolean>): Promise<void> {
  const startedAt = performance.now();
  while (!(await look())) {
    assert(performance.now() - startedAt < readyMsMax, `not within ${readyMsMax / 1000} s: ${what}`);
    await setTimeout(lookMs);
  }
}

function composeArgs(words: readonly string[]): string[] {
  return ["--project-name", project, "--file", join(root, "compose.yaml"), "--project-directory", folder, ...words];
}

function composeDo(...words: string[]): void {
  spawnSync("docker-compose", composeArgs(words), { env, stdio: "inherit" });
}

function must(...words: string[]): string {
  const { status, stdout, stderr } = spawnSync("docker-compose", composeArgs(words), {
    env,
    encoding: "utf8",
    input: "\n",
  });
  assert.equal(status, 0, `docker-compose ${words.join(" ")}\n${stdout}${stderr}`);
  return stdout;
}

function containerOf(service: string): string {
  return must("ps", "--quiet", service).trim();
}

function inspect(service: string, format: string): string {
  return execFileSync("docker", ["inspect", "--format", format, containerOf(service)], {
    env,
    encoding: "utf8",
  }).trim();
}

function healthOf(service: string): string {
  return inspect(service, "{{.State.Health.Status}}");
}

function ipOf(service: string): string {
  return inspect(service, "{{range .NetworkSettings.Networks}}{{.IPAddress}}{{end}}");
}

function say(line: string): void {
  console.log(`✓ ${line}`);
}
