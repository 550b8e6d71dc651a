import { resolve } from "node:path";
import type { TestEvent } from "node:test/reporters";

/** Prints, at the end, one line of JSON: how many tests passed, failed and were skipped. Suites are not counted. */
export default async function* countTests(events: AsyncIterable<TestEvent>): AsyncGenerator<string> {
  const count = { passed: 0, failed: 0, skipped: 0 };
  for await (const event of events) {
    if (event.type !== "test:pass" && event.type !== "test:fail") continue;
    const { details, file, name, skip, todo } = event.data;
    if (details.type === "suite") continue;
    if (event.type === "test:fail" && !todo) count.failed += 1;
    else if (skip !== undefined || todo !== undefined) count.skipped += 1;
    else if (resolve(name) !== file) count.passed += 1; // A file without any test is reported as one that passed.
  }
  yield `${JSON.stringify(count)}\n`;
}
