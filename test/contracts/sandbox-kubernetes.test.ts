import { cannotStart, ownerUid, workspaceFolder } from "./sandbox-guests.ts";
import { openPlayed } from "./sandbox-on-kubernetes.ts";
import { providerContract } from "./sandbox-provider.ts";

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
  { skip: cannotStart },
);
