import { ok } from "../../base/result.ts";
import { failure } from "../../protocol/failure.ts";
import { shownPath } from "../../workspace/workspace.ts";
import type { Handlers, Parts } from "../handler.ts";
import { shownAs } from "../shown-as.ts";

type Names = "previewFile" | "viewFile" | "listFileHistory" | "restoreFile";

/** What is in files, and what was in them. */
export function fileViewHandlers({ engine, log, documents }: Parts): Pick<Handlers, Names> {
  return {
    async previewFile({ owner, params, query: { path, scripts }, header }) {
      const row = await log.find(owner, params.id);
      if (!row.ok) return row;
      const files = engine.files(row.value);
      const stat = await files.stat(path);
      if (!stat.ok) return stat;
      if (stat.value.type === "folder") return failure("not_a_file", { path: shownPath(stat.value.path) });
      const type = await documents.typeOf(files, path);
      if (!type.ok) return type;
      // In a frame of the app it cannot lead elsewhere; as a page of its own it could, and needs no scripts to be read.
      const runs = scripts && (header("sec-fetch-dest") ?? "iframe") === "iframe";
      const shown = shownAs(type.value.mime, { runs });
      return ok({ stat: type.value.stat, open: (range) => files.stream(path, range), shown });
    },
    async viewFile({ owner, params, query: { path, sheet, from, limit, plain } }) {
      const row = await log.find(owner, params.id);
      return row.ok ? documents.view(engine.files(row.value), path, { sheet, from, limit, plain }) : row;
    },
    async listFileHistory({ owner, params, query }) {
      const row = await log.find(owner, params.id);
      return row.ok ? ok({ items: await engine.fileHistory(row.value, query) }) : row;
    },
    async restoreFile({ owner, params, body }) {
      const row = await log.find(owner, params.id);
      if (!row.ok) return row;
      const restored = await engine.restoreFile(row.value, body);
      return restored.ok ? ok({ path: restored.value.path, bytes: restored.value.after?.bytes ?? 0 }) : restored;
    },
  };
}
