import assert from "node:assert/strict";
import { test } from "node:test";
import { systemIds } from "../../src/base/ids.ts";
import { openSandbox } from "../../src/sandbox/sandbox.ts";
import { wordsFor } from "../../src/words/words.ts";
import { calls, modelServer, says } from "../world/model-server.ts";
import { playedProvider } from "../world/played-provider.ts";
import { startYard } from "../world/yard.ts";

test("a model that names its own session by any of its names runs code, and one that names another's is told so [T2][S1][S7]", async () => {
  const named = ["sb-session-local", "sess-local", "sess-agent-default", "sb-session-bob", "sess-bob", "elsewhere"];
  await using model = await modelServer([
    calls(...named.map((session_id): [string, object] => ["execute_code", { code: "at once", session_id }])),
    calls(["execute_code", { code: "at once", sandbox_session_id: "sb-session-bob" }]),
    says("Done."),
  ]);
  const provider = playedProvider();
  await using yard = await startYard({
    ...{ model, approves: true },
    openSandbox: ({ config, storage, clock, logger }) =>
      openSandbox({
        provider,
        storage,
        clock,
        ids: systemIds,
        logger,
        words: wordsFor("en"),
        settings: config.sandbox,
      }),
  });
  const { events } = await yard.ask("Compute.");
  const ends = events.flatMap((event) => (event.type === "call.finished" ? [event] : []));
  assert.deepEqual(
    ends.map(({ outcome, failure }) => (outcome === "ok" ? "ran" : failure?.code)),
    ["ran", "ran", "ran", ...Array(4).fill("session_of_another")],
  );
  assert.doesNotMatch(JSON.stringify(ends), /ignored unknown arguments/);
  assert.doesNotMatch(model.asked[0]?.text ?? "", /session_id/, "nobody is asked for it");
});
