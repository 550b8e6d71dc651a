// Loaded before the tests of `npm test`. Node's test runner watches every promise that is made, to know in which test a
// stray error was born; that is an eighth of the processor time of our tests. Without it such an error still fails the run,
// by its stack instead of the name of a test. See docs/decisions/0109-lanes.md.
import { createRequire } from "node:module";

const hooks: typeof import("node:async_hooks") = createRequire(import.meta.url)("node:async_hooks");
const { createHook } = hooks;
const inert = {
  enable: () => inert,
  disable: () => inert,
};
hooks.createHook = (callbacks) => (isOfTestRunner() ? inert : createHook(callbacks));

function isOfTestRunner(): boolean {
  return new Error("who asks").stack?.includes("internal/test_runner/") ?? false;
}
