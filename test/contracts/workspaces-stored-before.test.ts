import assert from "node:assert/strict";
import { test } from "node:test";
import { ok } from "../../src/base/result.ts";
import { storeOnce } from "../../src/http/sandbox/stored-before.ts";
import type { Workspaces } from "../../src/workspace/workspace.ts";
import { gather } from "../world/file-doors.ts";
import { testSettings } from "../world/sandbox-settings.ts";
import { unwrap } from "./storage-place.ts";
import { openGround } from "./workspaces-place.ts";

test("a file that an earlier try may have stored is the newest of its names with the same bytes, and none of another name or content [C6][L2]", async (t) => {
  const { workspaces, start } = await openGround(t);
  const workspace = workspaces.ofConversation(await start("c1"));
  const there = {
    ...{ "a.txt": "first", "a (2).txt": "second", "a (3).txt": "second", "a (10).txt": "other", "a (x).txt": "third" },
    ...{ ".env": "mine", ".env (2)": "theirs", "b.txt": "third", "a (2) (3).txt": "third" },
  };
  for (const [name, text] of Object.entries(there)) unwrap(await workspace.write(`uploads/${name}`, text));
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
