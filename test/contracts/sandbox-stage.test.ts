import assert from "node:assert/strict";
import { chmodSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { cannotStart, openProvider, ownerUid, workspaceFolder } from "./sandbox-guests.ts";
import { conversation, done, triedGuest, wantedGuest } from "./sandbox-place.ts";

test("a workspace is mounted whatever its folder on the host is called, and however closed the folders above it are [X3][S4]", {
  skip: cannotStart,
}, async (t) => {
  const provider = openProvider();
  t.after(() => provider.close());
  const above = join(workspaceFolder(t), "closed");
  mkdirSync(above);
  for (const name of ["plain", "with blanks", "hash#mark", "back\\slash", "tab\tsign", "quote'\"$(date)", "会议"]) {
    const folder = join(above, name);
    mkdirSync(folder, { mode: 0o711 });
    for (const inside of ["uploads", "outputs", "temp"]) mkdirSync(join(folder, inside));
    writeFileSync(join(folder, "uploads", "note.txt"), name);
    // Root goes through it all the same, on behalf of the guest; others could not have made the guest's folder there.
    if (ownerUid !== undefined) chmodSync(above, 0o700);
    const opened = await provider.open(wantedGuest({ workspace: conversation(folder), uid: ownerUid }));
    assert.ok(opened.ok, opened.ok ? "" : `${name}: ${opened.failure.said}`);
    const { run, guest } = triedGuest(opened.value);
    assert.deepEqual(
      await run("bash", "cat uploads/note.txt; echo made > outputs/made.txt && cat /workspace/outputs/made.txt"),
      done({ stdout: `${name}made\n` }),
    );
    await guest.close("looked");
  }
});
