import { relative, resolve } from "node:path";
import type { TestEvent } from "node:test/reporters";

export interface Counted {
  passed: number;
  failed: number;
  skipped: number;
  /** What failed, and the first lines of why. */
  failures: { name: string; file: string; why: string }[];
  /** How long the tests of each file took, added up. */
  filesMs: Record<string, number>;
}

const whyLinesMax = 12;

/** Prints, at the end, one line of JSON: how many tests passed, failed and were skipped, and which failed. Suites are not counted. */
export default async function* countTests(events: AsyncIterable<TestEvent>): AsyncGenerator<string> {
  const count: Counted = { passed: 0, failed: 0, skipped: 0, failures: [], filesMs: {} };
  for await (const event of events) {
    if (event.type !== "test:pass" && event.type !== "test:fail") continue;
    const { details, file, name, nesting, skip, todo } = event.data;
    const place = file === undefined ? "" : relative("", file);
    if (nesting === 0) count.filesMs[place] = Math.round((count.filesMs[place] ?? 0) + details.duration_ms);
    if (details.type === "suite") continue;
    if (event.type === "test:fail" && !todo) {
      count.failed += 1;
      count.failures.push({ name, file: place, why: whyOf(event.data.details.error) });
    } else if (skip !== undefined || todo !== undefined) count.skipped += 1;
    else if (resolve(name) !== file) count.passed += 1; // A file without any test is reported as one that passed.
  }
  yield `${JSON.stringify(count)}\n`;
}

function whyOf({ cause, message, stack }: Error): string {
  const thrown = cause instanceof Error ? (cause.stack ?? cause.message) : (stack ?? message);
  return thrown.split("\n").slice(0, whyLinesMax).join("\n");
}
