import { close, writeFile } from "node:fs";
import { promisify } from "node:util";
import type { Clock } from "../base/clock.ts";

/** A file that takes lines without making anybody wait: they are gathered and written together. */
export interface LogFile {
  /** An urgent line does not wait for company: it may be the last words of this process. */
  add(line: string, options: { readonly isUrgent: boolean }): void;
  flush(): Promise<void>;
  close(): Promise<void>;
}

const delayMs = 100;
const pendingCharactersMax = 16_000_000;

/** `onOff` is called once when a write fails or the disk stands still; from then on every line is dropped. */
export function openLogFile(descriptor: number, clock: Clock, onOff: (error: unknown) => void): LogFile {
  let isOpen = true;
  let pending: string[] = [];
  let pendingCharacters = 0;
  let cancelTimer: (() => void) | undefined;
  let written = Promise.resolve();
  let closed: Promise<void> | undefined;

  const giveUp = (error: unknown) => {
    if (!isOpen) return;
    isOpen = false;
    pending = [];
    onOff(error);
  };

  const writePending = async (): Promise<void> => {
    if (!isOpen || pending.length === 0) return;
    const lines = pending.join("");
    pending = [];
    pendingCharacters = 0;
    await append(descriptor, lines).catch(giveUp);
  };

  const flush = (): Promise<void> => {
    cancelTimer?.();
    cancelTimer = undefined;
    written = written.then(writePending);
    return written;
  };

  return {
    add(line, { isUrgent }) {
      if (!isOpen) return;
      // A disk that stands still must not fill the memory.
      if (pendingCharacters > pendingCharactersMax) return giveUp("ETIMEDOUT");
      pending.push(line);
      pendingCharacters += line.length;
      if (isUrgent) void flush();
      else cancelTimer ??= clock.after(delayMs, () => void flush());
    },
    flush,
    close() {
      closed ??= flush().then(() => {
        isOpen = false;
        // What the disk says last changes nothing any more.
        return closeDescriptor(descriptor).catch(() => {});
      });
      return closed;
    },
  };
}

const append = promisify<number, string, void>(writeFile);
const closeDescriptor = promisify(close);
