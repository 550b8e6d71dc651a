/** What the terminal says of files: sent, saved, undone, put away. */
export const enTerminalFiles = {
  bytes: (p: { count: number }) => (p.count === 1 ? "1 byte" : `${p.count} bytes`),
  missing: (p: { what: string; near: string | undefined }) =>
    `${p.what}: there is no such file here or in uploads/${p.near === undefined ? "" : ` (did you mean ${p.near}?)`}`,
  empty: (p: { what: string }) =>
    `${p.what}: the folder has no files to send (hidden ones, links and node_modules are left out)`,
  tooMany: (p: { what: string; limit: number }) => `${p.what}: a message takes ${p.limit} files, these are more`,
  tooWide: (p: { what: string; limit: number }) =>
    `${p.what}: more than ${p.limit} names would have to be looked at; name a smaller folder`,
  nothingSent: () => "Nothing was sent.",
  notSent: () => "→ Nothing was sent. Correct the line; what stands in `backquotes` is plain text.",
  folder: (p: { what: string }) => `${p.what} is a folder; ${p.what}/ would send its files. It stays text.`,
  near: (p: { what: string; near: string }) => `${p.what} names no file (did you mean #${p.near}?). It stays text.`,
  uploading: (p: { name: string; percent: number; size: string }) => `↑ ${p.name}: ${p.percent} % of ${p.size}`,
  uploaded: (p: { name: string; path: string; type: string }) => `${p.name} → ${p.path} (${p.type})`,
  replaced: () => ", in place of the earlier one",
  beside: (p: { name: string }) => `; the earlier ${p.name} stays`,
  stay: (p: { paths: string }) =>
    `! Left there, in place of earlier files or because it could not be deleted: ${p.paths}. /files rm PATH deletes one.`,
  refused: (p: { name: string; why: string }) => `✗ ${p.name}: ${p.why}`,
  someSent: (p: { failed: number; total: number }) =>
    `! ${p.failed} of ${p.total} files could not be sent; the message goes without them.`,
  noneSent: () => "✗ No file could be sent, so the message was not sent either.",
  removed: (p: { at: string }) =>
    `The files of this conversation were moved to the trash at ${p.at}. /clean list shows it, /clean restore ID brings them back.`,
  undone: (p: { turn: number }) => `✓ Turn ${p.turn} is undone`,
  now: { as_before: "as before", removed: "deleted" },
  left: (p: { path: string; why: string }) => `${p.path} is left as it is: ${p.why}`,
  whyLeft: {
    changed_since: "it was changed since",
    not_kept: "what it was before was not kept; ask the agent to make it anew",
  },
  hadSaid: () => "You had said:",
  cleaned: (p: { count: number }) => `✓ Cleaned up ${p.count} old workspaces`,
  cleanedWhat: (p: { size: string; days: number }) =>
    `${p.size} moved to the trash: not used for ${p.days} days. /clean list shows what can be restored.`,
  cleanSkipped: (p: { count: number }) =>
    p.count === 1
      ? "1 could not be moved; the log file says why. When that is mended, /clean again."
      : `${p.count} could not be moved; the log file says why. When that is mended, /clean again.`,
  cleanHow: () => "✗ Use /clean, /clean list or /clean restore ID.",
  trashEmpty: () => "The trash is empty.",
  amount: (p: { files: number; size: string }) => `${p.files === 1 ? "1 file" : `${p.files} files`}, ${p.size}`,
  ofConversation: (p: { id: string }) => `conversation ${p.id}`,
  until: (p: { at: string }) => `until ${p.at}`,
  restoreHint: () => "/clean restore ID gives a conversation its files back.",
  restored: (p: { files: number; id: string }) =>
    `✓ Restored ${p.files === 1 ? "1 file" : `${p.files} files`} of conversation ${p.id}`,
  besides: (p: { folders: string }) => `There are files there already; the restored ones lie in: ${p.folders}`,
  atLeastMore: (p: { count: number }) => `and at least ${p.count} more`,
  noFiles: () => "No files here.",
  beginningMore: (p: { size: string; path: string }) =>
    `… ${p.size} in all; /save ${p.path} copies it to this machine.`,
  fileEmpty: (p: { path: string }) => `${p.path} is empty.`,
  fileNoText: (p: { path: string; size: string; type: string }) => `${p.path}: ${p.size}, no text (${p.type})`,
  noEnding: "unknown type",
  fileRemoved: (p: { path: string }) => `✓ Deleted: ${p.path} (/undo does not bring it back)`,
  saving: (p: { name: string; percent: number; size: string }) => `↓ ${p.name}: ${p.percent} % of ${p.size}`,
  saved: (p: { path: string; to: string; size: string }) => `✓ ${p.path} → ${p.to} (${p.size})`,
  savedMany: (p: { path: string; to: string; files: number; size: string }) =>
    `✓ ${p.path}/ → ${p.to}/ (${p.files === 1 ? "1 file" : `${p.files} files`}, ${p.size})`,
  saveHow: () =>
    '✗ Use /save PATH [TO], or /save -f PATH [TO] to replace what is there. A name with blanks: "two words.txt".',
  saveBusy: () => "✗ Another file is being saved; wait for it, or stop it with Esc.",
  saveStopped: () => "■ Stopped; what was not complete is not kept.",
  saveTooMany: (p: { path: string; limit: number }) =>
    `✗ ${p.path}/ has more than ${p.limit} files; save a smaller folder.`,
  existsHere: (p: { paths: string; more: number }) =>
    `✗ Already here, and nothing was saved: ${p.paths}${p.more > 0 ? ` and ${p.more} more` : ""}. /save -f replaces them.`,
  entry: { folder: "folder", skill: "skill", special: "cannot be used" },
};
