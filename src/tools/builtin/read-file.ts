import { createHash } from "node:crypto";
import { z } from "zod";
import { ok, type Result } from "../../base/result.ts";
import { imageBytesMax, isImage, isWholeImage } from "../../documents/documents.ts";
import { type Failure, failure } from "../../protocol/failure.ts";
import { forModels } from "../../words/words.ts";
import type { FileStat } from "../../workspace/workspace.ts";
import { knownEvent, listedPath } from "../file-events.ts";
import { showDocument } from "../show-document.ts";
import { type OpenFile, openFile, type Part, showText } from "../show-file.ts";
import { defineTool, type ToolContext, type ToolOutput } from "../tool.ts";

export const readFile = defineTool({
  name: "read_file",
  description:
    "Read a file: its text, a document (pdf, docx, xlsx, pptx, epub), or an image (png, jpeg, gif, webp). Use it before you change a file; read several in one answer. Not for folders, nor for finding a place in a large file: use search_file. Returns a header and the exact text, of a document its first pages, sheets or slides; the last line says how to read on.",
  class: "pure",
  isBasic: true,
  isOutside: true,
  input: z.object({
    path: z.string().describe("From the root of the workspace, such as uploads/a.csv."),
    offset: z
      .int()
      .min(0)
      .optional()
      .describe("First line to read, of a document its first page, sheet or slide; from 1 on."),
    column: z.int().min(0).optional().describe("First character of that line, from 1 on; for very long lines."),
    limit: z.int().min(1).optional().describe("How many lines, pages, sheets or slides. Left out: as many as fit."),
  }),
  otherNames: {
    ...{ file_path: "path", file: "path", filename: "path", file_name: "path" },
    ...{ start: "offset", start_line: "offset", line: "offset", lines: "limit", max_lines: "limit", count: "limit" },
    ...{ col: "column", start_column: "column", character: "column" },
  },
  order: ({ path }) => listedPath(path),
  async run({ path, offset = 1, column = 1, limit }, context) {
    const opened = await openFile(context.workspace, path);
    if (!opened.ok) return opened;
    const file = opened.value;
    const { files } = forModels;
    if (file.kind === "unwritten")
      return ok({ text: `${files.header(file.path, files.empty)}\n${files.unwritten}`, outside: [] });
    const part = { offset: Math.max(1, offset), column: Math.max(1, column), limit };
    if (file.kind === "other" && documentTypes.has(file.type)) return readDocument(context, file.stat, part);
    if (file.kind === "other") return showImage(context, file);
    const shown = await showText(context.workspace, file, { ...part, bytesMax: context.outputBytesMax });
    if (!shown.ok) return shown;
    const { text, outside, total, firstLength } = shown.value;
    const { path: known } = file.stat;
    const unfit = (words: { what: string; form: string }) =>
      failure("tool_arguments_unfit", { tool: "read_file", ...words });
    if (part.offset > Math.max(1, total)) return unfit(files.pastEnd(known, part.offset, total));
    if (part.column > Math.max(1, firstLength)) return unfit(files.pastLineEnd(known, part, firstLength));
    return ok({ text, outside, events: [knownEvent(context, { ...shown.value, path: known })] });
  },
});

/** Old Office files are among them, so that they are told what to do about it. */
const documentTypes = new Set("pdf docx docm dotx xlsx xlsm xltx pptx pptm potx epub ole doc xls ppt".split(" "));

async function readDocument(
  { documents, workspace, signal, outputBytesMax }: ToolContext,
  stat: FileStat,
  part: Omit<Part, "bytesMax">,
): Promise<Result<ToolOutput, Failure>> {
  const found = await documents.extract(workspace, stat.path, { signal });
  return found.ok ? showDocument(stat, found.value, { ...part, bytesMax: outputBytesMax }) : found;
}

function showImage(
  context: ToolContext,
  { stat, bytes, type, mime }: Extract<OpenFile, { kind: "other" }>,
): Result<ToolOutput, Failure> {
  const { files } = forModels;
  const path = files.name(stat.path);
  if (isImage(mime) && stat.bytes > imageBytesMax)
    return failure("too_large", { path, sizeBytes: stat.bytes, limitBytes: imageBytesMax, setting: "" });
  if (!isImage(mime) || !isWholeImage(bytes, mime))
    return failure("unsupported_type", { path, type, allowed: files.readable, setting: "" });
  const hash = createHash("sha256").update(bytes).digest("hex");
  return ok({
    text: files.header(stat.path, `${files.image(mime)}, ${files.size(stat.bytes)}`),
    outside: [],
    images: [{ mime, base64: bytes.toString("base64") }],
    events: [knownEvent(context, { path: stat.path, hash })],
  });
}
