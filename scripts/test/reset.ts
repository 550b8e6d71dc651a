// What the test files of a lane share is the process. A file that leaves it changed would decide whether the next one passes:
// what it changed is put back, and told.
import { mock } from "node:test";

export interface LaneState {
  readonly env: Readonly<NodeJS.ProcessEnv>;
  readonly folder: string;
  readonly fetch: typeof fetch;
  readonly listeners: Readonly<Record<string, readonly unknown[]>>;
}

const watchedEvents = ["SIGINT", "SIGTERM", "SIGHUP", "uncaughtException", "unhandledRejection", "warning"] as const;

export function stateOfLane(): LaneState {
  return {
    env: { ...process.env },
    folder: process.cwd(),
    fetch: globalThis.fetch,
    listeners: Object.fromEntries(watchedEvents.map((event) => [event, process.listeners(event as "SIGINT")])),
  };
}

/** Puts back what a test file has changed, and answers what that was. */
export function resetLane({ env, folder, fetch, listeners }: LaneState): string[] {
  const left: string[] = [];
  for (const name of new Set([...Object.keys(env), ...Object.keys(process.env)])) {
    if (process.env[name] === env[name]) continue;
    left.push(`the environment variable ${name}`);
    if (env[name] === undefined) delete process.env[name];
    else process.env[name] = env[name];
  }
  if (process.cwd() !== folder) {
    left.push("the working directory");
    process.chdir(folder);
  }
  if (globalThis.fetch !== fetch) {
    left.push("the global fetch");
    globalThis.fetch = fetch;
  }
  for (const event of watchedEvents) {
    const name = event as "SIGINT";
    for (const listener of process.listeners(name))
      if (!listeners[event]?.includes(listener)) {
        left.push(`a listener of ${event}`);
        process.removeListener(name, listener as NodeJS.SignalsListener);
      }
  }
  mock.reset();
  return left;
}
