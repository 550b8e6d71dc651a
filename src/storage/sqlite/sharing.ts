import { ok } from "../../base/result.ts";
import type { Sharing } from "../sharing.ts";

/** A file that one process has to itself: everything is at home with it, and there is nobody to agree with or to tell. */
export const unshared: Sharing = {
  beat: async (server) => ({ wasGone: false, living: [server] }),
  homeOf: async (_key, asker) => ({ id: asker, address: "" }),
  bury: async () => ok(undefined),
  leave: async () => ok(undefined),
  addressSeen: async () => undefined,
  agree: async (_name, value) => ok(value),
  agreeAnew: async () => ok(true),
  tell: async () => ok(undefined),
  onTold: () => () => {},
};
