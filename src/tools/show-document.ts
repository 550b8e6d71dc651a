import { ok, type Result } from "../base/result.ts";
import type { Extracted, Format, Place } from "../documents/documents.ts";
import { type Failure, failure } from "../protocol/failure.ts";
import { forModels } from "../words/words.ts";
import type { FileStat } from "../workspace/workspace.ts";
import { headOf, outputBytes } from "./output.ts";
import type { Part } from "./show-file.ts";
import type { ToolOutput } from "./tool.ts";

/** What is shown of a document at once, in its own parts and in characters. */
const previews: Readonly<Partial<Record<Format, { readonly parts: number; readonly characters: number }>>> = {
  pdf: { parts: 10, characters: 30_000 },
  docx: { parts: 10, characters: 30_000 },
  xlsx: { parts: 3, characters: 20_000 },
  pptx: { parts: 15, characters: 25_000 },
  epub: { parts: 10, characters: 30_000 },
};
const anyPreview = { parts: 10, characters: 30_000 };
/** A document without pages of its own is counted in such. */
const pageCharacters = 3_000;
/** Room for the header, what is missing, and the line that says how to read on. */
const frameBytes = 1_500;

/** A preview: a header, the parts from `offset` on as far as there is room, and how to read on. */
export function showDocument(
  stat: FileStat,
  extracted: Extracted,
  { offset = 1, column = 1, limit, bytesMax }: Part,
): Result<ToolOutput, Failure> {
  const { documents, files } = forModels;
  const parts = partsOf(extracted);
  const kind = extracted.receipt.parts?.kind ?? "estimate";
  const unfit = (words: { what: string; form: string }) =>
    failure("tool_arguments_unfit", { tool: "read_file", ...words });
  const first = parts[offset - 1];
  if (offset > Math.max(1, parts.length)) return unfit(documents.pastEnd(stat.path, kind, offset, parts.length));
  if (column > Math.max(1, first?.length ?? 0))
    return unfit(files.pastLineEnd(stat.path, { offset, column }, first?.length ?? 0));
  const preview = previews[extracted.format] ?? anyPreview;
  const taken = takeParts(parts, {
    ...{ offset, column, partsMax: limit ?? preview.parts, charactersMax: preview.characters },
    bytesMax: Math.max(bytesMax - frameBytes - 3 * outputBytes(files.name(stat.path)), frameBytes),
  });
  const range = documents.range(kind, offset, offset + Math.max(taken.texts.length, 1) - 1, parts.length);
  const about = [range, extracted.format.toUpperCase(), files.size(stat.bytes)];
  if (column > 1) about.push(files.fromColumn(column));
  const header = files.header(stat.path, about.join(", "));
  const content = taken.texts.join("\n");
  const notes = documents.missing(extracted.receipt);
  const more = taken.next === undefined ? [] : [documents.more(stat.path, taken.next.part, taken.next.column)];
  const from = header.length + 1;
  const outside = content === "" ? [] : [{ source: stat.path, from, to: from + content.length }];
  return ok({
    text: [header, ...(content === "" ? [documents.nothing] : [content]), ...notes, ...more].join("\n"),
    outside,
  });
}

type Room = {
  readonly offset: number;
  readonly column: number;
  readonly partsMax: number;
  readonly charactersMax: number;
  readonly bytesMax: number;
};
type Taken = { readonly texts: readonly string[]; readonly next?: { readonly part: number; readonly column: number } };

/** Whole parts while there is room; one that does not fit at all is cut, and goes on at a character. */
function takeParts(parts: readonly string[], { offset, column, partsMax, charactersMax, bytesMax }: Room): Taken {
  const texts: string[] = [];
  let [characters, bytes] = [0, 0];
  for (let index = offset - 1; index < parts.length; index += 1) {
    const start = texts.length === 0 ? column - 1 : 0;
    const text = (parts[index] ?? "").slice(start);
    const isFit = characters + text.length <= charactersMax && bytes + outputBytes(text) <= bytesMax;
    if (texts.length >= partsMax || (texts.length > 0 && !isFit))
      return { texts, next: { part: index + 1, column: 1 } };
    if (!isFit) {
      const head = headOf(text, { bytesMax, unitsMax: charactersMax });
      return { texts: [head], next: { part: index + 1, column: start + head.length + 1 } };
    }
    texts.push(text);
    characters += text.length + 1;
    bytes += outputBytes(text) + 1;
  }
  return { texts };
}

/** The text of each part, from the first on; parts without a word are there too, so that numbers are those of the file. */
function partsOf({ blocks, receipt }: Extracted): readonly string[] {
  const { documents } = forModels;
  const parts: string[][] = [];
  const sheets = new Map<string, number>();
  let [characters, last] = [0, 1];
  for (const block of blocks) {
    const estimate = Math.floor(characters / pageCharacters) + 1;
    last = Math.max(numberOf(block.from, sheets) ?? (receipt.parts === undefined ? estimate : last), 1);
    const part = parts[last - 1] ?? [documents.part(block.from, last)];
    parts[last - 1] = part;
    part.push(documents.block(block));
    characters += block.text.length;
  }
  const count = Math.max(parts.length, receipt.parts?.count ?? 0);
  return Array.from({ length: count }, (_, index) => parts[index]?.join("\n") ?? documents.emptyPart(index + 1));
}

function numberOf({ page, slide, chapter, sheet }: Place, sheets: Map<string, number>): number | undefined {
  if (sheet !== undefined && !sheets.has(sheet)) sheets.set(sheet, sheets.size + 1);
  return page ?? slide ?? chapter ?? (sheet === undefined ? undefined : sheets.get(sheet));
}
