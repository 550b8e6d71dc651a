// `node scripts/record-terminal.ts`: makes docs/pictures/terminal.svg and terminal.zh-CN.svg. A real chat with the demo model in a
// real terminal, killed in the middle of a turn: what the screen showed, as an SVG that moves by itself and needs no script.
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { svgOf } from "./pictures/animated-svg.ts";
import { salesTable } from "./pictures/sales-table.ts";
import { openScreen } from "./pictures/screen.ts";

type Story = {
  readonly file: string;
  readonly title: string;
  readonly language: string;
  readonly plot: string;
  readonly remove: string;
  readonly company: string;
};

const stories: readonly Story[] = [
  {
    ...{
      file: "terminal.svg",
      title: "A chat with AgentYard in a terminal",
      language: "en",
      plot: "plot the revenue in #sales.csv",
    },
    remove: "delete outputs/sales-report-1.png",
    company: "split #shop-*.csv among three workers",
  },
  {
    ...{
      file: "terminal.zh-CN.svg",
      title: "在终端里使用 AgentYard",
      language: "zh",
      plot: "画出 #sales.csv 里的收入",
    },
    remove: "删除 outputs/sales-report-1.png",
    company: "把 #shop-*.csv 分给三个工作者",
  },
];
const size = { columns: 92, rows: 27 };
/** What takes longer, such as a first import of pandas, is cut to this. */
const stillMsMax = 1500;
const ready = /^(ready|就绪) · /m;

const root = join(import.meta.dirname, "..");
const pictures = join(root, "docs", "pictures");
const [, , language] = process.argv;
mkdirSync(pictures, { recursive: true });
for (const story of stories.filter((one) => language === undefined || one.language === language)) {
  const svg = await record(story);
  writeFileSync(join(pictures, story.file), svg);
  console.log(`docs/pictures/${story.file}: ${Math.round(svg.length / 1024)} KB`);
}

async function record({ title, language, plot, remove, company }: Story): Promise<string> {
  const program = `${process.execPath} ${join(root, "bin", "agentyard.mjs")} --lang ${language}`;
  using screen = await openScreen(size, `PS1='$ '; alias agentyard='${program}'; clear`);
  for (const name of ["sales", "shop-berlin", "shop-shanghai", "shop-nairobi"])
    writeFileSync(join(screen.folder, `${name}.csv`), salesTable());
  await screen.line("agentyard");
  await screen.until(ready);
  await screen.line(plot);
  await screen.until(ready);
  await screen.pause(1200);
  await screen.line(remove);
  await screen.until(/\[y\]|\by\b.*\bn\b/);
  await screen.pause(1200);
  await screen.type("y");
  await screen.until(ready);
  await screen.line(company);
  await screen.until(/\[(worker|工作者)-2\]/);
  screen.kill();
  await screen.until(/Killed/);
  await screen.pause(1000);
  await screen.line("clear; agentyard --continue");
  await screen.until(ready);
  await screen.pause(500);
  return svgOf(screen.frames, { ...size, title, stillMsMax });
}
