import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { test } from "node:test";

const root = join(import.meta.dirname, "..", "..");

/** Everything that is loaded with a file: our own files, and the packages they name. */
function loadedWith(file: string): { files: Set<string>; packages: Set<string> } {
  const files = new Set<string>();
  const packages = new Set<string>();
  const visit = (path: string) => {
    if (files.has(path)) return;
    files.add(path);
    for (const [, isType, name = ""] of readFileSync(path, "utf8").matchAll(
      /^(?:import|export)\b(\s+type\b)?[^;"]*?from "([^"]+)"/gm,
    )) {
      if (isType !== undefined) continue;
      if (name.startsWith(".")) visit(join(dirname(path), name));
      else if (!name.startsWith("node:")) packages.add(name);
    }
  };
  visit(join(root, file));
  return { files: new Set([...files].map((path) => relative(root, path))), packages };
}

test("importing the loop pulls in no web, MCP or Docker code, no reader of documents, and no package but the schemas and the parser of commands", () => {
  const { files, packages } = loadedWith("src/loop/loop.ts");
  assert.ok(files.size > 30, `only ${files.size} files were read`);
  assert.deepEqual([...packages], ["zod", "unbash"]);
  const folders = new Set([...files].map((path) => path.split("/")[1]));
  for (const folder of ["http", "terminal", "config", "mcp", "sandbox"])
    assert.equal(folders.has(folder), false, folder);
  assert.deepEqual(
    [...files].filter((path) => /sqlite|openai|demo\//.test(path)),
    [],
    "nor any adapter",
  );
});
