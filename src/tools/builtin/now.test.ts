import assert from "node:assert/strict";
import { test } from "node:test";
import { toolContext } from "../../../test/world/tools.ts";
import { systemClock } from "../../base/clock.ts";
import { builtins, openToolkit } from "../tools.ts";

const toolkit = openToolkit(builtins);
const clock = { ...systemClock, now: () => Date.UTC(2026, 2, 1, 9, 5, 0, 123) };

const asked: readonly [input: object, text: string][] = [
  [{}, "2026-03-01 09:05:00 Sunday (UTC)\n2026-03-01T09:05:00Z (UTC)"],
  [{ timezone: "Asia/Tokyo" }, "2026-03-01 18:05:00 Sunday (Asia/Tokyo)\n2026-03-01T09:05:00Z (UTC)"],
  [{ tz: "Pacific/Auckland" }, "2026-03-01 22:05:00 Sunday (Pacific/Auckland)\n2026-03-01T09:05:00Z (UTC)"],
  [{ timeZone: "America/Anchorage" }, "2026-03-01 00:05:00 Sunday (America/Anchorage)\n2026-03-01T09:05:00Z (UTC)"],
  [{ timezone: "" }, "2026-03-01 09:05:00 Sunday (UTC)\n2026-03-01T09:05:00Z (UTC)"],
];

for (const [input, text] of asked) {
  test(`the time is told with its weekday and in UTC: ${JSON.stringify(input)} [R1]`, async () => {
    assert.deepEqual(await tell(input), { ok: true, value: { text } });
  });
}

test("an unknown zone is named, and a very long one only in part [R1]", async () => {
  for (const [timezone, zone] of [
    ["Mars/Base", "Mars/Base"],
    ["x".repeat(5_000), `${"x".repeat(80)}...`],
  ]) {
    const output = await tell({ timezone });
    assert.deepEqual(output.ok ? {} : { code: output.failure.code, params: output.failure.params }, {
      code: "timezone_unknown",
      params: { zone },
    });
  }
});

async function tell(input: object) {
  const found = toolkit.open({ id: "1", name: "now", arguments: JSON.stringify(input) });
  assert.ok(found.ok);
  return found.value.opened.run(toolContext({ clock }));
}
