import { systemClock } from "../../src/base/clock.ts";
import { systemIds } from "../../src/base/ids.ts";
import { openEngine } from "../../src/sandbox/docker/engine.ts";
import { ownerUid, workspaceFolder } from "../contracts/sandbox-guests.ts";
import { cannotUseDocker, engineSocket, openDocker } from "../contracts/sandbox-on-docker.ts";
import { providerContract } from "../contracts/sandbox-provider.ts";

const engine = openEngine({ address: { socketPath: engineSocket ?? "/nowhere" }, clock: systemClock });

providerContract(
  "docker",
  async () => {
    const mark = `test${systemIds.hex(12)}`;
    return {
      provider: openDocker({ mark }),
      workspace: workspaceFolder,
      uid: (number) => (ownerUid === undefined ? undefined : ownerUid + number),
      async accident(id) {
        await engine.ask("DELETE", `/containers/agentyard-${mark}-${id}?force=1`);
      },
    };
  },
  { skip: cannotUseDocker },
);
