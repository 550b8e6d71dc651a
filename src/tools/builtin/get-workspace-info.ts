import { z } from "zod";
import { ok } from "../../base/result.ts";
import { defineTool } from "../tool.ts";

export const getWorkspaceInfo = defineTool({
  name: "get_workspace_info",
  description:
    "Count what is in the workspace. Use it to see how much there is before you go through it. Not for names of files: use list_files. Returns JSON with fileCount, dirCount, totalSize in bytes and lastModified.",
  class: "pure",
  isOnDemand: true,
  input: z.object({}),
  async run(_, { workspace }) {
    const info = await workspace.info();
    if (!info.ok) return info;
    const { fileCount, dirCount, totalSize, lastModified } = info.value;
    return ok({ text: JSON.stringify({ fileCount, dirCount, totalSize, lastModified }) });
  },
});
