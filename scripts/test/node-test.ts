// Stands in for `node:test` in the files that a lane runs (lane.ts). Tests and hooks of a file become those of one test that
// carries its name: its servers are closed when the file ends, and its `beforeEach` is not that of the files after it.

import { type HookFn, type HookOptions, mock, type TestContext, type TestFn, type TestOptions } from "node:test";

export { mock };

type Given = [name: string, options: TestOptions, run: TestFn | undefined];
type FileRun = {
  readonly url: string;
  readonly isChosen: (name: string) => boolean;
  readonly onStart: (name: string) => void;
};

let current: TestContext | undefined;
let given: Given[] = [];

export async function runFile(t: TestContext, { url, isChosen, onStart }: FileRun): Promise<void> {
  current = t;
  given = [];
  await import(url);
  const tests = given;
  for (const [name, options, run] of tests) {
    if (!isChosen(name)) continue;
    onStart(name);
    await t.test(name, { timeout: testMsMax, ...options }, run);
  }
}

/** One that waits for ever fails by its name. The longest takes half a minute on the smallest machine. */
const testMsMax = 180_000;

export function test(...args: readonly unknown[]): Promise<void> {
  const [first, second, third] = args;
  const name = typeof first === "string" ? first : "";
  const options = typeof second === "object" && second !== null ? (second as TestOptions) : {};
  const run = [first, second, third].find((one) => typeof one === "function") as TestFn | undefined;
  given.push([name, options, run]);
  return Promise.resolve();
}

const withOption = (option: TestOptions) => (name: string, options: unknown, run?: unknown) =>
  typeof options === "function" ? test(name, option, options) : test(name, { ...Object(options), ...option }, run);
test.skip = withOption({ skip: true });
test.todo = withOption({ todo: true });
test.only = test;

export const before = (run: HookFn, options?: HookOptions): void => contextOf("before").before(run, options);
export const after = (run: HookFn, options?: HookOptions): void => contextOf("after").after(run, options);
export const beforeEach = (run: HookFn, options?: HookOptions): void =>
  contextOf("beforeEach").beforeEach(run as never, options);
export const afterEach = (run: HookFn, options?: HookOptions): void =>
  contextOf("afterEach").afterEach(run as never, options);

function contextOf(hook: string): TestContext {
  if (current === undefined) throw new Error(`${hook}() is called outside of a test file`);
  return current;
}
