import { ok } from "../../base/result.ts";
import { protocolVersion } from "../../protocol/routes.ts";
import type { Handlers, Parts } from "../handler.ts";

export function backupHandlers({ workspaces, version, clock }: Parts): Pick<Handlers, "backup"> {
  return {
    async backup({ query }) {
      const day = new Date(clock.now()).toISOString().slice(0, 10);
      const wanted = { agentyard: version, protocol: protocolVersion, withKey: query.key };
      const chunks = () => workspaces.archive(wanted);
      return ok({ archive: { name: `agentyard-${day}.tar`, type: "application/x-tar", chunks } });
    },
  };
}
