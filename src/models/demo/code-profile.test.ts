import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { type TestContext, test } from "node:test";
import { failedResult, startDemoTalk, type TalkFiles } from "../../../test/world/demo-talk.ts";
import { systemClock } from "../../base/clock.ts";
import { systemIds } from "../../base/ids.ts";
import { makeFailure } from "../../protocol/failure.ts";
import { replyTo } from "./reply.ts";
import type { ChatRequest } from "./wire.ts";

const python = "/usr/bin/python3";
const noPython = !existsSync(python) && "there is no /usr/bin/python3 here";
const reply = (chat: ChatRequest) => replyTo(chat, { clock: systemClock, ids: systemIds, findServers: async () => [] });

const sales =
  '\uFEFFcity,units,price,day\r\nOslo,12,"1,000.50",2026-01-02\r\nRio,,n/a,2026-01-03\r\nOslo,30,¥2.25,2026-02-01\r\n\r\n';
const sent = (text: string, name: string) => `${text}\n\nUploaded files:\n- ${name} → uploads/${name} (csv)`;
const sentInChinese = (text: string, name: string) => `${text}\n\n上传的文件：\n- ${name} → uploads/${name} (csv)`;

/** A talk in which code really runs, by this Python and in a folder of its own. */
function talkWithCode(t: TestContext, files: TalkFiles, options: readonly string[] = []) {
  const folder = mkdtempSync(join(tmpdir(), "agentyard-demo-"));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), text, path.includes("gbk") ? "latin1" : "utf8");
  }
  const printed: string[] = [];
  const run = ({ code }: Record<string, unknown>) => {
    const env = { LANG: "C.UTF-8", MPLBACKEND: "agg", MPLCONFIGDIR: folder, HOME: folder, PYTHONWARNINGS: "ignore" };
    const ended = spawnSync(python, [...options, "-c", String(code)], { cwd: folder, encoding: "utf8", env });
    printed.push(ended.stdout);
    return `${ended.stdout}${ended.stderr}[exit code ${ended.status}, 1 s]`;
  };
  const talk = startDemoTalk(reply, files, { and: ["execute_code"], results: { execute_code: run } });
  return { ...talk, folder, printed };
}

const table = [
  "| Column | Type | Values | Gaps | Smallest | Largest | Mean | Median | Sum |",
  "| --- | --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: |",
  "| city | text | 3 | 0 |  |  |  |  |  |",
  "| units | number | 2 | 1 | 12 | 30 | 21 | 21 | 42 |",
  "| price | number | 2 | 1 | 2.25 | 1,000.5 | 501.375 | 501.375 | 1,002.75 |",
  "| day | date | 3 | 0 | 2026-01-02 | 2026-02-01 |  |  |  |",
].join("\n");

test("a column that is asked for by its name is the one that is drawn, by the group that is asked for [M5][X6]", {
  skip: noPython,
}, async (t) => {
  const drawn = async (asked: string) => {
    const { say, printed } = talkWithCode(t, { "uploads/sales.csv": sales });
    await say(sent(asked, "sales.csv"));
    return /"drawn": (\[.*?\])/.exec(printed.join(""))?.[1];
  };
  assert.deepEqual(
    [await drawn("画出Price，按 day 分组"), await drawn("it is priceless")],
    ['["price", "day"]', '["units", "city"]'],
  );
});

for (const [libraries, options] of [
  ["with the libraries that are installed", []],
  ["with plain Python only", ["-I", "-S"]],
] as const) {
  test(`a table is profiled by code, ${libraries} [M5][X1]`, { skip: noPython }, async (t) => {
    const { say } = talkWithCode(t, { "uploads/sales.csv": sales }, options);
    const { calls, text } = await say(sent("#sales.csv", "sales.csv"));
    assert.deepEqual(
      calls.map(([name, { timeout }]) => [name, timeout]),
      [["execute_code", 300]],
    );
    const [, came, head, shown, gaps, often, chart] = text.split("\n\n");
    assert.deepEqual(
      [came, head, shown, gaps, often],
      [
        "This came with your message:",
        "- `uploads/sales.csv` (csv)",
        "`uploads/sales.csv`: 3 rows, 4 columns.",
        table,
        "2 gaps, in units, price.",
      ],
    );
    assert.equal(chart, "- city: 2 different values, most often “Oslo” (2 times).");
    const isDrawn = text.endsWith("\n\nThe chart is in `outputs/sales-chart.png`.");
    assert.ok(
      isDrawn || text.endsWith("because matplotlib is missing in the sandbox; `agentyard doctor` tells how to get it."),
    );
    if (options.length > 0) assert.ok(!isDrawn);
  });
}

test("a Chinese table in an old encoding is profiled in Chinese, and the chart is named in Chinese [M5][X6]", {
  skip: noPython,
}, async (t) => {
  // GB18030 for: 城市,金额 / 北京,5 / 上海,7
  const bytes = Buffer.from("b3c7cad02cbdf0b6ee0ab1b1bea92c350ac9cfbaa32c370a", "hex").toString("latin1");
  const { say, folder } = talkWithCode(t, { "uploads/gbk.csv": bytes });
  const { text } = await say(sentInChinese("统计#gbk.csv", "gbk.csv"));
  assert.match(text, /`uploads\/gbk\.csv`：共 2 行，2 列。/);
  assert.match(text, /\| 金额 \| 数字 \| 2 \| 0 \| 5 \| 7 \| 6 \| 6 \| 12 \|\n\n没有缺失值。/);
  const chart = /图表在 `(outputs\/gbk-图表\.png)`。$/.exec(text)?.[1];
  if (chart === undefined) assert.match(text, /没有 matplotlib/);
  else assert.equal(readFileSync(join(folder, chart)).subarray(1, 4).toString(), "PNG");
});

test("where code cannot be run the demo model says why and how to get it, and reads the file [M5][X3]", async () => {
  const fix = "Install bubblewrap: apt install bubblewrap";
  const execute_code = failedResult(makeFailure("sandbox_unavailable", { reason: "bubblewrap is missing.", fix }));
  const present = { "uploads/a.csv": "city,units\nOslo,12\nRio,30\n" };
  const talk = () => startDemoTalk(reply, present, { and: ["execute_code"], results: { execute_code } });
  const { calls, text } = await talk().say(sent("#a.csv", "a.csv"));
  assert.deepEqual(
    calls.map(([name]) => name),
    ["execute_code", "read_file"],
  );
  assert.match(
    text,
    /\n\nI cannot run code here: bubblewrap is missing\. To get it: Install bubblewrap: apt install bubblewrap \(`agentyard doctor` tells more\.\) So I only read the file, and there is no chart\.\n\n`uploads\/a\.csv`: 2 rows, 1 column of numbers\./,
  );
  const chinese = await talk().say(sentInChinese("统计#a.csv", "a.csv"));
  assert.match(
    chinese.text,
    /\n\n这里不能运行代码：bubblewrap is missing\. 解决办法：Install bubblewrap: apt install bubblewrap（/,
  );
});

test("code that breaks, takes too long or is rejected is told, and the file is read all the same [M5][X1]", async () => {
  const present = { "uploads/a.csv": "n\n1\n" };
  const results: [result: string, told: RegExp][] = [
    ["Failed (exit code 1)\n--- stderr\nTraceback", /The code for it did not work/],
    ["Error: Code timeout (300s)\n(no output)", /The code for it did not work/],
    [failedResult(makeFailure("tool_rejected", { tool: "execute_code", why: "" })), /You rejected running code/],
  ];
  for (const [execute_code, told] of results) {
    const talk = startDemoTalk(reply, present, { and: ["execute_code"], results: { execute_code } });
    const { text } = await talk.say(sent("summarise #a.csv", "a.csv"));
    assert.match(text, told);
    assert.match(text, /`uploads\/a\.csv`: 1 row, 1 column of numbers\./);
  }
});

test("a table that is not there does not keep the others from being profiled [M5][F3]", {
  skip: noPython,
}, async (t) => {
  const { say } = talkWithCode(t, { "uploads/sales.csv": sales });
  const files = "- gone.csv → uploads/gone.csv (csv)\n- sales.csv → uploads/sales.csv (csv)";
  const { text } = await say(`summarise #*.csv\n\nUploaded files:\n${files}`);
  assert.match(text, /There is no file `uploads\/gone\.csv`[\s\S]*`uploads\/sales\.csv`: 3 rows, 4 columns\./);
});
