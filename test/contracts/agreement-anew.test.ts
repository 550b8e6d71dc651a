import assert from "node:assert/strict";
import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { agreeWithOthers } from "../../src/agreement.ts";
import { systemIds } from "../../src/base/ids.ts";
import { ok } from "../../src/base/result.ts";
import type { Config } from "../../src/config/config.ts";
import type { Present, Storage } from "../../src/storage/storage.ts";
import { noted, partly } from "../world/partly.ts";

/** What becomes of a server whose key or files are others than those that were agreed on. */
async function entering(t: { after(work: () => void): void }, others: "key" | "files", present: Partial<Present>) {
  const dir = mkdtempSync(join(tmpdir(), "agreement-"));
  t.after(() => rmSync(dir, { recursive: true }));
  const changed: string[] = [];
  const storage = partly<Storage>({
    agree: async (name, value) => ok(name === others ? "another" : value),
    agreeAnew: async (name, _, mayChange) => {
      const may = mayChange({ servers: [], hasSecrets: false, hasFiles: false, ...present });
      return may ? noted(changed, name, ok(true)) : ok(false);
    },
  });
  const filesDir = join(dir, "files");
  const config = partly<Pick<Config, "paths" | "secretKey" | "storage">>({
    ...{ paths: { dataDir: dir, filesDir }, secretKey: "k".repeat(32), storage: { database: {} } },
  });
  const agreed = await agreeWithOthers({ config, storage, ids: systemIds });
  const why = agreed.ok ? "ok" : Object(agreed.failure.params).why;
  return [why, changed.join(), existsSync(join(filesDir, ".agentyard-files"))];
}

test("another key is taken where no server lives and no secret rests on the old one, whatever files there are [N1]", async (t) => {
  assert.deepEqual(await entering(t, "key", {}), ["ok", "key", true]);
  assert.deepEqual(await entering(t, "key", { hasFiles: true }), ["ok", "key", true]);
  assert.deepEqual(await entering(t, "key", { hasSecrets: true }), ["other_key", "", false]);
  assert.deepEqual(await entering(t, "key", { servers: [{ id: "a", address: "h:1" }] }), ["other_key", "", false]);
});

test("other files are taken where no server lives and no conversation has any, whatever secrets there are; else no mark is left [N1]", async (t) => {
  assert.deepEqual(await entering(t, "files", {}), ["ok", "files", true]);
  assert.deepEqual(await entering(t, "files", { hasSecrets: true }), ["ok", "files", true]);
  assert.deepEqual(await entering(t, "files", { hasFiles: true }), ["other_files", "", false]);
  assert.deepEqual(await entering(t, "files", { servers: [{ id: "a", address: "h:1" }] }), ["other_files", "", false]);
});
