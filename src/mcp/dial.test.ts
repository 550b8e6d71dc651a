import assert from "node:assert/strict";
import { test } from "node:test";
import { odd } from "../../test/world/mcp-servers.ts";
import { partly } from "../../test/world/partly.ts";
import { systemClock } from "../base/clock.ts";
import type { Logger } from "../observe/observe.ts";
import { type DialParts, dial } from "./dial.ts";

test("a mistake of ours while the program of a server is ended is thrown to whoever ends it [G1]", async () => {
  const broken = () => {
    throw new RangeError("no such line");
  };
  const wait: DialParts["clock"]["wait"] = (ms, signal) =>
    ms === 1_500 ? Promise.reject(new Error("no such clock")) : systemClock.wait(ms, signal);
  const parts = partly<DialParts>({
    clock: { ...systemClock, wait },
    // What cannot be ended is told in the log, and that breaks, too.
    logger: partly<Logger>({ info: () => {}, error: broken }),
    ...{ version: "0.0.0-test", auth: undefined, isLegacy: true },
  });
  const dialled = await dial(odd("well"), parts, new AbortController().signal);
  assert.ok(dialled.ok);
  await assert.rejects(dialled.value.close(), { name: "RangeError", message: "no such line" });
});
