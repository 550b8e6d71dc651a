import { ok, type Result } from "../../base/result.ts";
import { type Failure, failure } from "../../protocol/failure.ts";
import type { Extracted } from "../extracted.ts";
import type { Outcome } from "./thread.ts";

export type ExtractFailure = Failure<
  | "document_locked"
  | "document_damaged"
  | "document_unknown"
  | "document_too_large"
  | "document_too_slow"
  | "document_too_costly"
  | "document_reader_crashed"
  | "document_stopped"
  | "not_a_file"
>;

/** What became of a file, for whoever asked for it. `seconds`: the time that it had. */
export function resultOf(outcome: Outcome, name: string, seconds: number): Result<Extracted, ExtractFailure> {
  switch (outcome.kind) {
    case "read":
      return ok(outcome.extracted);
    case "late":
      return failure("document_too_slow", { name, seconds });
    case "memory":
      return failure("document_too_costly", { name });
    case "stopped":
      return failure("document_stopped", { name });
    case "crashed":
      return failure("document_reader_crashed", { name });
    case "unread":
      return unread(outcome.why, name);
  }
}

function unread(found: Extract<Outcome, { kind: "unread" }>["why"], name: string): Result<Extracted, ExtractFailure> {
  switch (found.why) {
    case "password":
    case "rights":
      return failure("document_locked", { name, why: found.why });
    case "damaged":
      return failure("document_damaged", { name, type: found.type });
    case "unknown":
      return failure("document_unknown", { name, type: found.type });
    case "memory":
      return failure("document_too_costly", { name });
    case "no_file":
      return failure("not_a_file", { path: name });
    case "too_large":
      return failure("document_too_large", { name, sizeBytes: found.sizeBytes, limitBytes: found.limitBytes });
  }
}
