import { ok } from "../base/result.ts";
import { makeFailure } from "../protocol/failure.ts";
import type { FileStat, Workspace } from "../workspace/workspace.ts";
import type { Documents, TakenUp } from "./documents.ts";
import type { FileTests } from "./is-document.ts";
import type { Library } from "./library.ts";

/** Larger texts are written by programs, and change as long as these run: search_file scans them. */
const textBytesMax = 5 * 1024 * 1024;

/** What lies there is no work of anybody, or not for long. */
const leftOut = /^(?:temp|skills)\//;

type Parts = { readonly library: Library; readonly tests: FileTests };

/** The files of a workspace on their way into the index. */
export function openTakeUp({ library, tests }: Parts): Pick<Documents, "takeUp" | "isAsFound"> {
  return {
    async takeUp(workspace, { filesMax, signal }) {
      const walk = await workspace.walk(".", { signal });
      if (!walk.ok) return walk;
      const files: TakenUp["files"][number][] = [];
      for await (const file of walk.value) {
        const wanted = leftOut.test(file.path) ? undefined : await want(workspace, file);
        if (wanted === undefined) continue;
        if (files.length >= filesMax) return ok({ files, isAll: false });
        files.push({ path: file.path, ...wanted });
      }
      return ok({ files, isAll: true });
    },
    async isAsFound(workspace, path, hit) {
      const stat = await workspace.stat(path);
      if (!stat.ok || stat.value.type !== "file") return false;
      const wanted = library.want(workspace, stat.value, { isAwaited: true });
      await wanted.ended;
      return wanted.holds(hit);
    },
  };

  async function want(
    workspace: Workspace,
    file: FileStat,
  ): Promise<Pick<TakenUp["files"][number], "now" | "ended"> | undefined> {
    if (await tests.isDocument(workspace, file)) return library.want(workspace, file, { isAwaited: false });
    if (!(await tests.isText(workspace, file))) return undefined;
    return file.bytes <= textBytesMax ? library.want(workspace, file, { isAwaited: false }) : tooLarge(file);
  }
}

function tooLarge({ path, bytes }: FileStat) {
  const failure = makeFailure("document_too_large", { name: path, sizeBytes: bytes, limitBytes: textBytesMax });
  const now = () => ({ state: "failed", done: 0, of: 0, failure }) as const;
  return { now, ended: Promise.resolve() };
}
