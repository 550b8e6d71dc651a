import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import type { TestContext } from "node:test";
import { fileURLToPath } from "node:url";

export type Child = {
  readonly pid: number;
  /** The next line it prints; undefined when it has ended. */
  line(): Promise<string | undefined>;
  /** All further lines, after it has ended by itself. */
  rest(): Promise<string[]>;
  tell(): void;
  kill(): Promise<void>;
};

/** Starts `sqlite-child.ts` with a deed and a directory, under another program where one is named. */
export function startChild(t: TestContext, deed: string, directory: string, under: readonly string[] = []): Child {
  const [program = "", ...args] = [...under, process.execPath, childPath, deed, directory];
  const child = spawn(program, args, { stdio: ["pipe", "pipe", "inherit"] });
  const ended = once(child, "close");
  const iterator = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  const kill = async () => {
    child.kill("SIGKILL");
    await ended;
  };
  t.after(kill);
  const line = async () => {
    const next = await iterator.next();
    return next.done === true ? undefined : next.value;
  };
  return { pid: pidOf(child), line, rest: () => collect(line), tell: () => child.stdin.write("go\n"), kill };
}

const childPath = fileURLToPath(import.meta.resolve("./sqlite-child.ts"));

function pidOf(child: ChildProcess): number {
  if (child.pid === undefined) throw new Error("the child did not start");
  return child.pid;
}

async function collect(line: () => Promise<string | undefined>): Promise<string[]> {
  const lines: string[] = [];
  for (;;) {
    const next = await line();
    if (next === undefined) return lines;
    lines.push(next);
  }
}
