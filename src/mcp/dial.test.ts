import assert from "node:assert/strict";
import { test } from "node:test";
import { folderWith } from "../../test/world/folder.ts";
import { odd } from "../../test/world/mcp-servers.ts";
import { webSettings } from "../../test/world/web.ts";
import { systemClock } from "../base/clock.ts";
import { openLogs } from "../observe/observe.ts";
import { openWeb } from "../web/web.ts";
import { type DialParts, dial } from "./dial.ts";

test("a mistake of ours while the program of a server is ended is thrown to whoever ends it [G1]", async (t) => {
  let isMad = false;
  const clock: DialParts["clock"] = {
    ...systemClock,
    now: () => (isMad ? Number.NaN : systemClock.now()),
    wait: (ms, signal) => (ms === 1_500 ? Promise.reject(new Error("no such clock")) : systemClock.wait(ms, signal)),
  };
  const logger = openLogs({
    ...{ dir: folderWith(t, {}), level: "info", clock, startId: "test", pid: 1, secrets: [] },
    onOff: (why) => assert.fail(why),
  });
  t.after(() => logger.close());
  const unasked = () => assert.fail("this server asks for nothing");
  const dialled = await dial(
    odd("well"),
    {
      ...{ clock, logger, version: "0.0.0-test", auth: undefined, isLegacy: true },
      web: openWeb({ clock, settings: () => webSettings, proxyEnv: () => ({}) }),
      ...{ elicit: unasked, onToolsChanged: unasked, onClose: () => {} },
    },
    new AbortController().signal,
  );
  assert.ok(dialled.ok);
  // What cannot be ended is told in the log, and no line of a log has such a time.
  isMad = true;
  await assert.rejects(dialled.value.close(), { name: "RangeError", message: "Invalid time value" });
});
