import assert from "node:assert/strict";
import { test } from "node:test";
import { partly } from "../../../test/world/partly.ts";
import { quietLogger } from "../../../test/world/workspace.ts";
import { systemIds } from "../../base/ids.ts";
import { createFontList } from "./font-list.ts";
import type { LaunchSettings } from "./start.ts";

test("a list of fonts that cannot be made for a mistake of ours is told in the log, and guests start without it", async () => {
  const lines: string[] = [];
  const fonts = createFontList({ ids: systemIds, python: "/usr/bin/python3", logger: quietLogger(lines) });
  // A machine of which nothing is known: whoever wants to start a guest there breaks down.
  const host = partly<LaunchSettings>({});
  assert.deepEqual([fonts.files(host), fonts.files(host)], [{}, {}]);
  await fonts.settled();
  assert.deepEqual(lines, ['the list of fonts for sandboxes could not be made {"error":{}}']);
  assert.deepEqual(fonts.files(host), {});
});
