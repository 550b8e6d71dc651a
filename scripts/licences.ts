// Which licences may come into the house. The lock file names the packages of all platforms, also those not installed here.
import { readFileSync } from "node:fs";
import { join } from "node:path";

/** Each lets anyone use, change and pass on the code, and asks at most for its notice: no duty falls on our users. */
const ALLOWED = new Set([
  "MIT",
  "ISC", // MIT in fewer words.
  "BSD-2-Clause",
  "BSD-3-Clause", // As BSD-2-Clause; the name may not be used to advertise.
  "Apache-2.0", // Our own; with a patent grant.
  "0BSD", // Asks for nothing.
]);

const ALLOWED_FOR_DEVELOPMENT = new Set([
  ...ALLOWED,
  "MPL-2.0", // Copyleft per file: harmless in a tool we only run, a duty in what we pass on.
  "BlueOak-1.0.0", // As MIT, in plain words.
  "Zlib", // As MIT; changed copies must say so.
]);

/**
 * Packages of development that point to a file which they do not bring along. The repository of these servers is under
 * MIT, newer parts of it under Apache-2.0.
 */
const TOLD_ELSEWHERE: Readonly<Record<string, string>> = {
  "node_modules/@modelcontextprotocol/server-everything": "MIT AND Apache-2.0",
  "node_modules/@modelcontextprotocol/server-filesystem": "MIT AND Apache-2.0",
  "node_modules/@modelcontextprotocol/server-memory": "MIT AND Apache-2.0",
};

interface LockedPackage {
  license?: string;
  dev?: boolean;
}

const root = join(import.meta.dirname, "..");

if (import.meta.main) {
  const lock: { packages: Record<string, LockedPackage> } = JSON.parse(
    readFileSync(join(root, "package-lock.json"), "utf8"),
  );
  const { "": _ourselves, ...packages } = lock.packages;
  for (const [path, locked] of Object.entries(packages))
    locked.license = (locked.dev && TOLD_ELSEWHERE[path]) || (installedLicence(path) ?? locked.license ?? "");
  const problems = findForbiddenLicences(packages);
  for (const problem of problems) console.error(problem);
  console.log(`${Object.keys(packages).length} packages, ${problems.length} with a licence that is not on the list`);
  process.exitCode = problems.length === 0 ? 0 : 1;
}

export function findForbiddenLicences(packages: Record<string, LockedPackage>): string[] {
  return Object.entries(packages).flatMap(([path, { license = "", dev = false }]) =>
    isAllowed(license, dev ? ALLOWED_FOR_DEVELOPMENT : ALLOWED) ? [] : [`${path}: ${license || "names no licence"}`],
  );
}

/** An SPDX expression as packages write it: `A`, `(A OR B)`, `A AND B`. */
function isAllowed(expression: string, allowed: Set<string>): boolean {
  return expression
    .replace(/[()]/g, "")
    .split(" OR ")
    .some((choice) => choice.split(" AND ").every((licence) => allowed.has(licence.trim())));
}

function installedLicence(path: string): string | undefined {
  try {
    const { license } = JSON.parse(readFileSync(join(root, path, "package.json"), "utf8"));
    return typeof license === "string" ? license : undefined;
  } catch {
    return undefined; // Of another platform.
  }
}
