import type { FileStat, Workspace } from "../workspace/workspace.ts";
import { type FileType, fileTypeOf, typeHeadBytes, typeOfName } from "./file-type.ts";

const documentTypes = new Set(["pdf", "document", "spreadsheet", "presentation", "ebook"]);

/** What can be found in files: documents by the index alone, texts also by a scan. */
export type FileTests = {
  /** The name tells, or where it does not, the first bytes. */
  isDocument(workspace: Workspace, file: FileStat): Promise<boolean>;
  isText(workspace: Workspace, file: FileStat): Promise<boolean>;
};

export function openFileTests(): FileTests {
  const known = new Map<string, Pick<FileType, "type" | "isText">>();

  /** By the first bytes, which are read once as long as a file stays as it is. */
  const look = async (workspace: Workspace, { path, bytes, modifiedAt }: FileStat) => {
    const key = `${workspace.name}/${path} ${bytes} ${modifiedAt}`;
    const before = known.get(key);
    if (before !== undefined) return before;
    const head = await workspace.read(path, { bytesMax: typeHeadBytes });
    const { type, isText } = head.ok ? fileTypeOf(path, head.value.bytes) : { type: "unknown", isText: false };
    if (known.size >= knownMax) known.clear();
    known.set(key, { type, isText });
    return { type, isText };
  };

  return {
    async isDocument(workspace, file) {
      if (file.type !== "file" || file.bytes === 0) return false;
      const named = typeOfName(file.path);
      return documentTypes.has(named === "unknown" ? (await look(workspace, file)).type : named);
    },
    async isText(workspace, file) {
      return file.type === "file" && file.bytes > 0 && (await look(workspace, file)).isText;
    },
  };
}

const knownMax = 10_000;
