import { en } from "./en.ts";
import { zh } from "./zh.ts";

/** Every text that people read, in each language; the English file is the shape, so a missing key does not compile. */
export type Words = typeof en;
export type { ConfigWords, PatternFault, ValueForm } from "./en-config.ts";
export type { AwayFault, DatabaseFault } from "./en-database-failures.ts";
export type { FailureWords } from "./en-failures.ts";
export type { DiskFault } from "./en-file-failures.ts";
export type { McpFault } from "./en-mcp-failures.ts";
export type { ModelFault } from "./en-model-faults.ts";
export type { BackupFault, BrokenBackupFault, RestoreFault } from "./en-serve-failures.ts";
export type { SkillFault } from "./en-skills.ts";
export type { TerminalWords } from "./en-terminal.ts";
export type { ArchiveFault, FormFault } from "./en-upload-failures.ts";

export const languages = ["en", "zh"] as const;
export type Language = (typeof languages)[number];

const catalogue: Readonly<Record<Language, Words>> = { en, zh };

export function wordsFor(language: Language): Words {
  return catalogue[language];
}

/** `zh_CN.UTF-8`, `zh-Hans`, `Chinese` → zh; all else → en. */
export function languageOf(locale: string | undefined): Language {
  return /^(zh|chinese|cn)/i.test(locale ?? "") ? "zh" : "en";
}

/** A failure in words: what happened and what to do next. Codes and parameters may come from a log or from the wire. */
export function failureWords(
  words: Words,
  failure: { readonly code: string; readonly params: object },
): readonly [what: string, next: string] {
  const table: Readonly<Record<string, (params: never) => [string, string]>> = words.failures;
  const entry = Object.hasOwn(table, failure.code) ? table[failure.code] : undefined;
  // A newer version wrote it down.
  if (entry === undefined) return words.unknownFailure(failure);
  // The parameters were checked against this code where the failure was made.
  return entry(failure.params as never);
}

/** The same for whoever calls over HTTP, where no command can be typed and no file of the operator be changed. */
export function failureWordsOverHttp(
  words: Words,
  failure: { readonly code: string; readonly params: object },
): readonly [what: string, next: string] {
  const table: Readonly<Record<string, (params: never) => string>> = words.httpAdvice;
  const advice = Object.hasOwn(table, failure.code) ? table[failure.code] : undefined;
  const [what, next] = failureWords(words, failure);
  return [what, advice?.(failure.params as never) ?? next];
}

/** Why a call needs a decision: the operator's own words, or ours. It may come from a log or from the wire. */
export function findingWords(
  { approvals }: Words,
  { kind, what, said }: { readonly kind: string; readonly what: string; readonly said?: string | undefined },
): string {
  const table: Readonly<Record<string, (params: { what: string }) => string>> = approvals.found;
  return said ?? table[kind]?.({ what }) ?? `${kind}: ${what}`;
}

export { builtInAgents } from "./agents-for-models.ts";
export { attachedWords } from "./attached.ts";
export { callersForModels } from "./callers-for-models.ts";
export { chatForModels } from "./chat-for-models.ts";
export { withoutOurHeadings } from "./compact-for-models.ts";
export { blockBytes, cutText, type DataBlock, dataBlocksIn, withoutMarks, withoutOurTags } from "./data-for-models.ts";
export { lackTexts } from "./en-sandbox-failures.ts";
export type { Difference } from "./files-for-models.ts";
export { forModels, type PromptSection } from "./for-models.ts";
export { issueWords } from "./issue-words.ts";
export { shownName } from "./names.ts";
export { forOperators } from "./operators-for-models.ts";
export { selectedMessage } from "./selected-for-models.ts";
export { sizeText } from "./sizes.ts";
