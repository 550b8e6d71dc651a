import { type TestContext, test } from "node:test";
import type { Storage } from "../../src/storage/storage.ts";
import { changedPromises } from "./storage-changed.ts";
import { cleanUpPromises } from "./storage-clean-up.ts";
import { conversationPromises } from "./storage-conversations.ts";
import { copyPromises } from "./storage-copy.ts";
import { executionPromises } from "./storage-executions.ts";
import { followerPromises } from "./storage-followers.ts";
import { leasePromises } from "./storage-leases.ts";
import { logPromises } from "./storage-log.ts";
import { peoplePromises } from "./storage-people.ts";
import { type Opener, openPlace } from "./storage-place.ts";
import { rulePromises } from "./storage-rules.ts";
import { searchPromises } from "./storage-search.ts";
import { secretPromises } from "./storage-secrets.ts";
import { sharingPromises } from "./storage-sharing.ts";
import { toolboxPromises } from "./storage-toolboxes.ts";
import { workspacePromises } from "./storage-workspaces.ts";

/** What every `Storage` promises. `makeOpener` answers how to open the same, at first empty, place again and again. */
export function storageContract(
  name: string,
  makeOpener: (t: TestContext) => Promise<Opener>,
  openCopy: (path: string) => Promise<Storage>,
): void {
  const promises = [
    ...[conversationPromises, logPromises, followerPromises, leasePromises],
    ...[workspacePromises, cleanUpPromises, executionPromises, rulePromises],
    ...[searchPromises, peoplePromises, secretPromises, toolboxPromises, sharingPromises, copyPromises(openCopy)],
    ...changedPromises,
  ].flat();
  for (const { says, holds } of promises) {
    test(`${name}: ${says}`, async (t) => {
      await using place = openPlace(await makeOpener(t));
      await holds(place);
    });
  }
}
