import { isIPv4 } from "node:net";
import { bareHost } from "../base/host.ts";
import { ok } from "../base/result.ts";
import { failure } from "../protocol/failure.ts";
import { ConversationId } from "../protocol/ids.ts";
import { timeoutSecondsMax } from "../protocol/sandbox-routes.ts";
import type { TerminalWords } from "../words/words.ts";
import type { Typed, UsageResult } from "./command-line.ts";
import { safeLine } from "./safe-text.ts";

const programLanguages = ["python", "bash", "javascript"] as const;
export type ProgramLanguage = (typeof programLanguages)[number];

/** `agentyard exec`. Of `code` and `file` at most one is there; neither: standard input. */
export type ExecCommand = {
  readonly name: "exec";
  readonly code?: string;
  readonly file?: string;
  readonly programLanguage?: ProgramLanguage;
  readonly conversation?: string;
  readonly timeoutSeconds?: number;
  readonly json: boolean;
  /** A `-` stands in place of the code: also a terminal is read, up to Ctrl+D. */
  readonly isInputAwaited?: true;
};

/** `agentyard sandbox`. */
export type SandboxCommand = { readonly name: "sandbox"; readonly host: string; readonly port: number };

/** `agentyard sandbox-host`. */
export type SandboxHostCommand = { readonly name: "sandbox-host"; readonly host: string; readonly port: number };

const usualHost = "127.0.0.1";
const usualPort = 9_100;
const usualHostPort = 9_200;
const portMax = 65_535;
const idCellsShown = 80;

export function readExec(rest: readonly string[], typed: Typed, words: TerminalWords): UsageResult<ExecCommand> {
  const isInputAwaited = rest.length === 1 && rest[0] === "-";
  const code = isInputAwaited ? "" : rest.join(" ");
  const [file, ...files] = typed.values("file");
  const timeout = typed.value("timeout");
  const language = typed.value("language");
  const conversation = typed.value("conversation");
  const programLanguage = programLanguages.find((known) => known === language);
  const seconds = Number(timeout ?? 1);
  const { usage: says } = words;
  if (file !== undefined && rest.length > 0) return usage(says.notTogether({ one: "--file", other: rest[0] ?? "" }));
  if (files.length > 0) return usage(says.argumentUnwanted({ command: "exec", value: `--file ${files[0]}` }));
  if (language !== undefined && programLanguage === undefined) {
    return usage(says.valueUnfit({ name: "--language", value: language, known: programLanguages.join(", ") }));
  }
  if (!(seconds >= 1 && seconds <= timeoutSecondsMax)) {
    return usage(says.numberUnfit({ name: "--timeout", value: timeout ?? "", from: 1, to: timeoutSecondsMax }));
  }
  if (conversation?.trim() === "") return usage(says.idEmpty({ name: "--conversation" }));
  if (!ConversationId.optional().safeParse(conversation).success) {
    return usage(says.idUnfit({ name: "--conversation", value: safeLine(conversation ?? "", idCellsShown) }));
  }
  return ok({
    name: "exec",
    ...(code !== "" && { code }),
    ...(file !== undefined && { file }),
    ...(programLanguage !== undefined && { programLanguage }),
    ...(conversation !== undefined && { conversation }),
    ...(timeout !== undefined && { timeoutSeconds: seconds }),
    json: typed.has("json"),
    ...(isInputAwaited && { isInputAwaited }),
  });
}

export function readSandbox(typed: Typed, words: TerminalWords): UsageResult<SandboxCommand> {
  const host = typed.value("host") ?? usualHost;
  if (!isLoopback(host)) return usage(words.service.notLoopback({ host }));
  const port = readPort(typed, usualPort, words);
  return port.ok ? ok({ name: "sandbox", host, port: port.value }) : port;
}

/** Whoever calls has to show the secret, so it may listen anywhere. */
export function readSandboxHost(typed: Typed, words: TerminalWords): UsageResult<SandboxHostCommand> {
  const host = bareHost(typed.value("host") ?? usualHost);
  const port = readPort(typed, usualHostPort, words);
  return port.ok ? ok({ name: "sandbox-host", host, port: port.value }) : port;
}

function readPort(typed: Typed, usual: number, words: TerminalWords): UsageResult<number> {
  const port = typed.value("port") ?? String(usual);
  if (/^\d{1,5}$/.test(port) && Number(port) <= portMax) return ok(Number(port));
  return usage(words.usage.numberUnfit({ name: "--port", value: port, from: 0, to: portMax }));
}

/** Nobody but this machine can call it. */
function isLoopback(host: string): boolean {
  return host === "localhost" || host === "::1" || (isIPv4(host) && host.startsWith("127."));
}

function usage(what: string) {
  return failure("usage", { what });
}
