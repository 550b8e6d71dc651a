import { cpSync, mkdirSync, mkdtempSync, writeFileSync } from "node:fs";
import { rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import type { TestContext } from "node:test";

const published = join(import.meta.dirname, "../data/skills");

/** A data directory whose user has skills: some of those that others published, or of one's own. */
export function skillFolder(t: TestContext, ...names: string[]) {
  const data = mkdtempSync(join(tmpdir(), "agentyard-skills-"));
  t.after(() => rm(data, { recursive: true, force: true }));
  const skills = join(data, ".agents/skills");
  for (const name of names) cpSync(join(published, name), join(skills, name), { recursive: true });
  return {
    data,
    /** Below the user's folder of skills. */
    write(path: string, text: string, mode = 0o644) {
      mkdirSync(dirname(join(skills, path)), { recursive: true });
      writeFileSync(join(skills, path), text, { mode });
    },
  };
}

export function skillText(name: string, description = "Does something.", body = "Do this."): string {
  return `---\nname: ${name}\ndescription: ${description}\n---\n${body}\n`;
}
