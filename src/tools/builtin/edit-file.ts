import { createHash } from "node:crypto";
import { z } from "zod";
import { ok, type Result } from "../../base/result.ts";
import type { NewEvent } from "../../protocol/events.ts";
import { type Failure, failure } from "../../protocol/failure.ts";
import { forModels } from "../../words/words.ts";
import { describeChange, describeNone, describeSeveral } from "../edit/describe.ts";
import { planEdit, type Wish } from "../edit/match.ts";
import { spliceBytes } from "../edit/splice.ts";
import { changedEvent, knownEvent, listedPath } from "../file-events.ts";
import { openFile, type TextFile } from "../show-file.ts";
import { showPresent } from "../show-present.ts";
import { defineTool, type ToolContext, type ToolOutput } from "../tool.ts";

const { files } = forModels;

export const editFile = defineTool({
  name: "edit_file",
  description:
    "Replace one piece of text in a file whose content you have seen. Use it for changes in longer files; several edits in one answer run in order. Copy old_string exactly as read_file shows it, with 2-3 lines around, so that it stands there once. Not for new or very short files: use write_file. Returns the changed lines, or the nearest ones and what differs.",
  class: "idempotent",
  isBasic: true,
  input: z.object({
    path: z.string().describe("From the root of the workspace."),
    old_string: z.string().min(1, files.oldIsEmpty).describe("The text that is there now."),
    new_string: z.string().describe("The text in its place; empty to remove it."),
    replace_all: z.boolean().optional().describe("True: everywhere in the file."),
  }),
  otherNames: {
    ...{ file_path: "path", file: "path", filename: "path", file_name: "path" },
    ...{ old_str: "old_string", old_text: "old_string", old: "old_string", search: "old_string", find: "old_string" },
    ...{ new_str: "new_string", new_text: "new_string", new: "new_string", replace: "new_string" },
    ...{ replacement: "new_string", all: "replace_all", replace_everywhere: "replace_all" },
  },
  order: ({ path }) => listedPath(path),
  async run({ path, old_string, new_string, replace_all = false }, context) {
    const wish: Wish = { old: old_string, new: new_string, isForAll: replace_all };
    if (wish.old === wish.new) return refused(files.same);
    const opened = await openWhole(context, path);
    if (!opened.ok) return opened;
    const file = opened.value;
    const { text } = file.words;
    const known = context.knownHash(file.stat.path);
    const hash = createHash("sha256").update(file.bytes).digest("hex");
    const done = known === hash ? undefined : await doneBefore(context, path);
    if (done !== undefined) return done;
    if (text === "")
      return refused(files.nothingThere(file.stat.path), knownEvent(context, { path: file.stat.path, hash }));
    if (known !== hash) return showPresent(context, path, "edit_file");

    const plan = planEdit(text, wish);
    if (plan.kind === "none") {
      const near = describeNone(file.stat.path, text, wish, context.outputBytesMax);
      return ok({ ...near, isRefusal: true });
    }
    if (plan.kind === "several") return refused(describeSeveral(file.stat.path, text, plan.starts));
    const { bytes, isConverted } = spliceBytes({ ...file.words, bytes: file.bytes }, plan.edits);
    if (bytes.equals(file.bytes)) return refused(files.same);
    if (isConverted && file.words.isGuess) return refused(files.unsure(file.stat.path, file.words.encoding));
    const written = await context.workspace.write(path, bytes, { key: context.key, expected: known });
    if (!written.ok) return written.failure.code === "conflict" ? showPresent(context, path, "edit_file") : written;
    const { lost } = written.value;
    const changed = describeChange(file.stat.path, text, plan.edits, context.outputBytesMax);
    const lines = [
      changed.text,
      ...(plan.likeness === "exact" ? [] : [files.likeness[plan.likeness]]),
      ...(isConverted ? [files.converted(file.words.encoding)] : []),
      ...(lost === undefined ? [] : [files.lost(lost)]),
    ];
    return ok({ ...changed, text: lines.join("\n"), events: [changedEvent(context, written.value)] });
  },
});

function refused(text: string, ...events: readonly NewEvent[]): Result<ToolOutput, Failure> {
  return ok({ text, isRefusal: true, events });
}

/** A text file with all of its bytes. */
async function openWhole({ workspace }: ToolContext, path: string): Promise<Result<TextFile, Failure>> {
  const opened = await openFile(workspace, path);
  if (!opened.ok) return opened;
  const file = opened.value;
  if (file.kind === "unwritten") return failure("file_not_found", { path: files.name(file.path), near: "" });
  const { stat, bytes } = file;
  const name = files.name(stat.path);
  const unsupported = (type: string) =>
    failure("unsupported_type", { path: name, type, allowed: files.editable, setting: "" });
  if (file.kind === "other") return unsupported(file.type);
  if (bytes.length < stat.bytes)
    return failure("too_large", { path: name, sizeBytes: stat.bytes, limitBytes: bytes.length, setting: "" });
  // What could not be decoded could not be written back either.
  return file.words.isExact ? ok(file) : unsupported(files.broken(file.words.encoding));
}

/** The change that an earlier attempt at this call made before a crash, if it made it. */
async function doneBefore(context: ToolContext, path: string): Promise<Result<ToolOutput, Failure> | undefined> {
  // No content has an empty hash: nothing is ever written here, only what was noted under the key is found.
  const done = await context.workspace.write(path, "", { key: context.key, expected: "" });
  if (!done.ok) return undefined;
  return ok({ text: files.editedBefore(done.value.path), events: [changedEvent(context, done.value)] });
}
