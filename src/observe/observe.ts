import { mkdirSync, openSync } from "node:fs";
import { rm } from "node:fs/promises";
import { join } from "node:path";
import type { Clock } from "../base/clock.ts";
import { systemCode } from "../base/fault.ts";
import { formatLine } from "./line.ts";
import { openLogFile } from "./log-file.ts";
import { removeOldLogs } from "./old-logs.ts";

export { type Metrics, noMetrics } from "./counted.ts";
export { openMetrics } from "./metrics.ts";
export { isRunning } from "./old-logs.ts";
export { openTracer } from "./open-tracer.ts";
export { redact } from "./redact.ts";
export { type TraceSettings, traceSecrets, traceSettingsFrom } from "./trace-settings.ts";
export { noTracer, placeFrom, type Span, type Tracer } from "./tracer.ts";
export { openWatch, type Watch } from "./watch.ts";

export const logLevels = ["off", "error", "warn", "info", "debug"] as const;
export type LogLevel = (typeof logLevels)[number];

/** Ids and numbers of a log line; an `error` may be anything that was thrown. */
type LogFields = {
  readonly [name: string]: unknown;
  readonly at?: never;
  readonly level?: never;
  readonly message?: never;
  readonly run?: never;
};
type Write = (message: string, fields?: LogFields) => void;

/** Takes structured lines; `{name}` in a message stands for the field of that name. Never throws, never waits. */
export interface Logger {
  /** The log file of this process; undefined when there is none. */
  readonly path: string | undefined;
  readonly error: Write;
  readonly warn: Write;
  readonly info: Write;
  readonly debug: Write;
  /** Resolves when every line so far is in the file. */
  flush(): Promise<void>;
  close(): Promise<void>;
}

export type LogOptions = {
  readonly dir: string;
  readonly level: LogLevel;
  readonly clock: Clock;
  readonly startId: string;
  readonly pid: number;
  /** Values that must never stand in a line, whatever field they come in. May grow: what is added counts from the next line on. */
  readonly secrets: readonly string[];
  /** Called once when lines can no longer be kept (no permission, full disk); the product goes on without a log. */
  readonly onOff: (why: string) => void;
};

/** Opens the log file of this process, `agentyard-YYYYMMDD-HHMMSS-<pid>.log` (UTC), and removes the oldest of its folder. */
export function openLogs({ dir, level, clock, startId, pid, secrets, onOff }: LogOptions): Logger {
  if (level === "off") return noLogs;
  const path = join(dir, logName(clock.now(), pid));
  let descriptor: number;
  try {
    mkdirSync(dir, { recursive: true, mode: 0o700 });
    descriptor = openSync(path, "a", 0o600);
  } catch (error) {
    onOff(reasonOf(error));
    return noLogs;
  }
  const file = openLogFile(descriptor, clock, (error) => onOff(reasonOf(error)));
  const cleaned = removeOldLogs(dir);
  let isEmpty = true;

  const writer = (lineLevel: LogLevel): Write =>
    logLevels.indexOf(lineLevel) > logLevels.indexOf(level)
      ? nothing
      : (message, fields = {}) => {
          const line = formatLine({ at: clock.now(), level: lineLevel, message, run: startId, fields }, secrets);
          isEmpty = false;
          file.add(line, { isUrgent: lineLevel === "error" });
        };

  return {
    path,
    error: writer("error"),
    warn: writer("warn"),
    info: writer("info"),
    debug: writer("debug"),
    flush: () => file.flush(),
    async close() {
      await cleaned;
      await file.close();
      // A client mostly has nothing to say, and fifty files of nothing would push out those that say something.
      if (isEmpty) await rm(path, { force: true }).catch(nothing);
    },
  };
}

const nothing = () => {};

/** Where there is no log file: a command that only looks. */
export const noLogs: Logger = {
  path: undefined,
  error: nothing,
  warn: nothing,
  info: nothing,
  debug: nothing,
  flush: () => Promise.resolve(),
  close: () => Promise.resolve(),
};

function logName(now: number, pid: number): string {
  const stamp = new Date(now).toISOString().slice(0, 19).replaceAll(/[-:]/g, "").replace("T", "-");
  return `agentyard-${stamp}-${pid}.log`;
}

function reasonOf(error: unknown): string {
  return systemCode(error) ?? String(error);
}
