import { createHash } from "node:crypto";
import { z } from "zod";
import { ok } from "../../base/result.ts";
import { forModels } from "../../words/words.ts";
import type { FileChange } from "../../workspace/workspace.ts";
import { changedEvent, knownEvent, listedPath } from "../file-events.ts";
import { showPresent } from "../show-present.ts";
import { countLines } from "../take-lines.ts";
import { defineTool, type ToolContext, type ToolOutput } from "../tool.ts";

export const writeFile = defineTool({
  name: "write_file",
  description:
    "Write a whole file: a new one, or one of which you have seen all. Use it for new and short files; results for the user go to outputs/, scratch to temp/. Not for small changes in a longer file: use edit_file. Returns the size and whether the file is new; of a file that you have not seen, the present content, and nothing is written.",
  class: "idempotent",
  isBasic: true,
  input: z.object({
    path: z.string().describe("From the root of the workspace, such as outputs/report.md."),
    content: z.string().describe("All of the text."),
  }),
  otherNames: {
    ...{ file_path: "path", file: "path", filename: "path", file_name: "path" },
    ...{ contents: "content", text: "content", data: "content", body: "content" },
  },
  order: ({ path }) => listedPath(path),
  async run({ path, content }, context) {
    const { workspace, key, knownHash } = context;
    // Who has seen only a part of a file does not know what would be lost with the rest.
    const known = knownHash(listedPath(path), "whole") ?? null;
    const write = (expected: string | null) => workspace.write(path, content, { key, expected });
    let written = await write(known);
    if (!written.ok && written.failure.code === "conflict") {
      const present = await workspace.hash(path);
      if (present.ok && present.value === hashOf(content)) return ok(unchanged(context, path, content));
      const isGone = !present.ok && present.failure.code === "file_not_found";
      if (!isGone || known === null) return showPresent(context, path, "write_file");
      written = await write(null); // Somebody removed it since: there is nothing that could be lost.
    }
    return written.ok ? ok(report(context, content, written.value)) : written;
  },
});

function report(context: ToolContext, content: string, change: FileChange): ToolOutput {
  const { path, before, after, lost } = change;
  if (before !== undefined && before.hash === after?.hash) return unchanged(context, path, content);
  const outcome = before === undefined ? "new" : "replaced";
  const note = lost === undefined ? "" : `\n${forModels.files.lost(lost)}`;
  return { text: written(path, content, outcome) + note, events: [changedEvent(context, change)] };
}

function unchanged(context: ToolContext, path: string, content: string): ToolOutput {
  const known = { path: listedPath(path), hash: hashOf(content) };
  return { text: written(known.path, content, "unchanged"), events: [knownEvent(context, known)] };
}

function written(path: string, content: string, outcome: "new" | "replaced" | "unchanged"): string {
  return forModels.files.written(path, Buffer.byteLength(content), countLines(content), outcome);
}

function hashOf(content: string): string {
  return createHash("sha256").update(content).digest("hex");
}
