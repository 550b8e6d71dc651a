import assert from "node:assert/strict";
import { test } from "node:test";
import { failure, makeFailure } from "../protocol/failure.ts";
import { noWorkspace } from "./none.ts";

test("whatever an agent without files asks for, it is told that it has none [W3][W7]", async () => {
  const reason = makeFailure("workspace_not_assigned", { agent: "worker" });
  const workspace = noWorkspace("c1", reason);
  const answers = await Promise.all([
    workspace.stat("a"),
    workspace.read("a"),
    workspace.stream("a"),
    workspace.hash("a"),
    workspace.list(),
    workspace.walk(),
    workspace.info(),
    workspace.write("a", "text"),
    workspace.remove("a"),
    workspace.empty("temp"),
    workspace.restore("a", undefined),
    workspace.observe(),
    workspace.lookAhead({ signal: new AbortController().signal }),
    workspace.measure(),
    workspace.guestFolder(),
    workspace.openDescriptor(),
  ]);
  const refusal = failure("workspace_not_assigned", { agent: "worker" });
  assert.deepEqual(
    answers,
    answers.map(() => refusal),
  );
});
