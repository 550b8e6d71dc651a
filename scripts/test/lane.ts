// One process of `npm test`. It runs the test files that its parent sends, one after the other, and reports their tests.
// A file gets a `node:test` whose `test()` and hooks belong to that file alone.
import { writeSync } from "node:fs";
import { registerHooks } from "node:module";
import { test } from "node:test";
import { pathToFileURL } from "node:url";
import type { FromLane, ToLane } from "./messages.ts";
import { runFile } from "./node-test.ts";
import { type LaneState, resetLane, stateOfLane } from "./reset.ts";

/** What tests left open may keep a process from ending. */
const endMsMax = 30_000;

const own = new URL(".", import.meta.url).href;
registerHooks({
  resolve(specifier, context, next) {
    const isOfTest = specifier === "node:test" && !context.parentURL?.startsWith(own);
    return isOfTest ? { url: `${own}node-test.ts`, shortCircuit: true } : next(specifier, context);
  },
});

const namePatterns = process.argv.slice(2).map((pattern) => new RegExp(pattern));
/** As it is when the first file begins: the test runner itself listens to the process. */
let before: LaneState | undefined;

/** Without a parent nobody hears of the rest. */
const leave = () => process.exit(1);
process.once("disconnect", leave);
process.on("message", ({ file }: ToLane) => {
  if (file === undefined) return end();
  void test(file, (t) => {
    before ??= stateOfLane();
    return runFile(t, {
      url: pathToFileURL(file).href,
      isChosen: (name) => namePatterns.length === 0 || namePatterns.some((pattern) => pattern.test(name)),
      onStart: (name) => send({ kind: "started", name }),
    });
  }).then(() => {
    const left = before === undefined ? [] : resetLane(before);
    before = stateOfLane();
    send({ kind: "ready", left });
  });
});
send({ kind: "ready", left: [] });

function send(message: FromLane): void {
  process.send?.(message);
}

function end(): void {
  process.off("disconnect", leave);
  process.disconnect?.();
  const late = setTimeout(() => {
    const open = process.getActiveResourcesInfo().join(", ");
    writeSync(2, `the tests are over, but this keeps their process alive: ${open}\n`);
    process.exit(1);
  }, endMsMax);
  late.unref();
}
