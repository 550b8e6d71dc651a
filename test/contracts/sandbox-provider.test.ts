import { systemIds } from "../../src/base/ids.ts";
import { bwrapOf, cannotStart, openProvider, ownerUid, workspaceFolder } from "./sandbox-guests.ts";
import { providerContract } from "./sandbox-provider.ts";

providerContract(
  "local",
  async () => {
    const mark = `test${systemIds.hex(12)}`;
    return {
      provider: openProvider({ mark }),
      workspace: workspaceFolder,
      uid: (number) => (ownerUid === undefined ? undefined : ownerUid + number),
      async accident(id) {
        process.kill(bwrapOf(`${mark}.${id}`), "SIGKILL");
      },
    };
  },
  { skip: cannotStart },
);
