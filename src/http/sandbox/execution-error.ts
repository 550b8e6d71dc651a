import { unreachable } from "../../base/assert.ts";
import { missedNetwork } from "../../protocol/missed-network.ts";
import type { ExecutionRecord } from "../../sandbox/sandbox.ts";
import { failureWords, type Language, wordsFor } from "../../words/words.ts";
import { lastWords } from "./last-words.ts";

/** Why an execution came to no good end, in the caller's language: its own last words, else ours. */
export function executionError(record: ExecutionRecord, language: Language): string | null {
  const { status, report } = record;
  if (status === "pending" || status === "running" || status === "completed") return null;
  const isOwnEnd = report?.how === "done" && report.signal === undefined;
  const said = isOwnEnd ? lastWords(report.stderr.text, record.language) : undefined;
  const why = said ?? ourWords(record, language);
  const { sandbox } = wordsFor(language);
  if (report !== undefined && missedNetwork(report)) return `${why} ${sandbox.noNetwork}`;
  const missed = record.conversationId === undefined ? missedConversation(record) : undefined;
  return missed === undefined ? why : `${why} ${sandbox.noConversation({ id: missed })}`;
}

function ourWords({ status, report, failure, wasCutOff, timeoutMs }: ExecutionRecord, language: Language): string {
  const words = wordsFor(language);
  const { ends } = words.sandbox;
  if (failure !== undefined) return failureWords(words, failure).join(words.terminal.gap);
  if (wasCutOff) return ends.restarted;
  if (report === undefined) return status === "cancelled" ? ends.cancelled : ends.lost;
  const { how, exitCode, signal } = report;
  switch (how) {
    case "done":
      return exitCode === undefined ? ends.signalled(signal ?? "") : ends.failed(exitCode);
    case "timeout":
      return ends.timeout(timeoutMs / 1000);
    case "lost":
      return signal === undefined ? ends.lost : ends.signalled(signal);
    case "cancelled":
    case "killed":
    case "out_of_memory":
    case "disk_full":
      return ends[how];
    default:
      return unreachable(how);
  }
}

/** Without a conversation nothing is mounted below /workspace: whoever looks there has left out whose files are meant. */
function missedConversation({ code, report }: ExecutionRecord): string | undefined {
  const touched = /\/workspace\/([A-Za-z0-9][A-Za-z0-9._-]{0,63})(?:\/|\b)/;
  return (touched.exec(report?.stderr.text ?? "") ?? touched.exec(code))?.[1];
}
