import { closeSync, mkdirSync, mkdtempSync, openSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { TestContext } from "node:test";
import { type Clock, systemClock } from "../../src/base/clock.ts";
import { derivedHex, systemIds } from "../../src/base/ids.ts";
import { localOwner } from "../../src/protocol/ids.ts";
import { installInGuest } from "../../src/sandbox/install-packages.ts";
import { type Network, openNetwork } from "../../src/sandbox/network/network.ts";
import { openPackageFolders } from "../../src/sandbox/package-folders.ts";
import type { Package } from "../../src/sandbox/package-programs.ts";
import type { SandboxProvider } from "../../src/sandbox/provider.ts";
import type { Session } from "../../src/sandbox/sandbox.ts";
import { type Play, playedProvider } from "./played-provider.ts";
import { quietLogger } from "./workspace.ts";

// Installations of packages, with a guest whose part is played.

export const greeter = { manager: "pip", name: "greeter", version: undefined } as const;
export const pypi = { packageIndex: "https://pypi.org/simple" };
export const installLimits = {
  ...{ memoryBytes: 1, processesMax: 1, cpus: 1, fileBytesMax: 1, tmpBytesMax: 1, outputBytesMax: 1 },
};

/** An index that has everything. */
export const good: Play = ({ code }) => ({
  code: 0,
  says: code.includes("pip list") ? JSON.stringify([{ name: "greeter", version: "1.0" }]) : "",
});

type Options = {
  readonly play: Play;
  readonly way?: Network;
  readonly set?: { readonly packageIndex: string; readonly npmRegistry?: string };
  readonly packages?: readonly Package[];
  readonly clock?: Clock;
  readonly reaped?: Promise<void>;
  readonly provider?: Partial<SandboxProvider>;
};

export function openInstalls(t: TestContext, options: Options) {
  const { play, set = pypi, packages = [greeter], clock = systemClock, reaped = Promise.resolve() } = options;
  const dir = mkdtempSync(join(tmpdir(), "agentyard-install-"));
  t.after(() => rmSync(dir, { recursive: true, force: true }));
  const logger = quietLogger([]);
  const folders = openPackageFolders(dir, { ids: systemIds, logger });
  const played = playedProvider(play);
  const rules = { hosts: [], privateHosts: [], npmRegistry: undefined, ...set };
  const network = options.way ?? openNetwork({ rules, clock, logger });
  const provider = { ...played, ...options.provider };
  const host = { provider, reaped, settings: { limits: installLimits }, network, rules, folders };
  const install = (signal = new AbortController().signal) =>
    installInGuest(
      { ...host, clock, ids: systemIds, logger },
      {
        ...{ owner: localOwner, session: session(), packages, signal },
        wanted: { packages, timeoutMs: 1000, allowsConflicts: false },
      },
    );
  return { install, folders, rules, guests: played.guests, own: join(dir, derivedHex(32, localOwner)) };
}

function session(): Session {
  return {
    ...{ id: "s", owner: localOwner, status: "running", error: undefined, dialect: "seed", generation: 1, ttlMs: 1 },
    ...{ createdAt: 0, updatedAt: 0, usedAt: 0, endedAt: undefined, agentId: undefined, businessDomain: undefined },
    ...{ templateId: undefined, uploads: { fileBytesMax: 1, filesMax: 1, types: [] }, limits: installLimits, env: {} },
    ...{ executionTimeoutMs: 1, packages: undefined, degraded: [] },
  };
}

/** More than can be measured, and so more than may be there: the last name is longer than a path may be. */
export function makeTooDeep(folder: string): void {
  let path = folder;
  for (; path.length < 3900; mkdirSync(path)) path = join(path, "d".repeat(100));
  const here = openSync(path, "r");
  writeFileSync(`/proc/self/fd/${here}/${"f".repeat(250)}`, "x");
  closeSync(here);
}
