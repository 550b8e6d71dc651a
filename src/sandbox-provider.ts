import { createHash } from "node:crypto";
import { join } from "node:path";
import { systemClock } from "./base/clock.ts";
import { systemIds } from "./base/ids.ts";
import type { Config } from "./config/config.ts";
import { openDockerSandbox } from "./sandbox/docker/docker.ts";
import type { EngineAddress } from "./sandbox/docker/engine.ts";
import { openLocalSandbox } from "./sandbox/local/local.ts";
import type { SandboxProvider } from "./sandbox/provider.ts";
import type { Words } from "./words/words.ts";

type Wanted = {
  readonly settings: Config["provider"];
  /** Known again by it are the sandboxes of one data directory. */
  readonly mark: string;
  /** Below which a provider may keep small files of its own. */
  readonly folder: string;
  readonly words: Words["sandbox"];
};

const guestStartMsMax = 20_000;

/** Who starts sandboxes, as the settings say. */
export function openSandboxProvider({ settings, mark, folder, words }: Wanted): SandboxProvider {
  const parts = { mark, words, clock: systemClock, ids: systemIds, startTimeoutMs: guestStartMsMax };
  if (settings.kind === "local") return openLocalSandbox({ ...parts, javascript: process.execPath });
  const { host, image, runtime } = settings;
  return openDockerSandbox({
    ...{ ...parts, image, runtime, shownAddress: host, address: addressOf(settings) },
    folder: join(folder, "containers"),
  });
}

/** The length of the name by which the sandboxes of a directory are known again. */
const markCharacters = 12;

export function markOf(dataDir: string): string {
  return createHash("sha256").update(dataDir).digest("hex").slice(0, markCharacters);
}

function addressOf({ host, tlsDir }: Extract<Config["provider"], { kind: "docker" }>): EngineAddress {
  if (host.startsWith("unix://")) return { socketPath: host.slice("unix://".length) };
  const { hostname, port } = new URL(host);
  return { host: hostname.replace(/^\[(.*)\]$/, "$1"), port: Number(port), tlsDir };
}
