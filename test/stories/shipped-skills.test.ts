import assert from "node:assert/strict";
import { existsSync, globSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { parse } from "yaml";
import {
  cannotUseSkills,
  openSkillGuest,
  type SkillGuest,
  script,
  skillsFolder,
  triesAllOfSkills,
} from "../world/skill-guest.ts";

// The skills that we ship, and their scripts in the real sandbox, on files as people have them. One guest for all.

const skip = { skip: cannotUseSkills };
/** Only in `npm run torture`: Python takes half a second to begin, and its libraries longer. */
const longTest = (title: string, options: typeof skip, run: () => Promise<void>): void =>
  void (triesAllOfSkills && test(title, options, run));
let guest: SkillGuest;
before(async () => {
  if (cannotUseSkills === false) guest = await openSkillGuest();
});
after(() => guest?.close());
const scriptsOf = (skill: string) => (name: string) => script(skill, name);
const [tables, pdf, sheets] = [scriptsOf("data-analysis"), scriptsOf("pdf"), scriptsOf("spreadsheets")];
const [slides, web] = [scriptsOf("slides"), scriptsOf("web-research")];
/** Of each list the first in `npm test`. */
const refuses: SkillGuest["refuses"] = (all) => guest.refuses(triesAllOfSkills ? all : all.slice(0, 1));

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
    assert.deepEqual([globSync("references/**/*.md", { cwd: folder }).filter((page) => !pages.includes(page))], [[]]);
    const entries = globSync("**/*", { cwd: folder }).filter((one) => !one.includes("__pycache__"));
    assert.ok(
      entries.every((one) => one.split("/").length <= 2),
      "one level",
    );
  }
});

test("every script of the skills tells its use, and what their pages show runs as it stands [K1]", skip, async () => {
  const told = await guest.prints(
    `for one in $(grep -l __main__ skills/${triesAllOfSkills ? "*" : "slides"}/scripts/*.py); do echo "$one $(python3 $one --help | grep -c -e '^usage: ' -e --help)"; done`,
  );
  const lines = told.trimEnd().split("\n");
  assert.ok(lines.length >= (triesAllOfSkills ? 18 : 2), told);
  assert.deepEqual([lines.filter((line) => !/ [12]$/.test(line))], [[]]);
  guest.upload(
    "sales.csv",
    "date,region,product,amount\n2024-01-05,华东,apple,1200\n2024-02-03,华东,pear,800\n2024-03-09,North,apple,950.5\n2024-03-10,North,fig,20\n",
  );
  guest.upload(
    "report.md",
    "# Report\n\nThe revenue grew.\n\n<!-- page -->\n\n| a | b |\n| --- | --- |\n| 1 | 2 |\n| 3 | 4 |\n\n<!-- page -->\n\nThe end of it.\n",
  );
  const rows = '[["a","b"],["x",1],["y",2],["z",3],["sum","=SUM(B2:B4)"]]';
  guest.upload("sales.json", `{"sheets":[{"name":"Sales","rows":${rows}}]}`);
  await guest.prints(
    [
      "set -e; rm -rf outputs/* temp/*; cp uploads/report.md temp/notes.md; printf '# A\\n\\n## B\\n- c\\n\\n## D\\n- e\\n' > temp/deck.md",
      `${pdf("pdf_make")} uploads/report.md --out uploads/report.pdf`,
      `${sheets("xlsx_make")} uploads/sales.json --out uploads/plan.xlsx`,
      `${slides("pptx_make")} temp/deck.md --out uploads/deck.pptx`,
    ].join("\n"),
  );
  for (const id of triesAllOfSkills ? ids : ["slides", "web-research"]) {
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
});

longTest("without its libraries every script says which is missing, and what needs none works [K1]", skip, async () => {
  // Python without its site packages has only what it brings along itself.
  const bare = (of: typeof pdf, name: string) => of(name).replace("python3", "python3 -S");
  guest.upload("few.csv", "a,b\n1,2\n");
  guest.upload("few.md", "# A\n\n## B\n- c\n");
  await guest.prints(
    `${pdf("pdf_make")} uploads/few.md --out uploads/few.pdf; ${sheets("xlsx_make")} uploads/few.csv --out uploads/few.xlsx`,
  );
  await refuses([
    [`${bare(tables, "profile_table")} uploads/few.csv`, /^3 error: pandas is not installed.*python3-pandas/],
    [
      `${bare(tables, "chart")} uploads/few.csv --kind hist --y a --out outputs/a.png`,
      /^3 error: matplotlib .*python3-matplotlib/,
    ],
    [`${bare(pdf, "pdf_info")} uploads/few.pdf`, /^3 error: pypdf is not installed.*python3-pypdf/],
    [
      `${bare(pdf, "pdf_make")} uploads/few.md --out outputs/a.pdf`,
      /^3 error: reportlab is not installed.*python3-reportlab/,
    ],
    [
      `PATH=/nowhere /usr/bin/${bare(pdf, "pdf_look")} uploads/few.pdf`,
      /^3 error: pypdf is not installed|pdftoppm is not installed/,
    ],
    [`${bare(sheets, "xlsx_read")} uploads/few.xlsx`, /^3 error: openpyxl is not installed.*python3-openpyxl/],
    [`${bare(sheets, "xlsx_make")} uploads/few.csv --out outputs/a.xlsx`, /^3 error: openpyxl is not installed/],
  ]);
  const works = await guest.prints(
    `${bare(pdf, "pdf_text")} uploads/few.pdf; ${bare(slides, "pptx_make")} uploads/few.md --out outputs/few.pptx; ${bare(slides, "pptx_check")} outputs/few.pptx; ${bare(web, "sources")} add --url https://example.org/x --file outputs/few.json`,
  );
  assert.match(
    works,
    /--- page 1 of 1\nA\n[\s\S]*few\.pptx \(2 slides\)[\s\S]*0 findings\n! no font or no Pillow[\s\S]*S1: /,
  );
});

test("a table in GBK with a title, a total and units is read as it is meant, and drawn [K1][X6]", skip, async () => {
  const text =
    '2024年销售报表,,,,\n地区,日期,产品,销售额,编号\n华东,2024-01-05,苹果,"1,200",00123\n华东,2024年2月3日,香蕉,800,00124\n' +
    "华北,2024/03/09,苹果,¥950.5,00125\n 华北 ,2024-03-11,苹果,,00127\n华北,2024-03-11,苹果,3.5万,00128\n合计,,,37950.5,\n";
  await guest.prints(
    `cat > uploads/utf8.csv <<'CSV'\n${text}CSV\niconv -f UTF-8 -t GB18030 uploads/utf8.csv > uploads/销售.csv`,
  );
  const told = await guest.prints(`${tables("profile_table")} uploads/销售.csv --json`);
  const { encoding, rows, warnings, columns_found } = JSON.parse(told);
  assert.deepEqual([encoding, rows, warnings.length], ["gb18030", 6, 2]);
  const columns = Object.fromEntries(columns_found.map((one: { name: string }) => [one.name, one]));
  const kinds = Object.values<{ kind: string }>(columns).map(({ kind }) => kind);
  assert.deepEqual(kinds, ["text", "date", "text", "number", "id"]);
  const { missing, min, max, sum } = columns.销售额;
  assert.deepEqual({ missing, min, max, sum }, { missing: 1, min: 800, max: 35000, sum: 37950.5 });
  assert.deepEqual(columns.地区.top, { 华北: 3, 华东: 2 });

  const grouped = await guest.prints(
    `${tables("group")} uploads/销售.csv --by 地区 --value 销售额 --sort value --out outputs/组.csv`,
  );
  assert.match(grouped, /\| 华北 \| 35,950\.5 \|\n\| 华东 \| 2,000 \|/);
  assert.equal(`${guest.read("outputs/组.csv")}`, "\uFEFF地区,sum of 销售额\n华北,35950.5\n华东,2000.0\n");
  const drawn = await guest.run(
    `${tables("chart")} uploads/销售.csv --kind line --x 日期 --y 销售额 --series 地区 --title 销售额（元） --out outputs/图.png`,
  );
  // Where a character had no glyph, matplotlib would say so here.
  assert.deepEqual([drawn.end, drawn.stderr], ["done 0", ""]);
  assert.equal(guest.read("outputs/图.png").subarray(1, 4).toString(), "PNG");
});

longTest("odd tables are read with a warning, and what is no table is refused with advice [K1]", skip, async () => {
  const [profile, group] = [tables("profile_table"), tables("group")];
  guest.upload("ragged.csv", "\uFEFFa;b;c\r\n1;2;3\r\n4;5\r\n6;7;8;9\r\n1;2;3\r\n");
  guest.upload("nested.json", JSON.stringify({ data: [{ name: "A", at: { city: "北京" } }, { name: "B" }] }));
  guest.upload("quote.csv", `a,b\n1,"open\n${"x\n".repeat(60)}`);
  guest.upload("empty.csv", "");
  guest.upload("binary.csv", Buffer.from(Array.from({ length: 4096 }, (_, index) => index % 256)));
  guest.upload("old.xls", Buffer.from("d0cf11e0a1b11ae1", "hex"));
  guest.upload("broken.json", "{");
  guest.upload("x.parquet", "PAR1PAR1");
  guest.upload("cut.xlsx", Buffer.from("504b0304aaaa", "hex"));
  const told = await guest.prints(
    ["ragged.csv", "nested.json", "quote.csv"].map((name) => `${profile} uploads/${name}`).join("\n"),
  );
  assert.match(told, /encoding="utf-8-sig", separator=";"/);
  assert.match(told, /! 2 line\(s\) have another number of cells than the header \(lines 3, 4\)/);
  assert.match(told, /! 1 row\(s\) are exact copies/);
  assert.match(told, /- at\.city: text, 1 distinct, 1 missing/);
  assert.match(told, /a quote is probably not closed/);
  await refuses([
    [`${profile} uploads/none.csv`, /^2 error: there is no file uploads\/none\.csv/],
    [`${profile} uploads/empty.csv`, /^2 error: .*empty \(0 bytes\).*Ask for the file again/],
    [`${profile} uploads/binary.csv`, /^2 error: .*no text and no table.*binary/],
    [`${profile} uploads/old.xls`, /^2 error: .*old Excel file.*save it as \.xlsx/],
    [`${profile} uploads/broken.json`, /^2 error: .*neither JSON nor one JSON value a line/],
    [`${profile} uploads/x.parquet`, /^[23] error: .*Parquet/],
    [`${profile} uploads/cut.xlsx`, /^2 error: .*cannot be read as an Excel file/],
    [`${group} uploads/ragged.csv --by a --value d`, /^2 error: there is no column d; there are: a, b, c/],
    [`${group} uploads/nested.json --by at.city --value name`, /^2 error: name is a column of kind text, not number/],
    [`${group} uploads/ragged.csv --by a --where a~1 --how count`, /^2 error: --where 'a~1' is not COLUMN=VALUE/],
    [`${tables("chart")} uploads/ragged.csv --kind bar --x a --out outputs/a.exe`, /^2 error: --out ends in \.png/],
  ]);
});

test("a PDF is made from Chinese Markdown, read by page, searched, and its table found again [K1]", skip, async () => {
  const markdown =
    "# 季度报告\n\n营业**收入**增长，见 [来源](https://example.org/a?b=1&c=2)。\n\n<!-- page -->\n\n## 数据\n\n" +
    "| 地区 | 销售额 |\n| --- | ---: |\n| 华东 | 1,200 |\n| 华北 | 950 |\n| 华南 | 含 \\| 号 |\n\n- 第一项 <b>\n- 第二项\n";
  guest.upload("notes.md", markdown);
  guest.upload("odd.md", "# Odd 😀\n\n![gone](nowhere.png)\n");
  const told = await guest.prints(
    [
      `${pdf("pdf_make")} uploads/notes.md --out outputs/报告.pdf`,
      `${pdf("pdf_info")} outputs/报告.pdf`,
      `${pdf("pdf_text")} outputs/报告.pdf --pages=-1`,
      `${pdf("pdf_text")} outputs/报告.pdf --find 业收`,
      `${pdf("pdf_tables")} outputs/报告.pdf --out outputs`,
      `${pdf("pdf_pages")} merge outputs/报告.pdf outputs/报告.pdf --out outputs/both.pdf`,
      `${pdf("pdf_pages")} extract outputs/both.pdf --pages 4,1 --out outputs/two.pdf`,
      `${pdf("pdf_pages")} rotate outputs/two.pdf --pages 1 --out outputs/turned.pdf`,
      `${pdf("pdf_pages")} split outputs/both.pdf --every 3 --out outputs/parts && ls outputs/parts`,
      `${pdf("pdf_look")} outputs/turned.pdf --pages 1 --out temp`,
    ].join("\n"),
  );
  assert.match(told, /"pages": 2[\s\S]*"Title": "季度报告"[\s\S]*"pages_with_text": "1-2",\n "pages_scanned": ""/);
  assert.match(told, /--- page 2 of 2\n数据\n[\s\S]*• 第一项 <b>/);
  assert.match(told, /page 1: .*营业收入增长.*\n1 hits for '业收'/);
  assert.equal(
    `${guest.read("outputs/报告-page-2-table-1.csv")}`,
    '\uFEFF地区,销售额\r\n华东,"1,200"\r\n华北,950\r\n华南,含 | 号\r\n',
  );
  assert.match(told, /both\.pdf \(4 pages\)[\s\S]*two\.pdf \(2 pages\)[\s\S]*both-1-3\.pdf\nboth-4\.pdf\n/);
  assert.equal(guest.read("temp/turned-page-1.png").subarray(1, 4).toString(), "PNG");
  const odd = await guest.run(`${pdf("pdf_make")} uploads/odd.md --out outputs/odd.pdf`);
  assert.equal(odd.end, "done 1");
  assert.match(odd.stdout, /! the picture nowhere\.png is not there[\s\S]*! no glyph for 😀/);
});

test("scans are told as such, and PDFs that are locked, cut or none are refused with advice [K1]", skip, async () => {
  // A scan: a page with a picture and no text. And one with a password, which is not told.
  const made = await guest.run(
    [
      "from PIL import Image; Image.new('RGB', (300, 400), 'white').save('temp/scan.pdf')",
      "import pypdf; writer = pypdf.PdfWriter(); writer.add_page(pypdf.PdfReader('temp/scan.pdf').pages[0])",
      "writer.encrypt('secret'); writer.write('temp/locked.pdf')",
      "open('temp/cut.pdf', 'wb').write(open('temp/scan.pdf', 'rb').read()[:300])",
      "open('temp/no.pdf', 'w').write('hello')",
    ].join("\n"),
    "python",
  );
  assert.deepEqual([made.end, made.stderr], ["done 0", ""]);
  const info = JSON.parse(await guest.prints(`${pdf("pdf_info")} temp/scan.pdf`));
  assert.deepEqual([info.pages_with_text, info.pages_scanned, info.pages_empty], ["", "1", ""]);
  const text = await guest.prints(
    `${pdf("pdf_text")} temp/scan.pdf; ${pdf("pdf_info")} temp/locked.pdf --password secret`,
  );
  assert.match(text, /pages 1 have no or hardly any text: scans[\s\S]*"encrypted": true/);
  await refuses([
    [`${pdf("pdf_info")} temp/locked.pdf`, /^2 error: .*protected with a password: ask for it/],
    [`${pdf("pdf_text")} temp/locked.pdf --password wrong`, /^2 error: .*password/],
    [`${pdf("pdf_info")} temp/cut.pdf`, /^2 error: .*damaged/],
    [`${pdf("pdf_text")} temp/cut.pdf`, /^2 error: .*(could not read|no pages)/],
    [`${pdf("pdf_text")} temp/no.pdf`, /^2 error: .*no PDF/],
    [`${pdf("pdf_text")} temp/scan.pdf --pages 2`, /^2 error: there is no page 2: the file has 1/],
    [`${pdf("pdf_pages")} rotate temp/scan.pdf --out temp/scan.pdf`, /^2 error: --out would overwrite/],
    [`${pdf("pdf_make")} temp/none.md --out outputs/x.pdf`, /^2 error: .*none\.md: write the Markdown first/],
  ]);
});

test("a workbook is made, read with its formulas, changed, and its mistakes are found [K1]", skip, async () => {
  const rows = [
    ["地区", "一月", "二月", "合计"],
    ["华东", 1200, 800, "=SUM(B2:C2)"],
    ["华北", 950.5, "70", "=B3+C3"],
    ["合计", "=SUM(B2:B3)", "=SUM(C2:C2)", '=SUMIF(A2:A3,"华*",D2:D3)'],
  ];
  const looks = [
    ["key", "v"],
    ["华北", "=VLOOKUP(A2,销售!A2:D3,2,FALSE)"],
    ["x", '=IFERROR(1/0,"无")'],
    ["c", "=B5"],
    ["d", "=B4"],
    ["e", "=缺!A1"],
    ["f", "=RAND()"],
  ];
  const charts = [{ kind: "bar", title: "销售", x: "地区", y: ["一月", "二月"], rows: [2, 3] }];
  guest.upload(
    "plan.json",
    JSON.stringify({
      sheets: [
        { name: "销售", rows, charts, formats: { 一月: "#,##0.00" } },
        { name: "查", rows: looks },
      ],
    }),
  );
  const told = await guest.prints(
    [
      `${sheets("xlsx_make")} uploads/plan.json --out outputs/销售.xlsx`,
      `${sheets("xlsx_read")} outputs/销售.xlsx --sheet 销售 --range A3:D4`,
      `${sheets("xlsx_edit")} outputs/销售.xlsx --set '销售!C3=70' --set '销售!B2="00123"' --out outputs/neu.xlsx`,
      `${sheets("xlsx_read")} outputs/neu.xlsx --sheet 销售 --csv outputs/neu.csv`,
      "unzip -l outputs/neu.xlsx | grep -c chart1.xml",
    ].join("\n"),
  );
  assert.match(told, /\| 3 \| 华北 \| 950\.5 \| 70 \| \? \{=B3\+C3\} \|\n\| 4 \| 合计 \| \? \{=SUM\(B2:B3\)\}/);
  assert.match(told, /销售!C3: 70 → 70\n销售!B2: 1200 → 00123\n! the file has charts: they are kept[\s\S]*\n1\n$/);
  assert.match(`${guest.read("outputs/neu.csv")}`, /^\uFEFF地区,一月,二月,合计\r\n华东,00123,800,\r\n/);

  const checked = await guest.run(`${sheets("xlsx_check")} outputs/销售.xlsx --json`);
  assert.equal(checked.end, "done 1");
  const { errors, warnings, not_computed, values } = JSON.parse(checked.stdout);
  assert.deepEqual(errors, [
    "查!B4 =B5: circular",
    "查!B5 =B4: circular",
    "查!B6 =缺!A1: #REF! (there is no sheet 缺)",
  ]);
  assert.deepEqual(not_computed, ["查!B7 =RAND(): the function RAND is not known here"]);
  assert.match(warnings.join("\n"), /^销售!C3: 1 number\(s\) stored as text/);
  const { "销售!D2": d2, "销售!B4": b4, "销售!D4": d4, "查!B2": found, "查!B3": none } = values;
  assert.deepEqual([d2, b4, d4, found, none], ["2000", "2150.5", "3020.5", "950.5", "无"]);
});

longTest(
  "sums that miss a row are found, and files that are no workbooks are refused with advice [K1]",
  skip,
  async () => {
    guest.upload(
      "short.json",
      JSON.stringify({ sheets: [{ name: "a", rows: [["n"], [1], [2], [3], ["=SUM(A2:A3)"]] }] }),
    );
    guest.upload("bad.json", JSON.stringify({ sheets: [{ name: "a/b", rows: [["n"]] }] }));
    guest.upload("locked.xlsx", Buffer.from("d0cf11e0a1b11ae1", "hex"));
    guest.upload("half.xlsx", Buffer.from("504b03041400", "hex"));
    guest.upload("text.xlsx", "a,b");
    const make = sheets("xlsx_make");
    const read = sheets("xlsx_read");
    const { stdout, end } = await guest.run(
      `${make} uploads/short.json --out outputs/short.xlsx\n${sheets("xlsx_check")} outputs/short.xlsx`,
    );
    assert.equal(end, "done 1");
    assert.match(stdout, /warning: a!A5 =SUM\(A2:A3\): it leaves out row 4/);
    // A row that no sheet has: whoever counted up to it would not come back.
    const far = await guest.run(
      [
        "import zipfile",
        "book, far = zipfile.ZipFile('outputs/short.xlsx'), zipfile.ZipFile('temp/far.xlsx', 'w')",
        "for name in book.namelist(): far.writestr(name, book.read(name).replace(b'A5', b'A99999999').replace(b'r=\"5\"', b'r=\"99999999\"'))",
        "far.close()",
      ].join("\n"),
      "python",
    );
    assert.deepEqual([far.end, far.stderr], ["done 0", ""]);
    await refuses([
      [`${make} uploads/bad.json --out outputs/x.xlsx`, /^2 error: sheet 1: the name 'a\/b' .*\[ \] :/],
      [`${read} uploads/locked.xlsx`, /^2 error: .*old \.xls or protected/],
      [`${read} uploads/half.xlsx`, /^2 error: .*damaged/],
      [`${read} uploads/text.xlsx`, /^2 error: .*no workbook.*data-analysis/],
      [`${read} temp/far.xlsx`, /^2 error: .*(beyond row 1048576|more than 1048576 rows)/],
      [`${sheets("xlsx_check")} temp/far.xlsx`, /^2 error: .*beyond row 1048576/],
      [`${tables("profile_table")} temp/far.xlsx`, /^2 error: .*more than 1048576 rows.*damaged/],
      [`${read} outputs/short.xlsx --sheet b`, /^2 error: there is no sheet b; there are: a/],
      [`${read} outputs/short.xlsx --range 'A1;B'`, /^2 error: .*write A1:D20/],
      [
        `${sheets("xlsx_edit")} outputs/short.xlsx --set A1 --out outputs/y.xlsx`,
        /^2 error: --set 'A1' is not Sheet!B2=value/,
      ],
      [
        `${sheets("xlsx_edit")} outputs/short.xlsx --set A1=2 --out outputs/short.xlsx`,
        /^2 error: --out would overwrite/,
      ],
    ]);
  },
);

test("a deck is made from an outline, fits its slides, and is read back word for word [K1]", skip, async () => {
  const outline =
    "# 年度回顾 Review\n销售部\n\n## 增长 **12%** & <more>\n- 华东\n  - 两个客户\n\n> 备注：先说结论\n\n## 数据\n" +
    "| 地区 | 值 |\n| --- | --- |\n| 华东 | 1,200 |\n\n## Two\n### 优点\n- 快\n### 缺点\n- 贵\n\n# 谢谢\n";
  guest.upload("outline.md", outline);
  guest.upload(
    "long.md",
    `## Long\n${Array.from({ length: 40 }, (_, index) => `- 要点 ${index} 需要一些空间`).join("\n")}\n`,
  );
  const make = slides("pptx_make");
  const told = await guest.prints(
    [
      `${make} uploads/outline.md --out outputs/回顾.pptx`,
      `${slides("pptx_check")} outputs/回顾.pptx`,
      `${slides("pptx_read")} outputs/回顾.pptx`,
      `${make} uploads/long.md --out outputs/split.pptx --split`,
      `${slides("pptx_check")} outputs/split.pptx`,
    ].join("\n"),
  );
  const read =
    "# 回顾.pptx: 5 slides\n\n## Slide 1: 年度回顾 Review\n\n- 销售部\n\n## Slide 2: 增长 12% & <more>\n\n- 华东\n  - 两个客户\n> Note: 先说结论\n\n" +
    "## Slide 3: 数据\n\n| 地区 | 值 |\n| --- | --- |\n| 华东 | 1,200 |\n\n\n## Slide 4: Two\n\n- 优点\n- 快\n- 缺点\n- 贵\n\n## Slide 5: 谢谢\n";
  assert.ok(told.includes(read), told);
  assert.match(
    told,
    /回顾\.pptx: 5 slides, 0 findings[\s\S]*split\.pptx \(4 slides\)[\s\S]*split\.pptx: 4 slides, 0 findings/,
  );

  const forced = await guest.run(
    `${make} uploads/long.md --out outputs/forced.pptx --force; ${slides("pptx_check")} outputs/forced.pptx`,
  );
  assert.equal(forced.end, "done 1");
  assert.match(forced.stdout, /slide 1: Text 1: its text needs \d+ points of height, the box has 364/);
  // A part that wants to grow when it is read.
  await guest.prints(
    "cp outputs/回顾.pptx temp/bomb.pptx && mkdir -p temp/ppt && printf '<!DOCTYPE a [<!ENTITY b \"c\">]><a>&b;</a>' > temp/ppt/presentation.xml && cd temp && zip -q bomb.pptx ppt/presentation.xml",
  );
  await refuses([
    [
      `${make} uploads/long.md --out outputs/long.pptx`,
      /^1 error: nothing was written: slide 1 \(Long\): Text 1: the text needs .*--split/,
    ],
    [`${make} uploads/ragged.csv --out outputs/x.pptx`, /^2 error: the outline has no slide/],
    [`${slides("pptx_read")} temp/bomb.pptx`, /^2 error: .*document type of its own/],
    [`${slides("pptx_read")} outputs/short.xlsx`, /^2 error: .*no presentation/],
    [`${slides("pptx_read")} uploads/empty.csv`, /^2 error: .*empty/],
    [`${slides("pptx_read")} outputs/回顾.pptx --slides 9`, /^2 error: .*slides 1-5/],
  ]);
});

test("a report whose claims have no source is sent back, and a sound one gets its links [K1]", skip, async () => {
  const sources = web("sources");
  const sound =
    '# 报告\n\n2023 年国内生产总值为 1,260,582 亿元，增长 5.2%。[S1]\n\n- They said "rather strong in the first half" [S2].\n- 我的推断。[own]\n';
  guest.upload("sound.md", sound);
  guest.upload(
    "weak.md",
    `${sound}\n另有 7 个例子。It was "weak in the second half" [S2]. It was 99 % [S1].\n\n- 无来源的话。\n- Gone [S7].\n`,
  );
  const added = await guest.prints(
    [
      "rm -rf outputs/* temp/*",
      `${sources} add --url 'https://www.stats.gov.cn/a?utm_source=x&id=3#top' --title 2023年公报 --published 2024-02-29 --kind official --quote '全年国内生产总值1260582亿元，比上年增长5.2%。' &`,
      `${sources} add --url https://www.stats.gov.cn/a?id=3 --quote '第二句。' & wait`,
      `${sources} add --url https://example.org/b --title B --published 2024 --kind blog --quote 'Growth was “rather strong in the first half”.'`,
      `${sources} check uploads/sound.md`,
      `${sources} finish uploads/sound.md --out outputs/sound.md`,
    ].join("\n"),
  );
  assert.match(added, /S2: B \(1 quotes kept\)[\s\S]*2 sources, 0 errors, 0 warnings\n/);
  assert.match(
    `${guest.read("outputs/sound.md")}`,
    /5\.2%。\[\[S1\]\]\(https:\/\/www\.stats\.gov\.cn\/a\?id=3\)[\s\S]*我的推断。\n\n## 来源\n\n- S1: \[2023年公报\]/,
  );
  const weak = await guest.run(`${sources} check uploads/weak.md`);
  assert.equal(weak.end, "done 1");
  assert.deepEqual(weak.stdout.split("\n").slice(1, -1), [
    "error: line 8: a number or quote without a source in its sentence: 另有 7 个例子。",
    "error: line 8: “weak in the second half” does not stand so in what was kept of S2",
    "error: line 10: no source for: 无来源的话。",
    "error: line 11: [S7] is not in the table of sources",
    "warning: line 8: 99 % stands in no words kept of S1: check it, or keep the words that have it",
  ]);
  await refuses([
    [`${sources} add --url example.org`, /^2 error: .*begins with https:\/\//],
    [`${sources} finish uploads/weak.md`, /^2 error: the report has 4 errors/],
    [`${sources} check uploads/none.md`, /^2 error: there is no report/],
    [`${sources} list --file uploads/nested.json`, /^2 error: .*no table of sources/],
  ]);
});
