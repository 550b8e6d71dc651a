import assert from "node:assert/strict";
import { test } from "node:test";
import { localOwner } from "../../src/protocol/ids.ts";
import { firstOf, lastOf, report } from "../world/company.ts";
import { calls, modelServer, says } from "../world/model-server.ts";
import { must, startYard } from "../world/yard.ts";

test("a conversation is listed by its person's words, and not by those that its agent says to a helper [C3][A2]", async () => {
  let listed: Promise<unknown> | undefined;
  const words = async () => {
    const { title, lastMessage } = await must(yard.log.find(localOwner, "c"));
    return [title, lastMessage];
  };
  await using model = await modelServer((request) => {
    if (!firstOf(request).startsWith("go")) {
      listed = words();
      return { ...says(report("written")), heldUntil: listed.then(() => {}) };
    }
    return lastOf(request).role === "tool" ? says("all is done") : calls(["delegate_task", { task: "write it" }]);
  });
  await using yard = await startYard({ model, isOneProcess: true });
  await yard.start("c");
  await yard.ask("go for it", { conversation: "c" });
  assert.deepEqual(
    [await listed, await words()],
    [
      ["go for it", "go for it"],
      ["go for it", "all is done"],
    ],
  );
});
