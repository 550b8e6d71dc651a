import assert from "node:assert/strict";
import { test } from "node:test";
import { openDatabase } from "../../../test/world/database.ts";
import { gather } from "../../../test/world/file-doors.ts";
import { folderWith } from "../../../test/world/folder.ts";
import { testSettings } from "../../../test/world/sandbox-settings.ts";
import { quietLogger, testLimits } from "../../../test/world/workspace.ts";
import { systemClock as clock } from "../../base/clock.ts";
import { systemIds as ids } from "../../base/ids.ts";
import { ok } from "../../base/result.ts";
import { ConversationId, localOwner } from "../../protocol/ids.ts";
import { openWorkspaces, type Workspaces } from "../../workspace/workspace.ts";
import { storeOnce } from "./stored-before.ts";

test("a file that an earlier try may have stored is the newest of its names with the same bytes, and none of another name or content [C6][L2]", async (t) => {
  const [dataDir, storage] = [folderWith(t, {}), openDatabase(t)];
  const workspaces = openWorkspaces({ dataDir, storage, clock, ids, logger: quietLogger([]), limits: testLimits });
  t.after(() => workspaces.close());
  const id = ConversationId.parse("c1");
  const made = await storage.createConversation({ owner: localOwner, id, at: clock.now(), events: [] });
  assert.ok(made.ok && (await workspaces.create(made.value)).ok);
  const workspace = workspaces.ofConversation(made.value);
  const there = {
    ...{ "a.txt": "first", "a (2).txt": "second", "a (3).txt": "second", "a (10).txt": "other", "a (x).txt": "third" },
    ...{ ".env": "mine", ".env (2)": "theirs", "b.txt": "third", "a (2) (3).txt": "third" },
  };
  for (const [name, text] of Object.entries(there)) assert.ok((await workspace.write(`uploads/${name}`, text)).ok);
  let open = 0;
  const watched: Workspaces = {
    ...workspaces,
    async spool(source, options) {
      const spooled = await workspaces.spool(source, options);
      if (!spooled.ok) return spooled;
      open += 1;
      const close = () => {
        open -= 1;
        spooled.value.close();
      };
      return ok({ ...spooled.value, close });
    },
  };
  const parts = { workspaces: watched, sandboxSettings: () => testSettings };
  const sent = async (name: string, text: string, keep = true) => {
    const chunks = (async function* () {
      yield Buffer.from(text);
    })();
    const stored = await storeOnce(parts, workspace, { name, folder: "uploads", chunks, keep }, async (file) => {
      const content = (await gather(file.chunks)).toString();
      assert.equal(content, text, "all of it is stored, or stored again");
      const path = `uploads/${file.name}`;
      return ok({ name: file.name, path, type: "text", bytes: text.length, replaced: !file.keep });
    });
    assert.equal(open, 0, "nothing of it is kept besides");
    return stored.ok ? [stored.value.name, stored.value.replaced] : stored.failure.code;
  };
  const isNew = (name: string) => [name, false];
  assert.deepEqual(await sent("a.txt", "first"), isNew("a.txt"));
  assert.deepEqual(await sent("a.txt", "second"), isNew("a (3).txt"));
  assert.deepEqual(await sent("a.txt", "other"), isNew("a (10).txt"));
  assert.deepEqual(await sent("a.txt", "2econd"), isNew("a.txt"), "as long, and another one");
  assert.deepEqual(await sent("a.txt", "third"), isNew("a.txt"), "only other names have that");
  assert.deepEqual(await sent(".env", "theirs"), isNew(".env (2)"));
  assert.deepEqual(await sent("a.txt", "second", false), ["a.txt", true], "whoever replaces has no other name");
  assert.equal(await sent("a.txt", "x".repeat(1_001)), "too_large");
  assert.deepEqual(await sent("a.txt", "x".repeat(1_000)), isNew("a.txt"));
});
