import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { systemIds } from "../../src/base/ids.ts";
import { userOf } from "../../src/sandbox/guest/contained.ts";
import { playEngine } from "../world/docker-engine.ts";
import { playedProvider } from "../world/played-provider.ts";
import { bwrapOf, cannotStart, openProvider, ownerUid, workspaceFolder } from "./sandbox-guests.ts";
import { dockerUnderTest } from "./sandbox-on-docker.ts";
import { openPlayed } from "./sandbox-on-kubernetes.ts";
import { openRemote, startHost } from "./sandbox-on-remote.ts";
import { hostFolder, placeFor } from "./sandbox-place.ts";
import { orderPromises, providerContract } from "./sandbox-promises.ts";

providerContract(
  "local",
  async () => {
    const installation = `test${systemIds.hex(12)}`;
    return {
      provider: openProvider({ installation }),
      workspace: workspaceFolder,
      uid: (number) => (ownerUid === undefined ? undefined : ownerUid + number),
      async accident(id) {
        process.kill(bwrapOf(`${installation}.${id}`), "SIGKILL");
      },
    };
  },
  { skip: cannotStart },
);

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
  { skip: cannotStart, isBrief: true },
);

// Through the real protocol of Kubernetes, with pods that bubblewrap plays.
providerContract(
  "kubernetes",
  async () => {
    const ends: (() => unknown)[] = [];
    const { cluster, provider } = await openPlayed({ after: (end) => void ends.push(() => end()) });
    return {
      provider: {
        ...provider,
        async close() {
          for (const end of ends.reverse()) await end();
        },
      },
      workspace: workspaceFolder,
      uid: (number) => (ownerUid === undefined ? undefined : ownerUid + number),
      accident: async (id) => cluster.lose(`agentyard-${id}`),
    };
  },
  { skip: cannotStart, isBrief: true },
);

providerContract(
  "remote",
  async () => {
    const host = await startHost();
    const provider = openRemote([host.address]);
    return {
      provider: {
        ...provider,
        async close() {
          await provider.close();
          await host.end();
        },
      },
      workspace: workspaceFolder,
      uid: (number) => (ownerUid === undefined ? undefined : ownerUid + number),
      async accident(id) {
        process.kill(bwrapOf(`${host.installation}.${id}`), "SIGKILL");
      },
    };
  },
  { skip: cannotStart, isBrief: true },
);

// What tests of the sandbox service stand on keeps the promises that the service relies on.
const open = async () => {
  const provider = playedProvider();
  return {
    provider,
    workspace: hostFolder,
    uid: () => undefined,
    accident: async (id: string) => provider.guests.find((guest) => guest.id === id)?.crash(),
  };
};

for (const { says, holds } of orderPromises)
  test(`played: ${says}`, async (t) => holds(placeFor(t, await open(), open)));
