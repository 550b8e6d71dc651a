import { extname } from "node:path";
import type { FileChange, Workspace } from "../workspace/workspace.ts";
import type { Artifact } from "./sandbox.ts";

/** So many are told of one execution; a program that unpacks an archive makes thousands. */
export const artifactsMax = 500;

/** The files that an execution made or changed, as far as they are still there. */
export async function artifactsOf(
  workspace: Workspace | undefined,
  changes: readonly FileChange[],
): Promise<readonly Artifact[]> {
  if (workspace === undefined) return [];
  const artifacts: Artifact[] = [];
  // The first ones, readable or not: looking for others would take as long as there are files.
  const made = changes.flatMap(({ path, after }) => (after === undefined ? [] : [{ path, after }]));
  for (const { path, after } of made.slice(0, artifactsMax)) {
    const stat = await workspace.stat(path);
    if (!stat.ok) {
      // A refusal looks around for what may have been meant: others go on meanwhile.
      await nextTick();
      continue;
    }
    const { bytes, hash } = after;
    artifacts.push({ path, bytes, hash, type: typeOf(path), modifiedAt: stat.value.modifiedAt });
  }
  return artifacts;
}

function nextTick(): Promise<void> {
  return new Promise((resolve) => {
    setImmediate(resolve);
  });
}

/** By its ending: a hint for whoever shows it, not a promise about its content. */
function typeOf(path: string): string {
  return types[extname(path).slice(1).toLowerCase()] ?? "application/octet-stream";
}

const types: Readonly<Record<string, string>> = {
  txt: "text/plain",
  log: "text/plain",
  csv: "text/csv",
  tsv: "text/tab-separated-values",
  md: "text/markdown",
  html: "text/html",
  css: "text/css",
  py: "text/x-python",
  js: "text/javascript",
  sh: "text/x-shellscript",
  json: "application/json",
  xml: "application/xml",
  yaml: "application/yaml",
  pdf: "application/pdf",
  zip: "application/zip",
  gz: "application/gzip",
  parquet: "application/vnd.apache.parquet",
  xlsx: "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
  docx: "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
  pptx: "application/vnd.openxmlformats-officedocument.presentationml.presentation",
  png: "image/png",
  jpg: "image/jpeg",
  jpeg: "image/jpeg",
  gif: "image/gif",
  webp: "image/webp",
  svg: "image/svg+xml",
};
