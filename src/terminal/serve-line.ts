import { ok } from "../base/result.ts";
import { failure } from "../protocol/failure.ts";
import type { TerminalWords } from "../words/words.ts";
import type { Typed, UsageResult } from "./command-line.ts";

/** `agentyard serve`. What was not typed comes from the settings. */
export type ServeCommand = {
  readonly name: "serve";
  readonly host?: string;
  readonly port?: string;
  readonly basePath?: string;
  /** Open it in a browser, where there is one. */
  readonly opens?: true;
};

const portMax = 65_535;

export function readServe(typed: Typed, words: TerminalWords): UsageResult<ServeCommand> {
  const [host, port, basePath] = [typed.value("host"), typed.value("port"), typed.value("base-path")];
  if (port !== undefined && !(/^\d{1,5}$/.test(port) && Number(port) <= portMax)) {
    return usage(words.usage.numberUnfit({ name: "--port", value: port, from: 0, to: portMax }));
  }
  if (host?.trim() === "") return usage(words.usage.valueMissing({ name: "--host", value: "ADDRESS" }));
  return ok({
    name: "serve",
    ...(host !== undefined && { host }),
    ...(port !== undefined && { port }),
    ...(basePath !== undefined && { basePath }),
    ...(typed.has("open") && { opens: true as const }),
  });
}

function usage(what: string) {
  return failure("usage", { what, command: "serve" });
}
