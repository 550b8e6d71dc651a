import { resolve } from "node:path";
import type { TestEvent } from "node:test/reporters";

/** Prints one line of JSON for each test: its name and what became of it. Suites are not told of. */
export default async function* tellOutcomes(events: AsyncIterable<TestEvent>): AsyncGenerator<string> {
  for await (const event of events) {
    if (event.type !== "test:pass" && event.type !== "test:fail") continue;
    const { details, file, name, skip, todo } = event.data;
    // A file without any test is reported as one that passed.
    if (details.type === "suite" || resolve(name) === file) continue;
    const isFailed = event.type === "test:fail" && !todo;
    const outcome = isFailed ? "failed" : skip !== undefined || todo !== undefined ? "skipped" : "passed";
    yield `${JSON.stringify({ name, outcome })}\n`;
  }
}
