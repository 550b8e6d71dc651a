import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { systemClock } from "../../src/base/clock.ts";
import { systemIds } from "../../src/base/ids.ts";
import { type DockerSandboxOptions, openDockerSandbox } from "../../src/sandbox/docker/docker.ts";
import type { SandboxProvider } from "../../src/sandbox/provider.ts";
import { wordsFor } from "../../src/words/words.ts";

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
    ...{ mark: `test${systemIds.hex(12)}`, clock: systemClock, ids: systemIds, words: wordsFor("en").sandbox },
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
