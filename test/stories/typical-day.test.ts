import assert from "node:assert/strict";
import { test } from "node:test";
import { openApprovals } from "../../src/approvals/approvals.ts";
import { defaultRules } from "../../src/approvals/rules.ts";
import { bash, callOf, inSandbox } from "../world/judging.ts";

const python = (code: string) => callOf("execute_code", { code });
const javascript = (code: string) => callOf("execute_code", { code, language: "javascript" });
const read = (path: string) => callOf("read_file", { path }, { class: "pure" });
const write = (path: string, content: string) => callOf("write_file", { path, content }, { class: "idempotent" });
const edit = (path: string, old_string: string, new_string: string) =>
  callOf("edit_file", { path, old_string, new_string }, { class: "idempotent" });

/** What an agent does from morning to evening: look, compute, draw, write, test, tidy up. */
const day = [
  // Look at what came.
  callOf("list_files", { path: "uploads" }, { class: "pure" }),
  bash("ls -la uploads && wc -l uploads/*.csv"),
  bash("head -n 5 uploads/sales.csv; tail -n 3 uploads/sales.csv"),
  bash("cut -d, -f2 uploads/sales.csv | sort | uniq -c | sort -rn | head -20"),
  bash("mkdir -p temp/unpacked && unzip -o uploads/archive.zip -d temp/unpacked && find temp/unpacked -type f | head"),
  bash("iconv -f gbk -t utf-8 uploads/客户.csv > temp/customers.csv && head -3 temp/customers.csv"),
  bash("sqlite3 uploads/shop.db '.tables' && sqlite3 -header -csv uploads/shop.db 'SELECT count(*) FROM orders'"),
  callOf("search_file", { query: "password", path: "uploads/notes.md" }, { class: "pure" }),
  callOf("todo_write", { todos: [{ content: "delete the duplicates", status: "pending" }] }, { class: "idempotent" }),
  // Analyse.
  python("import pandas as pd\ndf = pd.read_csv('uploads/sales.csv')\ndf.info()\ndf.describe()"),
  python("monthly = df.groupby(df['date'].str[:7])['amount'].sum()\nmonthly.to_csv('outputs/monthly.csv')"),
  python(
    "import matplotlib.pyplot as plt\nmonthly.plot(kind='bar')\nplt.savefig('outputs/monthly.png', dpi=150)\nplt.close()",
  ),
  python("import sqlite3\ncon = sqlite3.connect('uploads/shop.db')\npd.read_sql('SELECT * FROM orders LIMIT 5', con)"),
  python(
    "con = sqlite3.connect('temp/work.db')\ndf.to_sql('sales', con, if_exists='replace')\ncon.execute('DELETE FROM sales WHERE amount < 0')\ncon.commit()",
  ),
  python("import shutil\nshutil.copy('uploads/sales.csv', 'temp/sales-copy.csv')\nshutil.rmtree('temp/unpacked')"),
  python(
    "import tempfile, os\nwith tempfile.TemporaryDirectory() as folder:\n    open(os.path.join(folder, 'a'), 'w').write('x')",
  ),
  python("import subprocess\nprint(subprocess.run(['ls', '-l', 'outputs'], capture_output=True, text=True).stdout)"),
  javascript(
    "const rows = require('fs').readFileSync('uploads/sales.csv', 'utf8').split('\\n');\nconsole.log(rows.length);",
  ),
  bash("awk -F, 'NR > 1 { sum[$2] += $3 } END { for (k in sum) print k, sum[k] }' uploads/sales.csv | sort"),
  bash(
    "python3 - <<'PY'\nimport csv\nprint(sum(float(r['amount'] or 0) for r in csv.DictReader(open('uploads/sales.csv'))))\nPY",
  ),
  bash("sed 's/;/,/g' uploads/semicolons.csv > temp/commas.csv"),
  bash("sed -i 's/foo/bar/' temp/commas.csv && diff temp/commas.csv temp/sales-copy.csv | head"),
  bash('for f in uploads/*.csv; do echo "$f: $(wc -l < "$f")"; done'),
  // Write the report.
  write("outputs/report.md", "# Sales\n\nDelete nothing; run `rm -rf /` never. password: none was found\n"),
  edit("outputs/report.md", "Delete nothing", "DROP TABLE is a joke"),
  read("outputs/report.md"),
  bash("pandoc outputs/report.md -o outputs/report.docx"),
  bash("cd outputs && zip -r report.zip report.md monthly.png && ls -lh report.zip"),
  bash("tar czf outputs/results.tar.gz -C outputs report.md monthly.csv"),
  bash(
    "cat > temp/check.sh <<'SH'\n#!/bin/bash\ntest -s outputs/report.md && echo fine\nSH\nchmod +x temp/check.sh && ./temp/check.sh",
  ),
  // Write and test a small program.
  bash(
    "mkdir -p outputs/tool/tests && cd outputs/tool && git init -q . && git config user.email a@b.c && git config user.name me",
  ),
  write("outputs/tool/tool.py", "import os\n\ndef clean(path):\n    os.remove(path)\n"),
  write("outputs/tool/tests/test_tool.py", "def test_one():\n    assert 1 + 1 == 2\n"),
  bash("cd outputs/tool && python3 -m pytest -q"),
  bash("cd outputs/tool && python3 -m py_compile tool.py && python3 -c 'import tool; print(tool.__name__)'"),
  bash(
    "cd outputs/tool && git add -A && git commit -qm 'tool: delete old files, drop table' && git log --oneline | head",
  ),
  bash("cd outputs/tool && git status --short && git diff HEAD~1 --stat"),
  bash("cd outputs/tool && git checkout -b feature && git branch"),
  bash("pip list 2>/dev/null | grep -i pandas; python3 -c 'import pandas; print(pandas.__version__)'"),
  bash("which curl wget; command -v git; type python3"),
  bash("grep -rn 'password\\|secret' outputs/tool | head; grep -R \"rm -rf\" uploads || echo none"),
  // Tidy up.
  bash("rm -f temp/commas.csv temp/names.txt"),
  bash("rm -rf temp/* && ls temp"),
  bash('D=$(mktemp -d) && cp outputs/monthly.csv "$D" && wc -l "$D/monthly.csv" && rm -rf "$D"'),
  bash("find temp -name '*.tmp' -delete; rm -rf /tmp/build"),
  python(
    "import os\nos.makedirs('temp/a', exist_ok=True)\nopen('temp/a/b.txt', 'w').close()\nos.remove('temp/a/b.txt')",
  ),
  // Three times something that a person wants to know about.
  bash("pip install openpyxl"),
  bash("rm outputs/report-2026-11.md"),
  bash("curl -sS https://example.org/rates.json -o temp/rates.json"),
];

test("a day's typical work asks at most three times [H1]", () => {
  const approvals = openApprovals({ rules: defaultRules, checkers: [] });
  assert.ok(day.length >= 40, `only ${day.length} calls`);
  // From the first file on, everything is said in a conversation that has read text from outside.
  const asked = day
    .map((call) => ({ call, judged: approvals.judge(call, { ...inSandbox, tainted: true }, []) }))
    .filter(({ judged }) => judged.verdict !== "allow")
    .map(({ call, judged }) => `${call.written.slice(0, 80)}: ${judged.findings.map(({ kind }) => kind).join()}`);
  assert.deepEqual(asked, [
    '{"command":"pip install openpyxl"}: packages',
    '{"command":"rm outputs/report-2026-11.md"}: delete',
    '{"command":"curl -sS https://example.org/rates.json -o temp/rates.json"}: network',
  ]);
});
