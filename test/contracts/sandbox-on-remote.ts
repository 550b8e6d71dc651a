import assert from "node:assert/strict";
import { type ChildProcess, spawn } from "node:child_process";
import { mkdtempSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { systemClock } from "../../src/base/clock.ts";
import { systemIds } from "../../src/base/ids.ts";
import { noLogs } from "../../src/observe/observe.ts";
import type { SandboxProvider } from "../../src/sandbox/provider.ts";
import { openRemoteSandbox, type RemoteSandboxOptions } from "../../src/sandbox/remote/remote.ts";
import { wordsFor } from "../../src/words/words.ts";

/** Whether the suites that run against any provider are to run against one on another machine. */
export const isOnRemote = process.env.AGENTYARD_TEST_REMOTE !== undefined;
export const secret = "a secret of servers and their hosts";

/** A host as a process of its own. */
export type HostProcess = {
  readonly address: string;
  /** Of its guests, for whoever looks for their processes. */
  readonly installation: string;
  readonly child: ChildProcess;
  /** Resolves when the process is gone. */
  end(signal?: "SIGTERM" | "SIGKILL"): Promise<void>;
};

type HostWanted = { readonly files?: string; readonly guestsMax?: number; readonly secret?: string };

/** It has the folder for temporary files for the shared one, by another path than ours. */
export async function startHost(wanted: HostWanted = {}): Promise<HostProcess> {
  const installation = `test${systemIds.hex(12)}`;
  const own = mkdtempSync(join(tmpdir(), "agentyard-host-"));
  const files = join(own, "files");
  symlinkSync(wanted.files ?? tmpdir(), files);
  const script = join(import.meta.dirname, "sandbox-remote-child.ts");
  const told = [installation, files, wanted.secret ?? secret, `${wanted.guestsMax ?? 64}`];
  const child = spawn(process.execPath, [script, ...told], { stdio: ["pipe", "pipe", "inherit"] });
  const gone = new Promise<void>((resolve) => child.once("exit", () => resolve()));
  const address = await new Promise<string>((resolve) =>
    child.stdout.once("data", (bytes: Buffer) => resolve(bytes.toString().trim())),
  );
  assert.match(address, /^http:\/\/127\.0\.0\.1:\d+$/);
  return {
    ...{ address, installation, child },
    async end(signal = "SIGTERM") {
      if (child.exitCode === null && child.signalCode === null) child.kill(signal);
      await gone;
      rmSync(own, { recursive: true, force: true });
    },
  };
}

/** The provider of a server, with these hosts. */
export function openRemote(hosts: readonly string[], changes: Partial<RemoteSandboxOptions> = {}): SandboxProvider {
  return openRemoteSandbox({
    ...{ hosts, secret, files: tmpdir(), release: "0.0.0-test", clock: systemClock, ids: systemIds },
    ...{ words: wordsFor("en").sandbox, startTimeoutMs: 20_000, logger: noLogs },
    ...changes,
  });
}

/** The same with a host of its own, which is started by the first question. */
export function openWithHost(): SandboxProvider {
  let opened: Promise<{ readonly host: HostProcess; readonly provider: SandboxProvider }> | undefined;
  const open = () => {
    opened ??= startHost().then((host) => ({ host, provider: openRemote([host.address]) }));
    return opened;
  };
  return {
    probe: async (options) => (await open()).provider.probe(options),
    open: async (wanted) => (await open()).provider.open(wanted),
    reap: async () => (await open()).provider.reap(),
    async close() {
      const { host, provider } = await open();
      await provider.close();
      await host.end();
    },
  };
}
