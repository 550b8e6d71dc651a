import { systemIds } from "../../src/base/ids.ts";
import { bwrapOf, cannotStart, openProvider, ownerUid, workspaceFolder } from "./sandbox-guests.ts";
import { providerContract } from "./sandbox-provider.ts";

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
