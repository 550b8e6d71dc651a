import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { systemClock } from "../../src/base/clock.ts";
import { systemIds } from "../../src/base/ids.ts";
import { type DockerSandboxOptions, openDockerSandbox } from "../../src/sandbox/docker/docker.ts";
import { openDockerEngine } from "../../src/sandbox/docker/engine.ts";
import type { SandboxProvider } from "../../src/sandbox/provider.ts";
import { wordsFor } from "../../src/words/words.ts";
import { ownerUid, workspaceFolder } from "./sandbox-guests.ts";
import type { ProviderUnderTest } from "./sandbox-place.ts";

/** The socket of a real Docker engine, which `npm run docker-suite` starts for the tests and names here. */
export const engineSocket = process.env.AGENTYARD_TEST_DOCKER;
/** Whether the suites that run against any provider are to run against that one. */
export const isOnDocker = engineSocket !== undefined;
/** Why a test cannot run here; false where it can. */
export const cannotUseDocker = engineSocket === undefined && "no Docker engine is named; npm run docker-suite has one";
export const sandboxImage = "agentyard-sandbox";

/** A whole provider, with an installation of its own. */
export function openDocker(changes: Partial<DockerSandboxOptions> = {}): SandboxProvider {
  const folder = mkdtempSync(join(tmpdir(), "agentyard-docker-"));
  const socketPath = engineSocket ?? "/nowhere";
  const provider = openDockerSandbox({
    ...{ installation: `test${systemIds.hex(12)}`, clock: systemClock, ids: systemIds, words: wordsFor("en").sandbox },
    ...{ address: { socketPath }, shownAddress: `unix://${socketPath}`, image: sandboxImage },
    runtime: process.env.AGENTYARD_TEST_DOCKER_RUNTIME,
    ...{ folder, startTimeoutMs: 20_000 },
    ...changes,
  });
  return {
    ...provider,
    async close() {
      await provider.close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** As its contract tries it. Accidents are others who remove containers. */
export function dockerUnderTest(socketPath = engineSocket ?? "/nowhere"): ProviderUnderTest {
  const installation = `test${systemIds.hex(12)}`;
  const address = { socketPath };
  const engine = openDockerEngine({ address, clock: systemClock });
  return {
    provider: openDocker({ installation, address }),
    workspace: workspaceFolder,
    uid: (number) => (ownerUid === undefined ? undefined : ownerUid + number),
    async accident(id) {
      await engine.ask("DELETE", `/containers/agentyard-${installation}-${id}?force=1`);
    },
  };
}
