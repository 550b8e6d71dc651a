import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { explainConfig, hasChanged } from "../../src/config/config.ts";
import { operatorFolder } from "../world/judging.ts";

const shipped = readFileSync(join(import.meta.dirname, "../../config/skills.yaml"), "utf8");
const off = { isEnabled: true, source: undefined };
const usual = {
  "data-analysis": { ...off, fileTypes: ["csv", "tsv", "parquet"] },
  pdf: { ...off, fileTypes: ["pdf"] },
  slides: { ...off, fileTypes: ["pptx"] },
  spreadsheets: { ...off, fileTypes: ["xlsx", "xlsm", "xls", "ods"] },
};

test("without any file the usual types link skills, and the file that comes with a clone states them [P5][K1]", async (t) => {
  const place = operatorFolder(t);
  assert.deepEqual((await place.load()).skills.byId, usual);
  place.write("config/skills.yaml", shipped);
  assert.deepEqual((await place.load()).skills.byId, usual);
  place.write("config/skills.yaml", shipped.replaceAll(/^# /gm, ""));
  const types = (byId: Readonly<Record<string, { readonly fileTypes: readonly string[] }>>) =>
    Object.fromEntries(Object.entries(byId).map(([id, { fileTypes }]) => [id, fileTypes]));
  assert.deepEqual(types((await place.load()).skills.byId), types(usual));
  place.write("config/skills.yaml", shipped.replaceAll(/^#:? /gm, ""));
  assert.deepEqual((await place.load()).skills.byId["our-reports"]?.fileTypes, ["docx"]);
});

test("the project's words on skills come over the user's, value by value, and a change is noticed [P5][K1]", async (t) => {
  const place = operatorFolder(t);
  place.write(
    "me/.config/agentyard/skills.yaml",
    "skills:\n  mine: { auto_load_on_file_types: [.DOCX] }\n  pdf: { enabled: false }\n",
  );
  place.write("config/skills.yaml", "skills:\n  mine:\n    enabled: no\n  slides: { auto_load_on_file_types: [] }\n");
  const config = await place.load();
  const { mine, pdf, slides } = config.skills.byId;
  assert.deepEqual(mine, { isEnabled: false, source: "config/skills.yaml:3", fileTypes: ["docx"] });
  assert.deepEqual([pdf?.isEnabled, pdf?.fileTypes], [false, ["pdf"]]);
  assert.deepEqual(slides?.fileTypes, []);
  const rows = explainConfig(config).filter(({ name }) => name.startsWith("skills."));
  assert.deepEqual(rows[0], { name: "skills.skills.mine.enabled", value: "false", source: "config/skills.yaml:3" });
  place.write("config/skills.yaml", "skills: {}\n");
  assert.equal(hasChanged(config), true);
});

const mistakes: readonly [what: string, yaml: string, mistake: string][] = [
  [
    "a misspelt key",
    "skills:\n  pdf:\n    enable: true",
    "3: there is no setting skills.pdf.enable. Write skills.pdf.enabled instead.",
  ],
  [
    "a name that is none",
    "skills:\n  My Skill: {}",
    "2: skills is My Skill. Write a name of letters, digits and . _ - such as pdf.",
  ],
  ["a word for yes", "skills:\n  pdf: { enabled: maybe }", "2: skills.pdf.enabled is maybe. Write true or false."],
  [
    "one type instead of a list",
    "skills:\n  pdf: { auto_load_on_file_types: pdf }",
    "2: skills.pdf.auto_load_on_file_types is not a list. Write one line for each below it: - pdf.",
  ],
];

test("a mistake in skills.yaml is an error with file, line and what to write [P5][K1]", async (t) => {
  for (const [what, yaml, mistake] of mistakes) {
    const place = operatorFolder(t);
    place.write("config/skills.yaml", yaml);
    assert.deepEqual(await place.mistakes(), [`config/skills.yaml:${mistake}`], what);
  }
});

test("skills are looked for in the folders of other programs, the nearest first, and only in folders that somebody chose [K1][P5]", async (t) => {
  const place = operatorFolder(t);
  const { places } = (await place.load()).skills;
  assert.deepEqual(
    places.map(({ shown, kind }) => `${kind} ${shown}`),
    [
      "project .agents/skills",
      "project .claude/skills",
      "user ~/.config/agentyard/skills",
      "user ~/.agents/skills",
      "user ~/.claude/skills",
      "built_in skills",
    ],
  );
  assert.ok(places.every(({ isTrusted }) => isTrusted));
  const elsewhere = operatorFolder(t, { isClone: false });
  const trusted = async (env?: Record<string, string>) =>
    (await elsewhere.load(env)).skills.places.map(({ kind, isTrusted }) => `${kind} ${isTrusted}`);
  const others = ["user true", "user true", "user true", "built_in true"];
  assert.deepEqual(await trusted(), ["project false", "project false", ...others]);
  assert.deepEqual(await trusted({ AGENTYARD_CONFIG: elsewhere.dir }), ["project true", "project true", ...others]);
});
