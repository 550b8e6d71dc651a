import assert from "node:assert/strict";
import { existsSync, globSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { parse } from "yaml";
import { cannotUseSkills, openSkillGuest, type SkillGuest, script, skillsFolder } from "../world/skill-guest.ts";

// What every skill that we ship has to have, whatever it is about.

const skip = { skip: cannotUseSkills };
let guest: SkillGuest;
before(async () => {
  if (cannotUseSkills === false) guest = await openSkillGuest();
});
after(() => guest?.close());

const ids = ["data-analysis", "pdf", "slides", "spreadsheets", "web-research"];
const skillText = (id: string) => readFileSync(join(skillsFolder, id, "SKILL.md"), "utf8");

test("the shipped skills keep to the public format and name every script and page that they have [K1]", () => {
  assert.deepEqual(readdirSync(skillsFolder).sort(), ids);
  for (const id of ids) {
    const text = skillText(id);
    const [, head = "", body = ""] = /^---\n([\s\S]*?)\n---\n([\s\S]*)$/.exec(text) ?? [];
    const { name, description, license, compatibility, ...more } = parse(head);
    assert.deepEqual([name, license, more], [id, "Apache-2.0", {}]);
    assert.ok(description.length >= 200 && description.length <= 1024, `${id}: ${description.length}`);
    assert.match(description, /Use it .*[\u4e00-\u9fff]{2}/, `${id}: when to use it, in both languages`);
    assert.ok(compatibility.length <= 500 && !/[<>]/.test(description));
    assert.ok(
      body.split("\n").length < 300 && /\n## Before you say done\n/.test(body) && /\n## Pitfalls\n/.test(body),
      id,
    );
    const folder = join(skillsFolder, id);
    const named = [...text.matchAll(/\b([a-z_]+)\.py\b/g)].map(([, one]) => `${one}.py`);
    const programs = readdirSync(join(folder, "scripts")).filter((one) =>
      readFileSync(join(folder, "scripts", one), "utf8").includes('__name__ == "__main__"'),
    );
    assert.deepEqual(
      programs.filter((one) => !named.includes(one)),
      [],
      `${id} does not name these`,
    );
    const unknown = named.filter((one) => globSync(`*/scripts/${one}`, { cwd: skillsFolder }).length === 0);
    assert.deepEqual(unknown, [], `${id} names what is not there`);
    const pages = [...text.matchAll(/\]\((references\/[^)]+)\)/g)].map(([, page = ""]) => page);
    assert.ok(pages.every((page) => existsSync(join(folder, page))));
    assert.deepEqual(
      globSync("references/**/*.md", { cwd: folder }).filter((page) => !pages.includes(page)),
      [],
    );
    const entries = globSync("**/*", { cwd: folder }).filter((one) => !one.includes("__pycache__"));
    assert.ok(
      entries.every((one) => one.split("/").length <= 2),
      "one level",
    );
  }
});

test(
  "every script of the shipped skills tells how it is used, and what their pages show runs as it stands [K1]",
  skip,
  async (t) => {
    const guest = await openSkillGuest();
    t.after(() => guest.close());
    const told = await guest.prints(
      `for one in $(grep -l __main__ skills/*/scripts/*.py); do echo "$one $(python3 $one --help | grep -c -e '^usage: ' -e --help)"; done`,
    );
    const lines = told.trimEnd().split("\n");
    assert.ok(lines.length >= 18, told);
    assert.deepEqual(
      lines.filter((line) => !/ [12]$/.test(line)),
      [],
    );
    guest.upload(
      "sales.csv",
      "date,region,product,amount\n2024-01-05,华东,apple,1200\n2024-02-03,华东,pear,800\n2024-03-09,North,apple,950.5\n2024-03-10,North,fig,20\n",
    );
    guest.upload(
      "report.md",
      "# Report\n\nThe revenue grew.\n\n<!-- page -->\n\n| a | b |\n| --- | --- |\n| 1 | 2 |\n| 3 | 4 |\n\n<!-- page -->\n\nThe end of it.\n",
    );
    guest.upload(
      "sales.json",
      JSON.stringify({
        sheets: [
          {
            name: "Sales",
            rows: [
              ["a", "b"],
              ["x", 1],
              ["y", 2],
              ["z", 3],
              ["sum", "=SUM(B2:B4)"],
            ],
          },
        ],
      }),
    );
    await guest.prints(
      [
        "set -e; rm -rf outputs/* temp/*; cp uploads/report.md temp/notes.md; printf '# A\\n\\n## B\\n- c\\n\\n## D\\n- e\\n' > temp/deck.md",
        `${script("pdf", "pdf_make")} uploads/report.md --out uploads/report.pdf`,
        `${script("spreadsheets", "xlsx_make")} uploads/sales.json --out uploads/plan.xlsx`,
        `${script("slides", "pptx_make")} temp/deck.md --out uploads/deck.pptx`,
      ].join("\n"),
    );
    for (const id of ids) {
      const texts = globSync("{SKILL.md,references/*.md}", { cwd: join(skillsFolder, id) })
        .sort()
        .map((page) => readFileSync(join(skillsFolder, id, page), "utf8"));
      const fences = texts.flatMap((text) => [...text.matchAll(/^```(\w+)\n([\s\S]*?)^```$/gm)]);
      assert.ok(fences.length >= 2 && fences.every(([, language = ""]) => ["sh", "python"].includes(language)), id);
      const shell = fences.flatMap(([, language, code]) => (language === "sh" ? [code] : []));
      const python = fences.flatMap(([, language, code = ""]) => (language === "python" ? [code] : []));
      await guest.prints(`set -e\n${shell.join("\n")}`);
      if (python.length > 0) {
        const ran = await guest.run(python.join("\n"), "python");
        assert.deepEqual([ran.end, ran.stderr], ["done 0", ""], id);
      }
    }
  },
);

test(
  "on a machine without the libraries every script says which is missing, and what needs none works [K1]",
  skip,
  async () => {
    // Python without its site packages has only what it brings along itself.
    const bare = (skill: string, name: string) => script(skill, name).replace("python3", "python3 -S");
    guest.upload("few.csv", "a,b\n1,2\n");
    guest.upload("few.md", "# A\n\n## B\n- c\n");
    await guest.prints(
      `${script("pdf", "pdf_make")} uploads/few.md --out uploads/few.pdf; ${script("spreadsheets", "xlsx_make")} uploads/few.csv --out uploads/few.xlsx`,
    );
    await guest.refuses([
      [
        `${bare("data-analysis", "profile_table")} uploads/few.csv`,
        /^3 error: pandas is not installed.*python3-pandas/,
      ],
      [
        `${bare("data-analysis", "chart")} uploads/few.csv --kind hist --y a --out outputs/a.png`,
        /^3 error: matplotlib .*python3-matplotlib/,
      ],
      [`${bare("pdf", "pdf_info")} uploads/few.pdf`, /^3 error: pypdf is not installed.*python3-pypdf/],
      [`${bare("pdf", "pdf_pages")} split uploads/few.pdf --out outputs`, /^3 error: pypdf is not installed/],
      [
        `${bare("pdf", "pdf_make")} uploads/few.md --out outputs/a.pdf`,
        /^3 error: reportlab is not installed.*python3-reportlab/,
      ],
      [
        `PATH=/nowhere /usr/bin/${bare("pdf", "pdf_look")} uploads/few.pdf`,
        /^3 error: pypdf is not installed|pdftoppm is not installed/,
      ],
      [
        `${bare("spreadsheets", "xlsx_read")} uploads/few.xlsx`,
        /^3 error: openpyxl is not installed.*python3-openpyxl/,
      ],
      [
        `${bare("spreadsheets", "xlsx_make")} uploads/few.csv --out outputs/a.xlsx`,
        /^3 error: openpyxl is not installed/,
      ],
      [`${bare("spreadsheets", "xlsx_check")} uploads/few.xlsx`, /^3 error: openpyxl is not installed/],
    ]);
    const works = await guest.prints(
      `${bare("pdf", "pdf_text")} uploads/few.pdf; ${bare("slides", "pptx_make")} uploads/few.md --out outputs/few.pptx; ${bare("slides", "pptx_check")} outputs/few.pptx; ${bare("web-research", "sources")} add --url https://example.org/x --file outputs/few.json`,
    );
    assert.match(
      works,
      /--- page 1 of 1\nA\n[\s\S]*few\.pptx \(2 slides\)[\s\S]*0 findings\n! no font or no Pillow[\s\S]*S1: /,
    );
  },
);
