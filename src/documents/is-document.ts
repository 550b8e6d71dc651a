import type { FileStat, Workspace } from "../workspace/workspace.ts";
import { fileTypeOf, typeHeadBytes, typeOfName } from "./file-type.ts";

const documentTypes = new Set(["pdf", "document", "spreadsheet", "presentation", "ebook"]);

export function isDocumentName(path: string): boolean {
  return documentTypes.has(typeOfName(path));
}

/** Whether a file is searched by the index: the name tells, or where it does not, the first bytes. */
export function openDocumentTest() {
  const known = new Map<string, boolean>();
  return async (workspace: Workspace, { path, type, bytes, modifiedAt }: FileStat): Promise<boolean> => {
    if (type !== "file" || bytes === 0) return false;
    const named = typeOfName(path);
    if (named !== "unknown") return documentTypes.has(named);
    const key = `${workspace.name}/${path} ${bytes} ${modifiedAt}`;
    const before = known.get(key);
    if (before !== undefined) return before;
    const head = await workspace.read(path, { bytesMax: typeHeadBytes });
    const is = head.ok && documentTypes.has(fileTypeOf(path, head.value.bytes).type);
    if (known.size >= knownMax) known.clear();
    known.set(key, is);
    return is;
  };
}

const knownMax = 10_000;
