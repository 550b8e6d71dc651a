import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { userOf } from "../../src/sandbox/guest/contained.ts";
import { playEngine } from "../world/docker-engine.ts";
import { cannotStart } from "./sandbox-guests.ts";
import { dockerUnderTest } from "./sandbox-on-docker.ts";
import { providerContract } from "./sandbox-provider.ts";

// Through the real protocol of Docker, with containers that bubblewrap plays.

providerContract(
  "docker",
  async () => {
    const folder = mkdtempSync(join(tmpdir(), "agentyard-engine-"));
    const ends: (() => void)[] = [() => rmSync(folder, { recursive: true, force: true })];
    const engine = await playEngine(
      { after: (end) => void ends.unshift(end) },
      { folder, user: userOf(undefined), hasWalls: true },
    );
    const tried = dockerUnderTest(engine.socketPath);
    return {
      ...tried,
      provider: {
        ...tried.provider,
        async close() {
          await tried.provider.close();
          for (const end of ends) end();
        },
      },
    };
  },
  { skip: cannotStart },
);
