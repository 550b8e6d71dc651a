import { z } from "zod";
import { ok } from "../../base/result.ts";
import { forModels } from "../../words/words.ts";
import type { Entry } from "../../workspace/workspace.ts";
import { fitEntries } from "../fit-entries.ts";
import { defineTool } from "../tool.ts";

const entriesMax = 500;

export const listFiles = defineTool({
  name: "list_files",
  description:
    "List one folder: uploads/, outputs/, temp/, or skills/ with instructions to read. Use it to see what is there. Not for looking through all folders: use find_files. Returns a line per entry, with path and size; at most 500, hidden files left out.",
  class: "pure",
  isBasic: true,
  aliases: ["list_workspace_files"],
  input: z.object({ path: z.string().optional().describe("A folder such as uploads. Left out: the root.") }),
  otherNames: {
    ...{ directory: "path", dir: "path", folder: "path", directory_path: "path", dir_path: "path" },
    ...{ file_path: "path", folder_path: "path" },
  },
  async run({ path = "." }, { workspace, outputBytesMax }) {
    const { files } = forModels;
    const listing = await workspace.list(path);
    if (!listing.ok) return listing;
    const { entries, isUnwritten, path: listed } = listing.value;
    if (isUnwritten) return ok({ text: files.listUnwritten });
    if (entries.length === 0) return ok({ text: files.listEmpty(listed) });
    const lines = entries.map((entry) => lineOf(listed === "." ? "" : `${listed}/`, entry));
    const { shown, left } = fitEntries(lines, { countMax: entriesMax, bytesMax: outputBytesMax });
    return ok({ text: [...shown, ...(left > 0 ? [files.listMore(left, listed)] : [])].join("\n") });
  },
});

function lineOf(folder: string, { name, type, bytes }: Entry): string {
  return forModels.files.listed[type](folder + name, bytes);
}
