import { bwrapOf, cannotStart, ownerUid, workspaceFolder } from "./sandbox-guests.ts";
import { openRemote, startHost } from "./sandbox-on-remote.ts";
import { providerContract } from "./sandbox-provider.ts";

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
  { skip: cannotStart },
);
