import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { systemIds } from "../../src/base/ids.ts";
import { openProvider } from "../contracts/sandbox-guests.ts";
import { outcomeOf } from "./bare-supervisor.ts";
import { cannotRunCode } from "./sandbox.ts";

/** The skills of the package. */
export const skillsFolder = join(import.meta.dirname, "..", "..", "skills");

/** How a script of a skill is started, from the root of the workspace. */
export const script = (skill: string, name: string) => `python3 skills/${skill}/scripts/${name}.py`;

/** Why the shipped skills cannot be tried here; false where they can. CI has all of it. */
export const cannotUseSkills =
  cannotRunCode ||
  (spawnSync("/usr/bin/python3", ["-c", "import pandas, matplotlib, openpyxl, pypdf, reportlab"]).status !== 0 &&
    "a library of the skills is not here") ||
  (spawnSync("/usr/bin/pdftotext", ["-v"]).status !== 0 && "poppler-utils is not here");

/** In `npm run torture`, every page and every refusal; otherwise some of each, for Python takes half a second to begin. */
export const triesAllOfSkills = process.env.AGENTYARD_SHIPPED_SKILLS === "all";

const mebibyte = 1024 * 1024;
/** What every sandbox has unless its operator says otherwise. */
const limits = {
  memoryBytes: 1024 * mebibyte,
  processesMax: 128,
  cpus: 1,
  fileBytesMax: 64 * mebibyte,
  tmpBytesMax: 64 * mebibyte,
  outputBytesMax: 16 * mebibyte,
};

/** A guest with the workspace of one conversation and all shipped skills, as programs of a model find them. */
export async function openSkillGuest() {
  const folder = mkdtempSync(join(tmpdir(), "agentyard-skills-"));
  chmodSync(folder, 0o755);
  for (const name of ["uploads", "outputs", "temp", "skills"]) {
    mkdirSync(join(folder, name));
    if (name !== "skills") chmodSync(join(folder, name), 0o777);
  }
  const provider = openProvider({ startTimeoutMs: 60_000 });
  const writable = ["uploads", "outputs", "temp"];
  const opened = await provider.open({
    id: systemIds.hex(16),
    workspace: { folder, inside: "/workspace/k1", writable, skills: skillsFolder },
    ...{ limits, uid: process.geteuid?.() === 0 ? 54_321 : undefined, env: {} },
  });
  assert.ok(opened.ok, opened.ok ? "" : `${opened.failure.why}: ${opened.failure.said}`);
  const guest = opened.value;
  const run = (code: string, language: "bash" | "python" = "bash") =>
    outcomeOf(guest.run({ id: systemIds.hex(32), language, code, agent: "a", timeoutMs: 240_000 }));
  return {
    /** What a command prints and says, and its exit code. */
    run,
    /** What it prints, without an error; lines that say so are named where it fails. */
    async prints(code: string): Promise<string> {
      const { stdout, stderr, end } = await run(code);
      assert.deepEqual([end, stderr], ["done 0", ""], `${code}\n${stdout}`);
      return stdout;
    },
    /** Each command refuses in such words, after its exit code. */
    async refuses(all: readonly (readonly [command: string, says: RegExp])[]): Promise<void> {
      const cases = triesAllOfSkills ? all : all.slice(0, 3);
      const told = cases.map(([one]) => `said=$(${one} 2>&1 >/dev/null); echo "$? \${said//$'\\n'/ }"`);
      const refused = (await run(told.join("\n"))).stdout.trimEnd().split("\n");
      assert.equal(refused.length, cases.length, refused.join("\n"));
      for (const [index, [, says]] of cases.entries()) assert.match(refused[index] ?? "", says);
    },
    upload: (name: string, content: string | Uint8Array) => writeFileSync(join(folder, "uploads", name), content),
    read: (path: string) => readFileSync(join(folder, path)),
    async close() {
      await guest.close("the test is over");
      await provider.close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

export type SkillGuest = Awaited<ReturnType<typeof openSkillGuest>>;
