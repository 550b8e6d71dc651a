import assert from "node:assert/strict";
import type { SecretRow } from "../../src/storage/storage.ts";
import { alice, bob, morning, type Promised, unwrap } from "./storage-place.ts";

/** What is kept, sealed, for calls to others. */
export const secretPromises: readonly Promised[] = [
  {
    says: "a secret is kept byte for byte under its owner and name, and replaced in place [C6][Q1]",
    async holds(place) {
      const first = await place.open();
      const [hers, his] = [secretOf("token"), secretOf("token", { owner: bob, sealed: Uint8Array.of(255, 0, 10) })];
      for (const row of [secretOf("zz"), hers, his]) unwrap(await first.putSecret(row));
      await first.close();

      const storage = await place.open();
      assert.deepEqual(shown(await storage.findSecret(alice, "token")), shown(hers));
      assert.deepEqual(shown(await storage.findSecret(bob, "token")), shown(his));
      assert.equal(await storage.findSecret(alice, "toke"), undefined);
      unwrap(
        await storage.putSecret({ ...hers, sealed: Uint8Array.of(7), createdAt: morning + 9, updatedAt: morning + 9 }),
      );
      assert.deepEqual(
        shown(await storage.findSecret(alice, "token")),
        shown({ ...hers, sealed: Uint8Array.of(7), updatedAt: morning + 9 }),
      );
    },
  },
  {
    says: "secrets are listed by name without what they hold, and taken away by their owner alone [C6][Q1]",
    async holds(place) {
      const storage = await place.open();
      for (const name of ["b", "a", "c"]) unwrap(await storage.putSecret(secretOf(name)));
      const noted = (name: string) => ({ owner: alice, name, createdAt: morning, updatedAt: morning });
      assert.deepEqual(await storage.listSecrets(alice, 2), [noted("a"), noted("b")]);
      assert.deepEqual(await storage.listSecrets(bob, 9), []);
      assert.equal(unwrap(await storage.dropSecret(bob, "a")), false);
      assert.equal(unwrap(await storage.dropSecret(alice, "a")), true);
      assert.equal(unwrap(await storage.dropSecret(alice, "a")), false);
      assert.deepEqual(await storage.listSecrets(alice, 9), [noted("b"), noted("c")]);
      await assert.rejects(storage.listSecrets(alice, 0));
    },
  },
  {
    says: "a user who is removed takes secrets along, and whoever is called so later finds none [C6][S7]",
    async holds(place) {
      const storage = await place.open();
      const user = { name: "", password: undefined, isAdmin: false, subject: undefined, at: morning };
      unwrap(await storage.putUser({ ...user, id: alice }));
      for (const owner of [alice, bob]) unwrap(await storage.putSecret(secretOf("token", { owner })));
      assert.equal(await storage.ownsAnything(bob), true);
      unwrap(await storage.dropUser(alice));
      assert.deepEqual([await storage.listSecrets(alice, 9), await storage.ownsAnything(alice)], [[], false]);
      assert.equal((await storage.listSecrets(bob, 9)).length, 1);
    },
  },
];

function secretOf(name: string, with_: Partial<SecretRow> = {}): SecretRow {
  return { owner: alice, name, sealed: Uint8Array.of(1, 2, 3), createdAt: morning, updatedAt: morning, ...with_ };
}

/** Bytes are compared as bytes, whatever class they come in. */
function shown(row: SecretRow | undefined): unknown {
  return row && { ...row, sealed: Buffer.from(row.sealed).toString("hex") };
}
