import assert from "node:assert/strict";
import { test } from "node:test";
import { numbered } from "../../test/world/any-log.ts";
import type { NewEvent } from "../protocol/events.ts";
import { standingCompaction } from "./compact-command.ts";

const compacted = (summary: string): NewEvent => ({
  ...{ type: "compacted", turn: 1, strategy: "compact", upTo: 0, summary, messagesBefore: 2, messagesAfter: 1 },
});

test("/compact show prints the summary that is sent: undone it is gone, and back again when the turn around that is undone [U1][Z2]", () => {
  const events = numbered([
    compacted("first"),
    compacted("second"),
    compacted(""), // Only made shorter.
    { type: "message.user", id: "a", text: "go", mode: "queue" },
    { type: "compaction.undone", compacted: 2, by: "me" },
    { type: "compaction.undone", compacted: 1, by: "me" },
    { type: "rewound", to: 3, cause: "undo" },
    { type: "rewound", to: 1, cause: "checkpoint" },
    { type: "rewound", to: 0, cause: "reset" },
  ]);
  const shown = events.map((_, index) => standingCompaction(events.slice(0, index + 1))?.summary);
  assert.deepEqual(shown, [
    ...["first", "second", "second", "second", "first", undefined],
    ...["second", "first", undefined],
  ]);
});
