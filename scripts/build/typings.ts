// The types of `agentyard/extend`. What it exports imports nothing else of the house, so there are three files of them.
import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";

export async function writeTypings(root: string, folder: string): Promise<void> {
  const emit = [
    "--declaration",
    "--emitDeclarationOnly",
    "--rootDir",
    "src",
    "--outDir",
    join(folder, "dist", "types"),
  ];
  const like = [
    "--ignoreConfig",
    "--incremental",
    "false",
    "--module",
    "nodenext",
    "--target",
    "es2025",
    "--types",
    "node",
    "--strict",
  ];
  const args = [...emit, ...like, "--rewriteRelativeImportExtensions", "--verbatimModuleSyntax", "src/extend.ts"];
  await promisify(execFile)(join(root, "node_modules", ".bin", "tsc"), args, { cwd: root });
}
