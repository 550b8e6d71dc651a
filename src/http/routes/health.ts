import { ok } from "../../base/result.ts";
import { protocolVersion } from "../../protocol/routes.ts";
import type { Handlers, Parts } from "../handler.ts";

export function healthHandlers({ version, logFile }: Parts): Pick<Handlers, "health"> {
  return {
    async health({ isLocal }) {
      // Where the log file lies is a host path: only the same user on the same machine is told.
      const place = isLocal && logFile !== undefined ? { logFile } : {};
      return ok({ status: "ok", version, protocol: protocolVersion, ...place });
    },
  };
}
