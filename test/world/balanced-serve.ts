// `agentyard serve` as two processes behind a balancer, for stories that start the program: everything it is told it tells
// both, what the first one says it says, with the address of the balancer. Killed, it takes both along.
import { type ChildProcessByStdio, spawn } from "node:child_process";
import { appendFileSync } from "node:fs";
import type { Readable } from "node:stream";
import { type Balancer, openBalancer } from "./balancer.ts";

type Server = {
  readonly child: ChildProcessByStdio<null, Readable, Readable>;
  readonly port: Promise<string | undefined>;
  readonly ended: Promise<number>;
  said: string;
  errors: string;
};

const [, , program = "", ...given] = process.argv;
const { AGENTYARD_TEST_TALLY: tally, AGENTYARD_SEED: seed = "0", ...env } = process.env;
const dataDir = flag("--data") ?? env.AGENTYARD_DATA ?? "";
const host = flag("--host") ?? "127.0.0.1";
const servers: string[] = [];
const running: Server[] = [];
let isTold = false;
for (const signal of ["SIGTERM", "SIGINT", "SIGHUP"] as const)
  process.on(signal, () => {
    isTold = true;
    for (const { child } of running) child.kill(signal);
  });

process.exitCode = await serveBoth();

async function serveBoth(): Promise<number> {
  const balancer = await openBalancer({
    ...{ host, port: Number(flag("--port") ?? 0), seed: Number(seed), servers: () => servers },
  }).catch(() => undefined);
  // What stands in the way of the address is the program's to tell.
  if (balancer === undefined) return begin(given, env, { isHeard: true }).ended;
  try {
    return await behind(balancer);
  } finally {
    await balancer.close();
    if (tally !== undefined) appendFileSync(tally, `${JSON.stringify([...balancer.sent.values()])}\n`);
  }
}

async function behind(balancer: Balancer): Promise<number> {
  const words = withFlag(given, "--port", "0");
  const first = begin(words, env);
  const port = await first.port;
  if (port === undefined) {
    process.stdout.write(first.said);
    return first.ended;
  }
  const own = `${dataDir}-2`;
  const files = env.AGENTYARD_FILES_DIR ?? dataDir;
  const second = begin(flag("--data") === undefined ? words : withFlag(words, "--data", own), {
    ...{ ...env, AGENTYARD_DATA: own, AGENTYARD_FILES_DIR: files },
  });
  const secondPort = await second.port;
  if (secondPort === undefined) return notBegun(first, second);
  servers.push(`127.0.0.1:${port}`, `127.0.0.1:${secondPort}`);
  const at = new URL(balancer.address).port;
  const heard = () => {
    process.stdout.write(first.said.replaceAll(`:${port}`, `:${at}`));
    first.said = "";
  };
  heard();
  first.child.stdout.on("data", heard);
  await Promise.race([first.ended, second.ended]);
  // Told twice, a server ends at once, and says so.
  if (!isTold) for (const { child } of running) child.kill("SIGTERM");
  const [code, secondCode] = await Promise.all([first.ended, second.ended]);
  if (secondCode !== 0) process.stderr.write(second.errors);
  return code === 0 ? secondCode : code;
}

async function notBegun(first: Server, second: Server): Promise<number> {
  first.child.kill("SIGTERM");
  const [, code] = await Promise.all([first.ended, second.ended]);
  process.stderr.write(`the second server: ${second.said}${second.errors}`);
  return code === 0 ? 1 : code;
}

/** The kernel ends it when this process is gone, however that came. */
function begin(words: readonly string[], with_: NodeJS.ProcessEnv, { isHeard = false } = {}): Server {
  const isFirst = running.length === 0;
  const child = spawn("setpriv", ["--pdeathsig", "KILL", process.execPath, program, ...words], {
    ...{ env: with_, stdio: ["ignore", "pipe", "pipe"] },
  });
  const port = Promise.withResolvers<string | undefined>();
  const ended = new Promise<number>((resolve) => child.once("close", (code) => resolve(code ?? 1)));
  const server: Server = { child, port: port.promise, ended, said: "", errors: "" };
  child.stdout.setEncoding("utf8").on("data", (text: string) => {
    if (isHeard) process.stdout.write(text);
    server.said += text;
    const [, found] = /http:\/\/[^\s:]+:(\d+)[\s\S]*Ctrl\+C/.exec(server.said) ?? [];
    if (found !== undefined) port.resolve(found);
  });
  child.stderr.setEncoding("utf8").on("data", (text: string) => {
    if (isFirst) process.stderr.write(text);
    server.errors += text;
  });
  void ended.then(() => port.resolve(undefined));
  running.push(server);
  return server;
}

function flag(name: string): string | undefined {
  const at = given.indexOf(name);
  return at < 0 ? undefined : given[at + 1];
}

function withFlag(words: readonly string[], name: string, value: string): string[] {
  const at = words.indexOf(name);
  return at < 0 ? [...words, name, value] : words.with(at + 1, value);
}
