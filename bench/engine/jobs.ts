/** Each measure runs in a fresh process of its own, so that no variant inherits another's heap or compiled code. */
import { fork } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { join } from "node:path";
import type { VariantName, World } from "./variant.ts";
import type { Work } from "./work.ts";

export type Job =
  | { kind: "work"; variant: VariantName; work: Work }
  | { kind: "appends"; conversations: number }
  | { kind: "reopening" };

/** The longest job, LangGraph's thousand steps, took about three minutes in the study. */
const jobTimeoutMs = 7 * 60_000;

/** Runs a job in a child process and returns what it measured; a job that fails or takes too long throws. */
export async function runJob<Figures>(job: Job, world: World): Promise<Figures> {
  const folder = mkdtempSync(join(world.folder, `${job.kind}-`));
  try {
    return JSON.parse(await messageOf([JSON.stringify(job), JSON.stringify({ ...world, folder })]));
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

export function nameOf(job: Job): string {
  switch (job.kind) {
    case "work":
      return `${job.variant}, ${job.work.conversations} × ${job.work.steps} steps`;
    case "appends":
      return `appends, ${job.conversations} at once`;
    case "reopening":
      return "reopening";
  }
}

function messageOf(args: string[]): Promise<string> {
  return new Promise((resolve, reject) => {
    const child = fork(join(import.meta.dirname, "run-job.ts"), args, {
      // The empty environment keeps keys, proxies and tracing switches of this machine out of every variant.
      env: {},
      stdio: ["ignore", "ignore", "pipe", "ipc"],
      timeout: jobTimeoutMs,
      killSignal: "SIGKILL",
    });
    let complaint = "";
    child.stderr?.on("data", (text) => {
      complaint = `${complaint}${text}`.slice(-4000);
    });
    child.on("message", (message) => {
      if (typeof message === "string") resolve(message);
    });
    child.on("error", reject);
    child.on("close", (code, signal) => reject(new Error(complaint || `it ended with ${signal ?? code}`)));
  });
}
