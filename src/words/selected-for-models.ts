import { inQuotes } from "./names.ts";

/**
 * The message that stands directly before the user's own and names the files that were selected for it. Its bytes are
 * fixed: what is stored is the selection, and every request builds the same message from it.
 */
export function selectedMessage({ root, session, files }: Selected): string {
  const lines = files.map((path) => `- ${quoted(path.slice(path.lastIndexOf("/") + 1))} (${quoted(path)})\n`);
  return `【System auto-generated context - not user query】

Current workspace path: ${root}
Sandbox Session ID: ${session} (IMPORTANT: This ID MUST be passed as the 'session_id' parameter when calling code execution tools...)

Available files:
${lines.join("")}`;
}

type Selected = { readonly root: string; readonly session: string; readonly files: readonly string[] };

/** A name or path that could pass for something else stands in quotes, with escapes. */
function quoted(name: string): string {
  return isPlain.test(name) && !hasOddBlank.test(name) ? name : inQuotes(name);
}

const isPlain = /^[\p{L}\p{M}\p{N} ._\-()/]+$/u;
const hasOddBlank = /(?:^|[/ ]) | (?:$|[/ ])/;
