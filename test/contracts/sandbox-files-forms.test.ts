import assert from "node:assert/strict";
import { test } from "node:test";
import { zipSync } from "fflate";
import { OwnerId } from "../../src/protocol/ids.ts";
import { openFiles } from "../world/open-files.ts";
import { formOf, openFileDoor, refusal, session } from "./sandbox-files.ts";

const csv = (name: string, text = "a,b\n1,2\n") => new File([text], name, { type: "text/csv" });

test("a form names its user where nothing else does, and what may not be written is told before a conversation is made for it [S3][S7]", async () => {
  await using door = await openFileDoor();
  const body = formOf(csv("a.csv"), { conversation_id: "c5", user_id: "bob" });
  const stored = await door.call("POST", "/sessions/sess-agent-default/files/upload", { body });
  assert.deepEqual([stored.status, stored.json.session_id], [200, "sb-session-bob"]);
  assert.equal((await door.yard.log.find(OwnerId.parse("bob"), "c5")).ok, true);
  const [ann, why] = [OwnerId.parse("ann"), "not_writable"];
  for (const [path, folder] of [
    ["skills/own/a.csv", "skills"],
    ["elsewhere/a.csv", "elsewhere"],
    ["a.csv", "."],
  ]) {
    const refused = await door.upload(csv("x.csv"), {}, `?path=${encodeURIComponent(`c6/${path}`)}`);
    assert.deepEqual([...refusal(refused), refused.json.params], [403, "permission_denied", { path, folder, why }]);
  }
  assert.equal((await door.yard.log.find(ann, "c6")).ok, false);
});

test("nothing of a form stays open, whether it was stored, unpacked or refused [F4][Q2]", async () => {
  await using door = await openFileDoor();
  const open = () => openFiles().filter((path) => path.startsWith(door.yard.data)).length;
  const zip = new File([Buffer.from(zipSync({ "a.csv": Buffer.from("a,b\n") }))], "a.zip");
  // The file comes first: all of it is kept until it is known where it goes.
  const before = open();
  assert.equal((await door.upload(csv("a.csv"), { conversation_id: "c1" })).status, 200);
  assert.equal((await door.upload(zip, { conversation_id: "c1", extract: "true" })).status, 200);
  assert.deepEqual(refusal(await door.upload(csv("a.csv"), { conversation_id: "../c" })), [400, "bad_request"]);
  const broken = await door.upload(csv("a.zip"), { conversation_id: "c1", extract: "true" });
  assert.deepEqual(refusal(broken), [400, "archive_unfit"]);
  assert.equal(open(), before);
  const listed = await door.call("GET", `/sessions/${session}/files?conversation_id=c1`);
  assert.deepEqual(listed.json.files, ["a.csv"]);
});
