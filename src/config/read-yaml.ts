import { Worker } from "node:worker_threads";
import type { Clock } from "../base/clock.ts";
import { failed, ok, type Result } from "../base/result.ts";
import type { YamlNews } from "./yaml-worker.ts";

const heapMegabytesMax = 512;
const readMsMax = 60_000;
const saidCharactersMax = 200;

/**
 * YAML that others wrote, in a thread of its own: a large text takes seconds, and one that was made to take for ever is
 * ended. The failure is what the reader says of it.
 */
export function readYaml(text: string, clock: Clock): Promise<Result<unknown, string>> {
  return new Promise((resolve, reject) => {
    const worker = new Worker(new URL("./yaml-worker.ts", import.meta.url), {
      ...{ name: "yaml", env: {}, workerData: text },
      resourceLimits: { maxOldGenerationSizeMb: heapMegabytesMax },
    });
    const end = (result: Result<unknown, string>) => {
      cancel();
      resolve(result);
      void worker.terminate();
    };
    const cancel = clock.after(readMsMax, () => end(failed("it takes too long to read")));
    worker.once("message", (news: YamlNews) =>
      end("said" in news ? failed(news.said.slice(0, saidCharactersMax)) : ok(news.value)),
    );
    worker.once("error", (error: Error & { readonly code?: string }) => {
      if (error.code === "ERR_WORKER_OUT_OF_MEMORY") return end(failed("it takes too much memory to read"));
      cancel();
      return reject(error);
    });
  });
}
