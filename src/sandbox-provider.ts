import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { hostname } from "node:os";
import { join } from "node:path";
import { systemClock } from "./base/clock.ts";
import { systemCodeOrThrow } from "./base/fault.ts";
import { bareHost } from "./base/host.ts";
import { systemIds } from "./base/ids.ts";
import type { Config } from "./config/config.ts";
import type { Logger } from "./observe/observe.ts";
import { openDockerSandbox } from "./sandbox/docker/docker.ts";
import type { EngineAddress } from "./sandbox/docker/engine.ts";
import { openKubernetesSandbox } from "./sandbox/kubernetes/kubernetes.ts";
import { openLocalSandbox } from "./sandbox/local/local.ts";
import type { SandboxProvider } from "./sandbox/provider.ts";
import { openRemoteSandbox } from "./sandbox/remote/remote.ts";
import type { Words } from "./words/words.ts";

type Wanted = {
  readonly config: Pick<Config, "provider"> & {
    readonly paths: Pick<Config["paths"], "filesDir">;
    readonly workspace: Pick<Config["workspace"], "disk">;
  };
  /** Known again by it are the sandboxes of one data directory. */
  readonly installation: string;
  /** Below which a provider may keep small files of its own. */
  readonly folder: string;
  readonly words: Words["sandbox"];
  /** Of AgentYard. */
  readonly release: string;
  readonly logger: Pick<Logger, "error">;
};

const guestStartMsMax = 20_000;

/** Who starts sandboxes, as the settings say. */
export function openSandboxProvider({ config, installation, folder, words, release, logger }: Wanted): SandboxProvider {
  const parts = { words, logger, clock: systemClock, ids: systemIds, startTimeoutMs: guestStartMsMax };
  const { provider: settings } = config;
  switch (settings.kind) {
    case "local":
      return openLocalSandbox({ ...parts, installation, javascript: process.execPath });
    case "docker": {
      const { host, image, runtime } = settings;
      return openDockerSandbox({
        ...{ ...parts, installation, image, runtime, shownAddress: host, address: addressOf(settings) },
        folder: join(folder, "containers"),
      });
    }
    case "kubernetes": {
      const { server, tokenFile, caFile, kind: _, ...wanted } = settings;
      return openKubernetesSandbox({
        ...{ ...parts, ...wanted, installation, files: config.paths.filesDir },
        address: { server, tokenFile, caFile },
        // In a cluster each server has a name of its own, and keeps it when it is started anew in its place.
        server: shortNameOf(hostname()),
        isImaged: config.workspace.disk === "image",
      });
    }
    case "remote": {
      const { hosts, secret, authorities } = settings;
      return openRemoteSandbox({
        ...{ ...parts, hosts, secret, files: config.paths.filesDir, release },
        authorities: authorities === undefined ? undefined : readAuthorities(authorities),
        isImaged: config.workspace.disk === "image",
      });
    }
  }
}

/** A file that cannot be read is as good as none: no host is believed then, and that is told. */
function readAuthorities(path: string): Buffer | undefined {
  try {
    return readFileSync(path);
  } catch (error) {
    return Buffer.from(systemCodeOrThrow(error));
  }
}

/** The length of the name by which the sandboxes of a directory are known again. */
const nameCharacters = 12;

export function shortNameOf(long: string): string {
  return createHash("sha256").update(long).digest("hex").slice(0, nameCharacters);
}

function addressOf({ host, tlsDir }: Extract<Config["provider"], { kind: "docker" }>): EngineAddress {
  if (host.startsWith("unix://")) return { socketPath: host.slice("unix://".length) };
  const { hostname, port } = new URL(host);
  return { host: bareHost(hostname), port: Number(port), tlsDir };
}
