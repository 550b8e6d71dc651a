import { spawn } from "node:child_process";
import { once } from "node:events";
import {
  chmodSync,
  copyFileSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import type { TestContext } from "node:test";

const root = join(import.meta.dirname, "../..");
const nobody = 65_534;
/** What a test runs with, besides its own file. */
const parts = ["bin", "config", "deploy", "docs", "package.json", "scripts", "src", "test"];
const testPackages = ["fast-check", "@lydell/node-pty"];

export type Run = { readonly status: number | null; readonly output: string };

let shared: string | undefined;

/** Runs a command of this Node as a user without any rights, on a copy of the sources: they may lie where nobody else gets. */
export async function runAsNobody(t: TestContext, args: readonly string[], uid = nobody): Promise<Run> {
  shared ??= makeCopy();
  const copy = shared;
  const place = { HOME: join(copy, "home"), TMPDIR: join(copy, "t"), NODE_COMPILE_CACHE: join(copy, "compiled") };
  const env = { PATH: "/usr/bin:/bin", LANG: "C.UTF-8", ...place };
  const child = spawn(nodeIn(copy), args, { cwd: copy, uid, gid: uid, env, stdio: ["ignore", "pipe", "pipe"] });
  t.after(() => child.kill("SIGKILL"));
  let output = "";
  for (const stream of [child.stdout, child.stderr]) stream.setEncoding("utf8").on("data", (text) => (output += text));
  const [status] = await once(child, "close");
  return { status, output };
}

/** One for all tests of this process. A short name: the socket of a yard has no room for a long path. */
function makeCopy(): string {
  const copy = mkdtempSync(join(tmpdir(), "n-"));
  process.once("exit", () => rmSync(copy, { recursive: true, force: true }));
  chmodSync(copy, 0o755);
  copyTree(copy);
  return copy;
}

/** What our sources and tests import, below `copy`. */
function copyPackages(copy: string): void {
  const { dependencies } = manifestOf("package.json");
  for (const name of withTheirs([...Object.keys(dependencies ?? {}), ...testPackages])) {
    const path = join("node_modules", name);
    cpSync(join(root, path), join(copy, path), { recursive: true });
  }
}

function copyTree(copy: string): void {
  for (const part of parts) cpSync(join(root, part), join(copy, part), { recursive: true });
  copyPackages(copy);
  // The last thing that npm writes: the program looks for it.
  writeFileSync(join(copy, "node_modules", ".package-lock.json"), "{}");
  // Of Node a copy, too, for that user may have no access to ours.
  mkdirSync(dirname(nodeIn(copy)));
  copyFileSync(process.execPath, nodeIn(copy));
  chmodSync(nodeIn(copy), 0o755);
  // The last one is where the program keeps what it has compiled.
  for (const name of ["home", "t", "compiled", join("node_modules", ".cache")]) {
    mkdirSync(join(copy, name));
    chmodSync(join(copy, name), 0o1777);
  }
}

/** The packages and those that they need; what is optional only where it is here. */
function withTheirs(names: readonly string[]): Set<string> {
  const all = new Set(names);
  for (const name of all) {
    const { dependencies, optionalDependencies } = manifestOf(join("node_modules", name, "package.json"));
    const needed = Object.keys({ ...dependencies, ...optionalDependencies });
    for (const other of needed) if (existsSync(join(root, "node_modules", other))) all.add(other);
  }
  return all;
}

type Manifest = { dependencies?: Record<string, string>; optionalDependencies?: Record<string, string> };

function manifestOf(path: string): Manifest {
  return JSON.parse(readFileSync(join(root, path), "utf8"));
}

function nodeIn(copy: string): string {
  return join(copy, "node", "node");
}
