import { inQuotes, shownName } from "./names.ts";

/** What models read about files: headers, results, refusals with what to do next. */
export const filesForModels = {
  name: shownName,
  header: (path: string, what: string) => `=== ${shownName(path)} (${what}) ===`,
  lines: (first: number, last: number, total: number) => `lines ${first}–${last} of ${total}`,
  fromColumn: (column: number) => `from character ${column} of the first`,
  size: shownSize,
  age: shownAge,
  empty: "empty, 0 bytes",
  broken: (encoding: string) => `${encoding} with broken characters`,
  windowsLines: "CRLF",
  unwritten: "[nothing was written to this workspace yet: every file in it is empty]",
  image: (mime: string) => `${mime}, shown with this result`,
  notText: (type: string) => `${type}: its content cannot be shown`,
  readable: "text, documents (pdf, docx, xlsx, pptx, epub), and images (png, jpeg, gif, webp)",
  editable: "text",
  more: (path: string, offset: number, column = 1) =>
    `[more: read_file ${shownName(path)} offset=${offset}${column === 1 ? "" : ` column=${column}`}]`,
  relative: (path: string) =>
    `Paths of file tools are relative: this one is ${shownName(path)}. Call read_file with {"path": ${inQuotes(path)}}, or the tool you need with that path.`,
  pastEnd: (path: string, offset: number, total: number) => ({
    what: `offset ${offset} is past the end of ${shownName(path)}, which has ${total} lines`,
    form: `{"path": ${inQuotes(path)}, "offset": ${Math.max(1, total)}}`,
  }),
  pastLineEnd: (path: string, { offset, column }: { offset: number; column: number }, characters: number) => ({
    what: `column ${column} is past the end of line ${offset} of ${shownName(path)}, which has ${characters} characters`,
    form: `{"path": ${inQuotes(path)}, "offset": ${offset}}`,
  }),

  written: (path: string, bytes: number, lines: number, outcome: "new" | "replaced" | "unchanged") =>
    `Success: File written to ${shownName(path)} (${bytes} bytes, ${lines} lines), ${outcomes[outcome]}`,
  lost: (why: keyof typeof losses) => `(undo cannot bring back what was there before: ${losses[why]})`,
  unseen: (path: string, tool: "write_file" | "edit_file", { isWhole } = { isWhole: true }) =>
    `Error: conflict: ${shownName(path)} has content that you have not seen, or it has changed since, so nothing was ${tool === "edit_file" ? "changed" : "written"}. ${
      tool === "edit_file"
        ? "This is what it has now. Call edit_file again with old_string copied from it."
        : isWhole
          ? "This is what it has now. Call write_file again if all of it is to be replaced, or edit_file to change a part."
          : "It is too long to be shown whole, and write_file replaces only what you have seen whole: call edit_file to change a part, or write_file with another path. It begins like this:"
    }`,

  edited: (path: string, count: number) =>
    `Success: ${count} ${count === 1 ? "replacement" : "replacements"} in ${shownName(path)}. The changed lines now:`,
  editedBefore: (path: string) => `Success: ${shownName(path)} already has this change: an earlier attempt made it.`,
  editedElsewhere: (places: number, path: string) => `[${places} more places: read_file ${shownName(path)}]`,
  likeness: {
    blanks: "(old_string was met but for line endings or blanks at line ends; the file keeps its own)",
    characters: "(old_string was met but for quotes, dashes, spaces or full-width characters; the file keeps its own)",
  },
  converted: (encoding: string) => `(the file was ${encoding}; it is UTF-8 now)`,
  unsure: (path: string, encoding: string) =>
    `Error: unsupported_type: ${shownName(path)} looks like ${encoding}, but has too few characters to be sure, so nothing was changed. If its text reads right, call write_file with this path and all of the text: then it is UTF-8.`,
  nothingThere: (path: string) =>
    `Error: text_not_found: ${shownName(path)} is empty, so there is nothing to replace. Call write_file with this path and all of the text.`,
  oldIsEmpty: "it is empty, but must hold the text that is replaced (write_file writes new files)",
  same: "Error: nothing_to_change: old_string and new_string mean the same text here, so nothing was changed. If the file is as it should be, go on; otherwise call edit_file with the changed text in new_string.",
  several: (path: string, count: string, lines: string) =>
    `Error: several_matches: old_string stands ${count} times in ${shownName(path)} (lines ${lines}), so nothing was changed. Call edit_file again with more lines around the place you mean, or with replace_all true to change all.`,
  notFound: (path: string) =>
    `Error: text_not_found: old_string does not stand in ${shownName(path)}, so nothing was changed.`,
  alreadyThere: (line: number) =>
    `new_string already stands there in line ${line}: the change may have been made before.`,
  nearest: "The nearest lines are:",
  nothingNear: (path: string) =>
    `Nothing in it is like old_string. Look at the file with read_file {"path": ${inQuotes(path)}} first.`,
  nothingNearInPart: (path: string) =>
    `Nothing like old_string was found in the part that was compared; the file is too long for all of it. Find the place with search_file {"path": ${inQuotes(path)}, "query": "..."} and read it first.`,
  differs: shownDifference,
  copyAgain: "Call edit_file again with old_string copied from these lines.",
  copyPart:
    "Long lines are cut at the dots. Call edit_file again with old_string copied from these lines, without the dots.",

  listed: {
    skill: (path: string) => `[SKILL] ${shownName(`${path}/`)}`,
    folder: (path: string) => `[DIR]  ${shownName(`${path}/`)}`,
    file: (path: string, bytes: number) => `[FILE] ${shownName(path)} (${bytes} bytes)`,
    special: (path: string) => `[OTHER] ${shownName(path)} (a link or device, cannot be used)`,
  },
  listEmpty: (path: string) => `(no files in ${shownName(path)})`,
  listUnwritten: "(no files: nothing was written to this workspace yet)",
  listMore: (count: number, path: string) =>
    `[${count} more: find_files {"pattern": "*.csv", "path": ${inQuotes(path)}} finds some of them by name]`,

  found: (path: string, size: string, age: string) => `${shownName(path)} (${size}, ${age})`,
  foundMore: (count: number) => `[${count} more: narrower pattern]`,
  deeper: (files: number) =>
    `(not looked at: ${files} ${files === 1 ? "file lies" : "files lie"} in more folders than a path can name; only programs reach ${files === 1 ? "it" : "them"})`,
  foundNone: (pattern: string, path: string) =>
    `No file matches ${inQuotes(pattern)} in ${path === "." ? "the workspace" : shownName(path)}.`,
  otherCase: (names: readonly string[]) => `Case counts; with another case: ${shownNames(names)}.`,
  nearNames: (names: readonly string[]) => `The nearest names: ${shownNames(names)}.`,
  lookAround: "list_files shows what is in a folder.",

  hit: (path: string, { line, column }: { line: number; column?: number | undefined }, text: string) =>
    `${shownName(path)}:${line}${column === undefined ? "" : ` column ${column}`}\n${text}`,
  passage: (path: string, where: string, headings: readonly string[], text: string) =>
    `${[`${shownName(path)} ${where}`.trimEnd(), ...headings.slice(-headingsMax).map(shownName)].join(" › ")}\n${text}`,
  hits: (shown: number, total: string, files: number, what: "lines" | "places") =>
    `${total} matching ${what} in ${files} searched files; shown: ${shown}`,
  hitsLeft: (count: number) => `(${count} found but not shown here, for want of room: use a smaller context_chars)`,
  noHits: (query: string, files: number) =>
    `No line matches ${inQuotes(query)} in ${files} searched files. Try fewer or other words; list_files shows which files are there.`,
  notReady: (names: readonly string[], count: number) =>
    `(not searched yet, still being indexed: ${listed(names, count)}; search again in a moment)`,
  unreadable: (names: readonly string[], count: number) => `(could not be searched: ${listed(names, count)})`,
  repaired: (said: string, meant: string) => `(no document has ${inQuotes(said)}: ${inQuotes(meant)} was looked for)`,
  missing: (words: readonly string[]) => `(no document has: ${words.map(inQuotes).join(", ")})`,
  skipped: (files: number) => `(${files} files were skipped: not text, or not readable)`,
  stopped: {
    time: "(the search was stopped because it took too long: name a file or a folder in path)",
    hits: "(the search was stopped because there are very many matches: use a longer query)",
    size: "(not all of the largest files was searched)",
  },
} as const;

/** The section and what it is in are enough to know where one is. */
const headingsMax = 2;

function listed(names: readonly string[], count: number): string {
  return `${names.join(", ")}${names.length < count ? `, and ${count - names.length} more` : ""}`;
}

const outcomes = {
  new: "new",
  replaced: "replaced",
  unchanged: "unchanged: it had this content already",
} as const;

const losses = {
  too_large: "it was too large to be kept",
  quota: "there was no room to keep it",
  unreadable: "it could not be read",
} as const;

function shownNames(names: readonly string[]): string {
  return names.map(shownName).join(", ");
}

const kilobyte = 1024;

/** `12 bytes`, `1.5 KB`, `20 MB`. */
function shownSize(bytes: number): string {
  if (bytes < kilobyte) return `${bytes} bytes`;
  const [size, unit] = bytes < kilobyte ** 2 ? [bytes / kilobyte, "KB"] : [bytes / kilobyte ** 2, "MB"];
  return `${size < 10 ? size.toFixed(1) : Math.round(size)} ${unit}`;
}

const minuteMs = 60_000;
const units: readonly (readonly [name: string, ms: number])[] = [
  ["day", 24 * 60 * minuteMs],
  ["hour", 60 * minuteMs],
  ["minute", minuteMs],
];

function shownAge(ms: number): string {
  for (const [name, unitMs] of units) {
    const count = Math.floor(ms / unitMs);
    if (count >= 1) return `${count} ${name}${count === 1 ? "" : "s"} ago`;
  }
  return "just now";
}

/** Why a text is not what was wanted. `column`: from there on, the file and the wanted text go different ways. */
export type Difference =
  | { readonly kind: "line_numbers" | "escapes" }
  | { readonly kind: "indentation" | "case"; readonly line: number }
  | {
      readonly kind: "characters";
      readonly line: number;
      readonly column: number;
      readonly there: string;
      readonly wanted: string;
    };

function shownDifference(difference: Difference): string {
  switch (difference.kind) {
    case "line_numbers":
      return "old_string has line numbers at the beginning of its lines; the file has none.";
    case "escapes":
      return "old_string has backslashes where the file has the characters themselves: write line breaks and quotes once, as JSON needs them.";
    case "indentation":
      return `Line ${difference.line} differs in its indentation: tabs, or another number of blanks.`;
    case "case":
      return `Line ${difference.line} differs in upper and lower case.`;
    case "characters":
      return `Line ${difference.line} differs from character ${difference.column} on: the file has ${inQuotes(difference.there)}, old_string has ${inQuotes(difference.wanted)}.`;
  }
}
