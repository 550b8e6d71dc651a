import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { chmodSync, copyFileSync, cpSync, globSync, mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { canReach } from "../../src/sandbox/local/sources.ts";
import { cannotStart } from "../contracts/sandbox-guests.ts";
import { copyPackages } from "../world/as-nobody.ts";

const root = join(import.meta.dirname, "../..");
const nobody = 65_534;
const suite = ["attacks", "contracts", "world"];

// Run by somebody else, every file of the suite is such a run by itself.
if (process.geteuid?.() === 0) {
  test("all attacks are stopped for an ordinary user too, or belong to a limit that the probe says is missing [X3][X4]", {
    skip: cannotStart,
  }, (t) => {
    const copy = mkdtempSync(join(tmpdir(), "agentyard-unprivileged-"));
    t.after(() => rmSync(copy, { recursive: true, force: true }));
    chmodSync(copy, 0o755);
    const files = copyTree(copy);
    const { stdout, status } = spawnSync(
      nodeFor(copy),
      ["--test", "--test-reporter=tap", "--test-concurrency=2", ...files],
      {
        ...{ cwd: copy, uid: nobody, gid: nobody, encoding: "utf8", timeout: 120_000, maxBuffer: 64 * 1024 * 1024 },
        // Its own temporary folder: nobody else's can be trusted, or be written by this user.
        env: { PATH: "/usr/bin:/bin", HOME: join(copy, "home"), TMPDIR: join(copy, "tmp"), LANG: "C.UTF-8" },
      },
    );
    const failed = stdout.split("\n").filter((line) => /^\s*not ok /.test(line));
    const stopped = stdout.split("\n").filter((line) => /^\s*ok \d+ - attacks? \d/.test(line)).length;
    assert.deepEqual([failed, status, stopped >= attacksMin], [[], 0, true], `${stopped} attacks were stopped`);
  });
}

/** A file that stops to run must not go unnoticed. */
const attacksMin = 110;

/** The sources may lie where that user has no access. */
function copyTree(copy: string): string[] {
  cpSync(join(root, "src"), join(copy, "src"), { recursive: true });
  for (const name of suite) cpSync(join(root, "test", name), join(copy, "test", name), { recursive: true });
  copyFileSync(join(root, "package.json"), join(copy, "package.json"));
  copyPackages(copy);
  for (const name of ["home", "tmp"]) {
    mkdirSync(join(copy, name));
    chmodSync(join(copy, name), 0o1777);
  }
  return globSync("test/attacks/*.test.ts", { cwd: copy }).filter((file) => !file.includes("unprivileged"));
}

function nodeFor(copy: string): string {
  if (canReach(process.execPath, nobody)) return process.execPath;
  const path = join(copy, "node");
  copyFileSync(process.execPath, path);
  chmodSync(path, 0o755);
  return path;
}
