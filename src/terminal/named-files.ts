import { limits } from "../protocol/route.ts";
import type { TerminalWords } from "../words/words.ts";
import { findFileMentions } from "./file-mentions.ts";
import { type FileHint, type FileProblem, findLocalFiles, type LocalFiles, type LocalPlace } from "./local-files.ts";
import { safeLine } from "./safe-text.ts";

/** The files that a text names, and those that were named beside it. */
export function findNamedFiles(text: string, paths: readonly string[], place: LocalPlace): Promise<LocalFiles> {
  const mentions = findFileMentions(text).map((mention) => ({ ...mention, label: `#${mention.path}` }));
  return findLocalFiles([...mentions, ...paths.map((path) => ({ path, isMeant: true, label: path }))], place);
}

/** Why nothing is sent, without a full stop. */
export function problemText(problem: FileProblem, { files: texts }: TerminalWords): string {
  const what = safeLine(problem.label, 120);
  switch (problem.kind) {
    case "missing":
      return texts.missing({ what, near: problem.near === undefined ? undefined : safeLine(problem.near, 80) });
    case "empty":
      return texts.empty({ what });
    case "too_many":
      return texts.tooMany({ what, limit: limits.messageFilesMax });
    case "too_wide":
      return texts.tooWide({ what, limit: problem.limit });
  }
}

/** What may have been meant by a `#` that stays text. */
export function hintText(hint: FileHint, { files: texts }: TerminalWords): string {
  const what = safeLine(hint.label, 120);
  return hint.kind === "folder" ? texts.folder({ what }) : texts.near({ what, near: safeLine(hint.near, 80) });
}
