import { parentPort, workerData } from "node:worker_threads";
import { parse } from "yaml";

/** What a thread says of a text of YAML: what it holds, or what the reader says. */
export type YamlNews = { readonly value: unknown } | { readonly said: string };

parentPort?.postMessage(read(String(workerData)));

function read(text: string): YamlNews {
  try {
    // As JSON, so that what comes out is plain: neither dates nor one object in two places.
    return { value: JSON.parse(JSON.stringify(parse(text, { schema: "core", maxAliasCount: 100 })) ?? "null") };
  } catch (error) {
    return { said: error instanceof Error ? (error.message.split("\n")[0] ?? "") : String(error) };
  }
}
