import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import type { LogEvent } from "../../src/protocol/events.ts";
import { withoutMarks } from "../../src/words/words.ts";
import { all } from "../world/events.ts";
import { calls, modelServer, says } from "../world/model-server.ts";
import { cannotRunCode } from "../world/sandbox.ts";
import { startYard } from "../world/yard.ts";

const skip = { skip: cannotRunCode };
const python = (code: string, more: object = {}): [string, object] => ["execute_code", { code, ...more }];
const anew = "[Python was started anew; earlier variables are gone]";

/** What models are told, one call after the other, without the times. */
function results(events: readonly LogEvent[]): string[][] {
  return all(events, "call.finished").map(({ text }) => withoutMarks(text).split("\n").slice(0, -1));
}

test("a model whose variables are gone after a restart is told so, once [X1]", skip, async (t) => {
  const data = mkdtempSync(join(tmpdir(), "agentyard-test-"));
  t.after(() => rmSync(data, { recursive: true, force: true }));
  await using model = await modelServer([
    calls(["execute_code", { code: "echo first", language: "bash" }]),
    calls(python("x = 1"), python("x")),
    says("done"),
    calls(python("'x' in globals()"), python("2")),
    says("done"),
  ]);
  const options = { model, data, runsCode: true };
  const before = await startYard(options);
  const { conversation, events } = await before.ask("remember");
  assert.deepEqual(results(events), [["first"], ["(no output)"], ["--- value", "1"]]);
  await before[Symbol.asyncDispose]();
  await using yard = await startYard(options);
  const after = await yard.ask("and now?", { conversation });
  assert.deepEqual(results(after.events).slice(3), [
    ["--- value", "False", anew],
    ["--- value", "2"],
  ]);
});

test("a model whose code ended its Python is told what ended and what is gone [X1]", skip, async () => {
  const deaf = "import signal\nsignal.signal(signal.SIGINT, signal.SIG_IGN)\nwhile True: pass";
  await using model = await modelServer([
    calls(python("import os; os._exit(0)")),
    // The time of what follows is for the code: its Python is there.
    calls(python("1")),
    calls(python(deaf, { timeout: 3 })),
    calls(python("2")),
    calls(python("import time; time.sleep(60)", { timeout: 1 })),
    says("done"),
  ]);
  await using yard = await startYard({ model, runsCode: true });
  const [ended, first, late, second, polite = []] = results((await yard.ask("end")).events);
  assert.deepEqual(ended, ["Failed (the code ended Python itself: exit code 0). Variables are gone.", "(no output)"]);
  assert.deepEqual(first, ["--- value", "1", anew]);
  assert.deepEqual(late, [
    ...["Error: Code timeout (3s)", "(no output)"],
    "[Python was ended; its variables are gone]",
  ]);
  assert.deepEqual(second, ["--- value", "2", anew]);
  assert.deepEqual([polite[0], polite.at(-1)], ["Error: Code timeout (1s)", "KeyboardInterrupt"]);
});
