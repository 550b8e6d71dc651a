import type { UploadedFile } from "../protocol/resources.ts";
import { cellsOf, safeLine } from "./safe-text.ts";
import type { UploadParts } from "./upload.ts";

/** What takes a moment to read, and may be read in part only. */
const documentTypes = new Set(["pdf", "document", "spreadsheet", "presentation", "ebook"]);
/** Longer nobody is kept waiting: it goes on by itself. */
const looksMax = 10;
const noteCells = 300;

/** Says what became of a document that was uploaded: how far it is while it is read, then what it has and what is missing. */
export async function sayReceipt(
  conversation: string,
  { path, name, type }: UploadedFile,
  parts: UploadParts,
): Promise<void> {
  if (!documentTypes.has(type)) return;
  const { client, console, signal, style, words } = parts;
  const texts = words.receipts;
  for (let looks = 0; looks < looksMax && !signal.aborted; looks += 1) {
    const details = await client.call("describeFile", { params: { id: conversation }, query: { path, wait: 1 } });
    if (!details.ok) break;
    const { indexing, summary, notes, code } = details.value;
    if (indexing?.state === "waiting" || indexing?.state === "reading") {
      const line = (shown: string) => texts.indexing({ name: shown, done: indexing.done, of: indexing.of });
      console.status(style.dim(line(safeLine(name, Math.max(1, console.columns - 1 - cellsOf(line("")))))));
      continue;
    }
    console.status(undefined);
    if (summary !== "") console.note(style.dim(`  ${safeLine(summary, noteCells)}`));
    for (const note of notes)
      console.note((code === null ? style.attention : style.bad)(`  ! ${safeLine(note, noteCells)}`));
    return;
  }
  console.status(undefined);
  if (!signal.aborted) console.note(style.dim(`  ${texts.goesOn()}`));
}
