import assert from "node:assert/strict";
import { once } from "node:events";
import { parentPort, Worker, workerData } from "node:worker_threads";
import type { FileChange, Measured, WorkspaceInfo } from "../../src/workspace/workspace.ts";
import { unwrap } from "../contracts/storage-place.ts";
import { testWorkspace } from "./workspace.ts";

// Observes a workspace in a thread that ends where it needs more memory than it is given: that is how a server would end.

/** What a look at everything said; `longest` of all paths that anybody was handed. */
export type LookedInLittle = {
  readonly changes: readonly FileChange[];
  readonly measured: Omit<Measured, "freeBytes"> | undefined;
  readonly info: WorkspaceInfo;
  /** Entries of a walk through everything, and how many files these stand for. */
  readonly walked: { readonly folders: number; readonly files: number; readonly longest: number };
  readonly logged: readonly string[];
};

export type LittleMemory = { changes(): Promise<LookedInLittle>; close(): Promise<unknown> };

/** Far less than any server has: all paths of a deep tree would be thousands of megabytes. */
const heapMegabytes = 128;

/** Begins to observe; `base` is that of a `testWorkspace`. */
export async function observeInLittleMemory(base: string): Promise<LittleMemory> {
  const worker = new Worker(new URL(import.meta.url), {
    workerData: { observed: base },
    resourceLimits: { maxOldGenerationSizeMb: heapMegabytes },
    env: {},
  });
  await once(worker, "message");
  return {
    async changes() {
      worker.postMessage("look");
      const [looked]: LookedInLittle[] = await once(worker, "message");
      assert.ok(looked !== undefined);
      return looked;
    },
    close: () => worker.terminate(),
  };
}

if (parentPort !== null && typeof workerData?.observed === "string") {
  const { workspace, logged } = await testWorkspace({ after() {} }, { base: workerData.observed });
  const observation = unwrap(await workspace.observe());
  const look = async (): Promise<LookedInLittle> => {
    const changes = unwrap(await observation.changes());
    const { freeBytes: _, ...measured } = observation.measured() ?? assert.fail("it was measured");
    const info = unwrap(await workspace.info());
    const walked = { folders: 0, files: 0, longest: 0 };
    for await (const { path, type, standsFor = 1 } of unwrap(await workspace.walk(".", { hidden: true }))) {
      if (type === "folder") walked.folders += 1;
      else walked.files += standsFor;
      walked.longest = Math.max(walked.longest, path.length);
    }
    return { changes, measured, info, walked, logged };
  };
  parentPort.on("message", () => void look().then((looked) => parentPort?.postMessage(looked)));
  parentPort.postMessage("observing");
}
