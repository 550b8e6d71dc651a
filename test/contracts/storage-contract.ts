import { type TestContext, test } from "node:test";
import { conversationPromises } from "./storage-conversations.ts";
import { leasePromises } from "./storage-leases.ts";
import { logPromises } from "./storage-log.ts";
import { type Opener, openPlace } from "./storage-place.ts";

/** What every `Storage` promises. `makeOpener` answers how to open the same, at first empty, place again and again. */
export function storageContract(name: string, makeOpener: (t: TestContext) => Promise<Opener>): void {
  for (const { says, holds } of [...conversationPromises, ...logPromises, ...leasePromises]) {
    test(`${name}: ${says}`, async (t) => {
      await using place = openPlace(await makeOpener(t));
      await holds(place);
    });
  }
}
