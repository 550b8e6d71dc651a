import { test } from "node:test";
import { playedProvider } from "../world/played-provider.ts";
import { orderPromises } from "./sandbox-order.ts";
import { hostFolder, placeFor } from "./sandbox-place.ts";

// What tests of the sandbox service stand on keeps the promises that the service relies on.

const open = async () => {
  const provider = playedProvider();
  return {
    provider,
    workspace: hostFolder,
    uid: () => undefined,
    accident: async (id: string) => provider.guests.find((guest) => guest.id === id)?.crash(),
  };
};

for (const { says, holds } of orderPromises)
  test(`played: ${says}`, async (t) => holds(placeFor(t, await open(), open)));
