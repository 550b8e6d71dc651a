import { z } from "zod";
import { ok } from "../../base/result.ts";
import { failure } from "../../protocol/failure.ts";
import { shortened } from "../output.ts";
import { defineTool } from "../tool.ts";

export const now = defineTool({
  name: "now",
  description:
    "Tell the exact present date and time. Use it when the answer depends on today's date or the time of day: the start time in the prompt gets old. Not for converting other times. Returns local time with weekday, and UTC, to the second.",
  class: "pure",
  isOnDemand: true,
  input: z.object({ timezone: z.string().optional().describe("IANA name such as Asia/Shanghai. Left out: UTC.") }),
  otherNames: { tz: "timezone", time_zone: "timezone", zone: "timezone" },
  run({ timezone = "UTC" }, { clock }) {
    const at = new Date(clock.now());
    const local = localTime(at, timezone);
    if (local === undefined) return failure("timezone_unknown", { zone: shortened(timezone, zoneBytesMax) });
    return ok({ text: `${local} (${timezone})\n${at.toISOString().replace(/\.\d+Z$/, "Z")} (UTC)` });
  },
});

const zoneBytesMax = 80;

function localTime(at: Date, timeZone: string): string | undefined {
  try {
    const day = at.toLocaleDateString("en-GB", { timeZone, weekday: "long" });
    return `${at.toLocaleString("sv-SE", { timeZone })} ${day}`;
  } catch {
    return undefined; // Intl knows no such zone.
  }
}
