import type { TestEvent } from "node:test/reporters";
import type { FromLane, TestOutcome } from "../test/messages.ts";

const whyLinesMax = 30;

/** Sends what became of the tests of each file of a lane to its parent. A test on the outside stands for its file. */
export default async function* tellParent(events: AsyncIterable<TestEvent>): AsyncGenerator<string> {
  let outcomes: TestOutcome[] = [];
  for await (const event of events) {
    if (event.type !== "test:pass" && event.type !== "test:fail") continue;
    const { details, name, nesting, skip, todo } = event.data;
    const isFailed = event.type === "test:fail" && !todo;
    const error = isFailed ? event.data.details.error : undefined;
    const isOfTests = Object(error).failureType === "subtestsFailed";
    // Of a file only that it could not be loaded, or that one of its hooks failed.
    if (nesting > 0 ? !isOfTests : isFailed && !isOfTests) {
      const state = isFailed ? "failed" : skip !== undefined || todo !== undefined ? "skipped" : "passed";
      outcomes.push({ name, state, ms: details.duration_ms, ...(error && { why: whyOf(error) }) });
    }
    if (nesting > 0) continue;
    const told: FromLane = { kind: "tested", file: name, outcomes };
    process.send?.(told);
    outcomes = [];
  }
  yield "";
}

function whyOf({ cause, message, stack }: Error): string {
  const thrown = cause instanceof Error ? (cause.stack ?? cause.message) : (stack ?? message);
  return thrown.split("\n").slice(0, whyLinesMax).join("\n");
}
