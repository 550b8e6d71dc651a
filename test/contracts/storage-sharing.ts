import assert from "node:assert/strict";
import { type Promised, unwrap } from "./storage-place.ts";

/** What a storage says of itself to the processes that open it, one or several. */
export const sharingPromises: readonly Promised[] = [
  {
    says: "who has said that it lives, and asks alone, is at home everywhere, agrees with itself and hears nothing of what it tells [N1]",
    async holds(place) {
      const storage = await place.open();
      const server = { id: "a", address: "host:1" };
      assert.deepEqual((await storage.beat(server)).living, [server]);
      assert.deepEqual(await storage.beat(server), { wasGone: false, living: [server] });
      for (const key of ["c:1", "u:alice", "c:1"]) assert.equal((await storage.homeOf(key, "a"))?.id, "a");
      assert.equal(unwrap(await storage.agree("key", "1")), "1");
      unwrap(await storage.agreeAnew("key", "1", () => true));
      assert.equal(await storage.addressSeen(), undefined);
      const heard: unknown[] = [];
      const end = storage.onTold((told) => heard.push(told));
      unwrap(await storage.tell("models", ""));
      unwrap(await storage.leave("a"));
      end();
      assert.deepEqual(heard, []);
    },
  },
];
