import { join } from "node:path";
import { systemClock } from "./base/clock.ts";
import { addressFault } from "./base/fault.ts";
import { systemIds } from "./base/ids.ts";
import { ok } from "./base/result.ts";
import type { Config } from "./config/config.ts";
import { makeFolder } from "./data-place.ts";
import { type Logger, openLogs } from "./observe/observe.ts";
import { makeFailure } from "./protocol/failure.ts";
import { readPem } from "./sandbox/guest/pem.ts";
import type { SandboxProvider } from "./sandbox/provider.ts";
import { openSandboxHost } from "./sandbox/remote/sandbox-host.ts";
import { openSandboxProvider, shortNameOf } from "./sandbox-provider.ts";
import { exitCodes, refuse, type Streams, type YardCommand } from "./terminal/terminal.ts";
import type { Words } from "./words/words.ts";

type Hosting = Streams & { readonly config: Config; readonly words: Words; readonly version: string };
type HostCommand = Extract<YardCommand, { name: "sandbox-host" }>;

/** `agentyard sandbox-host`: starts sandboxes for servers on other machines, until it is told to end. */
export async function hostSandboxes(command: HostCommand, hosting: Hosting): Promise<number> {
  const { config, words } = hosting;
  const { dataDir, logsDir } = config.paths;
  const { hosting: texts } = words.terminal;
  const refuseFor = (what: string) => refuse(makeFailure("usage", { what }), { ...hosting, command });
  const { secret } = config.hosting;
  if (secret === undefined) return refuseFor(texts.secretMissing());
  const { kind } = config.provider;
  // Others have the work done elsewhere; and a cluster would be given the data directory for the shared files.
  if (kind !== "local" && kind !== "docker") return refuseFor(texts.providerUnfit({ provider: kind }));
  const { files, tlsDir } = config.hosting;
  const tls = tlsDir === undefined ? ok(undefined) : readPem(tlsDir, { hasAuthority: false });
  if (!tls.ok) return refuseFor(texts.tlsUnusable({ folder: tlsDir ?? "", why: tls.failure }));
  for (const folder of [dataDir, files])
    if (!makeFolder(folder)) return refuse(makeFailure("data_unusable", { path: folder }), { ...hosting, command });
  const hasLogs = makeFolder(logsDir);
  const logger = openLogs({
    ...{ dir: logsDir, level: hasLogs ? config.logs.level : "off", secrets: config.secrets },
    ...{ clock: systemClock, startId: systemIds.uuid(), pid: process.pid },
    onOff: (why) => void hosting.errors.write(`${words.notes.logs_off({ why })}\n`),
  });
  const provider = openSandboxProvider({
    ...{ config, installation: shortNameOf(`host ${dataDir}`), folder: join(dataDir, "host"), words: words.sandbox },
    release: hosting.version,
    logger,
  });
  try {
    return await serveHost(command, { ...hosting, secret, tls: tls.value, files, provider, logger });
  } finally {
    await provider.close();
    await logger.close();
  }
}

type Served = Hosting & {
  readonly secret: string;
  readonly tls: { readonly cert: Buffer; readonly key: Buffer } | undefined;
  readonly files: string;
  readonly provider: SandboxProvider;
  readonly logger: Logger;
};

async function serveHost(command: HostCommand, served: Served): Promise<number> {
  const { config, words, version, output, provider, files, logger } = served;
  const { hosting: texts } = words.terminal;
  const { guestsMax } = config.sandbox;
  const leave = toldToEnd();
  await provider.reap();
  const host = openSandboxHost({ ...served, guestsMax, release: version, clock: systemClock });
  const { host: at, port } = command;
  const listening = await host.listen({ host: at, port });
  if (!listening.ok) {
    const { code } = listening.failure;
    const params = { host: at, port, why: addressFault(code), said: code };
    return refuse(makeFailure("address_unusable", params), { ...served, command });
  }
  logger.info("sandboxes are started for others", { address: listening.value, files });
  output.write(`${texts.listening({ address: listening.value, files, count: guestsMax })}\n`);
  output.write(`${abilitiesOf(words, await provider.probe())}\n`);
  output.write(`${words.terminal.service.howToEnd()}\n`);
  await leave;
  await host.close();
  return exitCodes.done;
}

function abilitiesOf(words: Words, { missing, degraded }: Awaited<ReturnType<SandboxProvider["probe"]>>): string {
  const { service } = words.terminal;
  const [lack] = missing;
  if (lack !== undefined) return service.off(lack);
  return degraded.length === 0
    ? service.full()
    : [service.degraded({ count: degraded.length }), ...degraded.map(({ reason }) => `  ${reason}`)].join("\n");
}

/** Resolves when the process is told to end; whoever says it again does not want to wait. */
function toldToEnd(): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  for (const signal of ["SIGTERM", "SIGHUP", "SIGINT"] as const)
    process.once(signal, () => {
      resolve();
      process.once(signal, () => process.exit(exitCodes.interrupted));
    });
  return promise;
}
