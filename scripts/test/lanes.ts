import { spawn } from "node:child_process";
import { join } from "node:path";
import type { FromLane, TestOutcome, ToLane } from "./messages.ts";

export interface TestFile {
  /** From the root of the repository. */
  readonly file: string;
  /** In a process of its own. */
  readonly isAlone: boolean;
}

export interface FileResult {
  readonly file: string;
  readonly ms: number;
  readonly outcomes: readonly TestOutcome[];
}

export interface LaneOptions {
  readonly root: string;
  readonly env: NodeJS.ProcessEnv;
  readonly lanes: number;
  readonly namePatterns: readonly string[];
  readonly onFile: (result: FileResult) => void;
  /** A lane that says nothing for so long is killed. */
  readonly silentMsMax?: number;
}

/** Runs the files, as many at once as there are lanes. Each gets a result, also where its process died. */
export async function runInLanes(files: readonly TestFile[], options: LaneOptions): Promise<FileResult[]> {
  const waiting = [...files];
  const results: FileResult[] = [];
  const onFile = (result: FileResult) => {
    results.push(result);
    options.onFile(result);
  };
  const runLane = async () => {
    while (waiting.length > 0) await runProcess(waiting, { ...options, onFile });
  };
  await Promise.all(Array.from({ length: Math.min(options.lanes, files.length) }, runLane));
  return results;
}

/** One process: it takes one file after the other until it dies or there are none; one that has to be alone it takes alone. */
function runProcess(waiting: TestFile[], options: LaneOptions): Promise<void> {
  const { root, env, namePatterns, onFile, silentMsMax = 240_000 } = options;
  const scripts = join(import.meta.dirname, "..");
  const reporter = [`--test-reporter=${scripts}/reporters/to-parent.ts`, "--test-reporter-destination=stdout"];
  const argv = [`--import=${scripts}/without-test-hooks.ts`, ...reporter, join(scripts, "test", "lane.ts")];
  const child = spawn(process.execPath, [...argv, ...namePatterns], {
    ...{ cwd: root, env, stdio: ["ignore", "inherit", "inherit", "ipc"] },
  });
  /** Files whose tests were not told yet; the last one is at work. */
  const begun: { file: string; at: number }[] = [];
  const ran = { files: 0, failed: 0 };
  let last = "";
  let test = "";
  let isAtEnd = false;
  let silence: NodeJS.Timeout | undefined;

  const send = (message: ToLane) => child.connected && child.send(message);
  const listen = () => {
    clearTimeout(silence);
    silence = setTimeout(() => child.kill("SIGKILL"), silentMsMax);
  };
  const begin = () => {
    const next = waiting[0];
    isAtEnd ||= next === undefined || (next.isAlone && ran.files > 0);
    if (isAtEnd || next === undefined) return;
    waiting.shift();
    isAtEnd = next.isAlone;
    last = next.file;
    ran.files += 1;
    begun.push({ file: next.file, at: performance.now() });
    send({ file: next.file });
  };
  const take = (file: string, outcomes: readonly TestOutcome[]) => {
    const index = begun.findIndex((one) => one.file === file);
    const [{ at } = { at: performance.now() }] = begun.splice(index, 1);
    ran.failed += outcomes.filter(({ state }) => state === "failed").length;
    onFile({ file, ms: performance.now() - at, outcomes });
  };

  listen();
  child.on("message", (message: FromLane) => {
    listen();
    if (message.kind === "started") test = message.name;
    if (message.kind === "tested") take(message.file, message.outcomes);
    if (message.kind === "ready") {
      for (const left of message.left) console.log(`  ${last} leaves behind: ${left}`);
      begin();
    }
    if (isAtEnd && begun.length === 0) send({});
  });
  return new Promise((resolve, reject) => {
    child.on("error", reject);
    child.on("close", (code, signal) => {
      clearTimeout(silence);
      const ended = `the process of the tests ended with ${signal ?? code}`;
      const lost = begun.map(({ file }) => file);
      for (const file of lost)
        take(file, [failed(test || file, `${ended} while this ran; later tests of the file did not run`)]);
      if (code !== 0 && ran.failed === 0)
        onFile({ file: "a lane", ms: 0, outcomes: [failed("a lane ends without an error", `${ended}, see above`)] });
      resolve();
    });
  });
}

function failed(name: string, why: string): TestOutcome {
  return { name, state: "failed", ms: 0, why };
}
