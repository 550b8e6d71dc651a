// Makes docs/requirements.md: each requirement of docs/spec-ids.json with the tests that name its id, as in
// `test("a conversation goes on after the process is killed [L2][Q2]", …)`; and docs/api/failures.md: each failure with
// the test that meets it. With --check it only compares.
import { existsSync, globSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { writeFailuresPage } from "./failures/page.ts";

interface NamedTest {
  file: string;
  name: string;
  ids: string[];
}

const root = join(import.meta.dirname, "..");
const TEST_NAME = /\btest(?:\.\w+)?\(\s*(["'`])((?:\\.|(?!\1)[^\\])+)\1,/gs;
const ID = /\[([A-Z]\d+)\]/g;

if (import.meta.main) {
  const sections = JSON.parse(readFileSync(join(root, "docs", "spec-ids.json"), "utf8"));
  const tests = globSync("{src,test}/**/*.test.ts", { cwd: root })
    .sort()
    .flatMap((file) => findTests(file, readFileSync(join(root, file), "utf8")));
  const pages = { "docs/requirements.md": writePage(sections, tests), "docs/api/failures.md": writeFailuresPage(root) };
  const isCheck = process.argv.includes("--check");
  const isCurrent = Object.entries(pages).map(([page, markdown]) => {
    if (!isCheck) writeFileSync(join(root, page), markdown);
    const isSame = existsSync(join(root, page)) && readFileSync(join(root, page), "utf8") === markdown;
    if (!isSame) console.error(`${page} is not up to date: run \`node scripts/requirements.ts\``);
    return isSame;
  });
  const untested = idsWithoutTest(sections, tests);
  if (untested.length > 0) console.error(`no test names ${untested.join(", ")}`);
  console.log(`${tests.length} test names with requirements`);
  process.exitCode = isCurrent.every(Boolean) && untested.length === 0 ? 0 : 1;
}

/** The tests of one file whose names hold ids of requirements. */
export function findTests(file: string, text: string): NamedTest[] {
  return [...text.matchAll(TEST_NAME)].flatMap(([, , fullName = ""]) => {
    const ids = [...fullName.matchAll(ID)].flatMap(([, id]) => id ?? []);
    return ids.length === 0
      ? []
      : [
          {
            file,
            name: fullName
              .replace(ID, "")
              .replace(/\$\{[^}]*\}/g, "…")
              .trim(),
            ids,
          },
        ];
  });
}

type Sections = Readonly<Record<string, Readonly<Record<string, string>>>>;

/** What nobody has shown yet, by id. */
export function idsWithoutTest(sections: Sections, tests: readonly NamedTest[]): string[] {
  const shown = new Set(tests.flatMap(({ ids }) => ids));
  return Object.values(sections).flatMap((section) => Object.keys(section).filter((id) => !shown.has(id)));
}

/** Throws at an id that no requirement has: a typing error would hide a test from its requirement. */
export function writePage(sections: Sections, tests: NamedTest[]): string {
  const known = new Set(Object.values(sections).flatMap((section) => Object.keys(section)));
  const stray = tests.find(({ ids }) => ids.some((id) => !known.has(id)));
  if (stray) throw new Error(`${stray.file}: no requirement has an id of "${stray.name}": ${stray.ids.join(", ")}`);
  const tables = Object.entries(sections).map(([title, section]) => {
    const rows = Object.entries(section).map(([id, sentence]) => {
      const naming = tests.filter(({ ids }) => ids.includes(id)).map(({ file, name }) => `${file} › ${name}`);
      return `| ${id} | ${cell(sentence)} | ${naming.map(cell).join("<br>") || "—"} |`;
    });
    return `## ${title}\n\n| id | requirement | tests |\n| --- | --- | --- |\n${rows.join("\n")}\n`;
  });
  return `# Requirements and their tests\n\nMade by \`node scripts/requirements.ts\` from the ids in test names; — means: not yet.\n\n${tables.join("\n")}`;
}

function cell(text: string): string {
  return text.replaceAll("|", "\\|").replaceAll("<", "&lt;");
}
