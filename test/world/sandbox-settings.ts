import type { SandboxSettings } from "../../src/sandbox/sandbox.ts";

const mebibyte = 1024 * 1024;

/** Small enough that a test reaches them. */
export const testSettings: SandboxSettings = {
  limits: {
    memoryBytes: 400 * mebibyte,
    processesMax: 64,
    cpus: 1,
    fileBytesMax: 64 * mebibyte,
    tmpBytesMax: 32 * mebibyte,
    outputBytesMax: mebibyte,
  },
  uploads: { fileBytesMax: 1000, filesMax: 10, types: ["csv", "text"] },
  ttlMs: 7_200_000,
  guestsPerOwnerMax: 4,
  guestsMax: 8,
  executionsPerOwnerMax: 4,
  executionsMax: 8,
  waitingMax: 40,
  waitMsMax: 30_000,
  kernelIdleMs: 600_000,
  guestIdleMs: 900_000,
  executionTimeoutMsMax: 60_000,
  readyRetriesMax: 30,
  readyRetryMs: 500,
  recordsMs: 86_400_000,
  modules: [],
};
