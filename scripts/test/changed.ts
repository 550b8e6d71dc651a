// Which tests a change can reach: `npm run test:changed`.
import { execFileSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { join, posix } from "node:path";

/** A change to one of these can reach every test. */
const reachesAll =
  /^(?:src\/[^/]+\.ts|src\/(?:base|protocol)\/|bin\/|package(?:-lock)?\.json$|tsconfig\.json$|scripts\/(?:test|build|setup|temporary)|test\/world\/(?:yard|program|model-server|events|manual-clock)\.ts)/;

/**
 * Which tests below test/ belong to a part of the product, by words of their paths. They come in by the front door, so that
 * their imports say nothing. Unit tests are chosen by their imports.
 */
export const subjects: Readonly<Record<string, RegExp>> = {
  "src/approvals/": /approval|checker|decision|rules|demo-model/,
  "src/client/": /http-stream|http-follow|terminal-chat|web-chat|once/,
  "src/config/": /config|models-entered|set-up|doctor|first-steps/,
  "src/context/": /compaction|context|prefix|prompt|reminder|instructions|replay/,
  "src/documents/": /document|retrieval|search/,
  "src/extract/": /document|retrieval|views/,
  "src/homes/": /homes|replica|balanced|peer/,
  "src/http/": /http|chat|openai|serve|user|peer|upload|route|mcp-server|health|auth/,
  "src/log/": /log|crash|places|replay|branch|history|turn/,
  "src/lookup/": /operator|search-history|lookup/,
  "src/loop/": /turn|agent|task|delegat|budget|cancel|race|step|circle|memory|interrupt|told-to-end|tools/,
  "src/mcp-server/": /mcp-server/,
  "src/mcp/": /mcp/,
  "src/models/": /model|provider|wire|stream|demo/,
  "src/observe/": /metrics|trace|secrets|observe/,
  "src/operators/": /operator|custom-tools|tools-file/,
  "src/sandbox/": /sandbox|code|exec|attacks\/|container|programs/,
  "src/search/": /search|retrieval/,
  "src/skills/": /skill/,
  "src/storage/": /storage|sqlite|postgres|crashes\/crash|backup|restore|moved/,
  "src/terminal/": /terminal|processes|first-steps|command/,
  "src/tools/": /tool|long-results|file-tools|memory/,
  "src/users/": /user|auth|owner/,
  "src/web/": /web-tools|web-addresses|search|network/,
  "src/words/": /docs|terminal-commands|http-words|web-setup/,
  "src/workspace/": /workspace|undo|file|upload|archive/,
  "web/": /stories\/web-/,
  "skills/": /skill/,
  "docs/": /docs/,
  "deploy/": /docs|manifest/,
  "config/": /config|rules|docs/,
};

/** Of these test files those that the change since `since` can reach, with what is not committed yet. */
export function testsOfChange(root: string, files: readonly string[], since = "main"): string[] {
  return testsReachedBy(root, files, changedFiles(root, since));
}

function changedFiles(root: string, since: string): string[] {
  const git = (...args: string[]) =>
    execFileSync("git", args, { cwd: root, encoding: "utf8" }).split("\n").filter(Boolean);
  const [base = "HEAD"] = git("merge-base", "HEAD", since);
  return [...git("diff", "--name-only", base), ...git("ls-files", "--others", "--exclude-standard")];
}

export function testsReachedBy(root: string, files: readonly string[], changed: readonly string[]): string[] {
  if (changed.some((path) => reachesAll.test(path))) return [...files];
  const reached = new Set(changed);
  const patterns = Object.entries(subjects).flatMap(([folder, pattern]) =>
    changed.some((path) => path.startsWith(folder) && !/\.test\.tsx?$/.test(path)) ? [pattern] : [],
  );
  const imports = new ImportGraph(root);
  return files.filter((file) => {
    if (file.startsWith("test/") && patterns.some((pattern) => pattern.test(file))) return true;
    // Stories import the whole product: only what they share with other tests counts.
    return imports.reaches(file, reached, file.startsWith("src/") ? /^(?:src|test)\// : /^test\/(?!world\/yard)/);
  });
}

class ImportGraph {
  readonly #root: string;
  readonly #imports = new Map<string, string[]>();

  constructor(root: string) {
    this.#root = root;
  }

  reaches(from: string, targets: ReadonlySet<string>, within: RegExp): boolean {
    const seen = new Set<string>();
    const walk = (path: string): boolean => {
      if (targets.has(path)) return true;
      if (seen.has(path) || !within.test(path)) return false;
      seen.add(path);
      return this.#importsOf(path).some(walk);
    };
    return walk(from);
  }

  #importsOf(path: string): string[] {
    const known = this.#imports.get(path);
    if (known !== undefined) return known;
    const place = join(this.#root, path);
    const text = existsSync(place) ? readFileSync(place, "utf8") : "";
    const specifiers = text.matchAll(/(?:\bfrom|\bimport|\bURL)\s*\(?\s*"(\.[^"]+)"/g);
    const found = [...specifiers].map(([, specifier = ""]) => posix.join(posix.dirname(path), specifier));
    this.#imports.set(path, found);
    return found;
  }
}
