import { createHash } from "node:crypto";
import { z } from "zod";
import { ok, type Result } from "../../base/result.ts";
import { imageBytesMax, isImage, isWholeImage } from "../../documents/documents.ts";
import { type Failure, failure } from "../../protocol/failure.ts";
import { forModels } from "../../words/words.ts";
import { knownEvent, listedPath } from "../file-events.ts";
import { type OpenFile, openFile, showText } from "../show-file.ts";
import { defineTool, type ToolContext, type ToolOutput } from "../tool.ts";

export const readFile = defineTool({
  name: "read_file",
  description:
    "Read a file: its text, or an image (png, jpeg, gif, webp). Use it before you change a file; read several in one answer. Not for folders, nor for finding a place in a large file: use search_file. Returns a header and the exact text; a long one in parts, and the last line says how to read on.",
  class: "pure",
  isBasic: true,
  isOutside: true,
  input: z.object({
    path: z.string().describe("From the root of the workspace, such as uploads/a.csv."),
    offset: z.int().min(0).optional().describe("First line to read, from 1 on."),
    column: z.int().min(0).optional().describe("First character of that line, from 1 on; for very long lines."),
    limit: z.int().min(1).optional().describe("How many lines. Left out: as many as fit."),
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
    if (file.kind === "other") return showImage(context, file);
    const part = { offset: Math.max(1, offset), column: Math.max(1, column), limit };
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
