import { ok } from "../../base/result.ts";
import { protocolVersion } from "../../protocol/routes.ts";
import type { Handlers, Parts } from "../handler.ts";

export function healthHandlers({ version }: Parts): Pick<Handlers, "health"> {
  return {
    async health() {
      return ok({ status: "ok", version, protocol: protocolVersion });
    },
  };
}
