import { ownerUid, workspaceFolder } from "../contracts/sandbox-guests.ts";
import { cannotUseKubernetes, openReal, realApi } from "../contracts/sandbox-on-kubernetes.ts";
import { providerContract } from "../contracts/sandbox-provider.ts";

const { api, pods } = realApi();

providerContract(
  "kubernetes",
  async () => ({
    provider: openReal(),
    workspace: workspaceFolder,
    uid: (number) => (ownerUid === undefined ? undefined : ownerUid + number),
    async accident(id) {
      await api.ask("DELETE", `${pods}/agentyard-${id}?gracePeriodSeconds=0`);
    },
  }),
  { skip: cannotUseKubernetes },
);
