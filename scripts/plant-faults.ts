// `node scripts/plant-faults.ts faults.json`: which test would see it? Each fault is planted alone, in a copy of this tree with
// what is not committed yet, and the tests named beside it are run. Before that all of them are run without any, because a test
// that fails anyway sees nothing. The file: [{ "id", "file", "find": what stands once in it, "replace", "tests": [paths] }, …]
import { execFileSync, spawnSync } from "node:child_process";
import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { z } from "zod";
import type { Counted } from "./reporters/test-count.ts";
import { temporaryRoot } from "./temporary-root.ts";

const Fault = z.object({
  ...{ id: z.string(), file: z.string(), find: z.string().min(1), replace: z.string() },
  tests: z.array(z.string()).min(1),
});
type Fault = z.infer<typeof Fault>;

/** A fault may make a test wait for ever, or turn round without ever looking at its signals. */
const testMsMax = 60_000;
const faultMsMax = 300_000;

const root = join(import.meta.dirname, "..");
const { positionals } = parseArgs({ allowPositionals: true });
const [file, ...ids] = positionals;
if (file === undefined) throw new Error("Name the file of faults: node scripts/plant-faults.ts faults.json [id…]");
const faults = z
  .array(Fault)
  .parse(JSON.parse(readFileSync(file, "utf8")))
  .filter(({ id }) => ids.length === 0 || ids.includes(id));

const temporary = mkdtempSync(join(temporaryRoot(), "agentyard-faults-"));
chmodSync(temporary, 0o711); // A database server of a test runs as another user.
try {
  const copy = copyTree(join(temporary, "tree"));
  const failing = runTests(copy, [...new Set(faults.flatMap(({ tests }) => tests))]);
  if (failing.length > 0) throw new Error(`They fail without any fault: ${failing.join(" | ")}`);
  const survivors = faults.filter((fault) => !isSeen(copy, fault));
  console.log(`${faults.length - survivors.length} of ${faults.length} are seen.`);
  process.exitCode = survivors.length === 0 ? 0 : 1;
} finally {
  rmSync(temporary, { recursive: true, force: true });
}

/** As git sees it. Packages and the built browser app are those of this clone. */
function copyTree(copy: string): string {
  const listed = execFileSync("git", ["ls-files", "-z", "--cached", "--others", "--exclude-standard"], { cwd: root });
  for (const path of listed.toString().split("\0"))
    if (path !== "" && existsSync(join(root, path))) cpSync(join(root, path), join(copy, path));
  for (const name of ["node_modules", "dist-web"]) symlinkSync(join(root, name), join(copy, name));
  return copy;
}

function isSeen(copy: string, { id, file: path, find, replace, tests }: Fault): boolean {
  const place = join(copy, path);
  const text = readFileSync(place, "utf8");
  const [first = "", second, ...more] = text.split(find);
  if (second === undefined || more.length > 0) throw new Error(`${id}: "find" does not stand once in ${path}`);
  writeFileSync(place, first + replace + second);
  const failed = runTests(copy, tests);
  writeFileSync(place, text);
  console.log(failed.length === 0 ? `✗ ${id} ${path}: nobody sees it` : `✓ ${id} ${failed.slice(0, 3).join(" | ")}`);
  return failed.length > 0;
}

/** The names of those that fail. */
function runTests(copy: string, tests: readonly string[]): string[] {
  const home = join(temporary, "home");
  mkdirSync(home, { recursive: true, mode: 0o711 });
  const reporter = ["--test-reporter=./scripts/reporters/test-count.ts", "--test-reporter-destination=stdout"];
  const { stdout, signal } = spawnSync(
    process.execPath,
    ["--test", "--test-isolation=none", `--test-timeout=${testMsMax}`, ...reporter, ...tests],
    {
      ...({ cwd: copy, encoding: "utf8", timeout: faultMsMax, killSignal: "SIGKILL", maxBuffer: 2 ** 28 } as const),
      env: {
        PATH: process.env.PATH,
        HOME: home,
        TMPDIR: home,
        LANG: "C.UTF-8",
        NODE_COMPILE_CACHE: join(temporary, "compiled"),
      },
    },
  );
  const counted = /^\{"passed".*$/m.exec(stdout)?.[0];
  if (counted === undefined) return [signal === null ? "the process ended" : "it came to no end: look again, alone"];
  const { failures }: Counted = JSON.parse(counted);
  return failures.map(({ name }) => name);
}
