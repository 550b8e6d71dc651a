import type { Figure } from "../figure.ts";
import { tasksDuring } from "./main-thread.ts";
import type { Sizes, World } from "./world.ts";

/** Milliseconds of processor time that a task of the main thread may take while an answer streams. */
const taskMsMax = 50;

/** An answer of 100 KB with headings, code, tables, lists, maths and Chinese, as it is written. */
export async function measureStreaming(
  { page, address, say }: World,
  { textBytes }: Sizes,
): Promise<readonly Figure[]> {
  const text = markdownOf(textBytes);
  say({ text: `${text}\n\nThe end of it.`, paceMs: 0 });
  await page.goto(address);
  const tasks = await tasksDuring(page, async () => {
    await page.getByRole("textbox", { name: "Message" }).fill("go on");
    await page.keyboard.press("Enter");
    await page.getByText("The end of it.").waitFor({ timeout: 300_000 });
  });
  const kilobytes = Math.round(text.length / 1_000);
  const longest = Math.max(0, ...tasks);
  return [
    {
      what: `longest task while ${kilobytes} KB of Markdown stream`,
      unit: "ms of processor time",
      value: longest,
      atMost: taskMsMax,
    },
    { what: `tasks over ${taskMsMax} ms meanwhile`, unit: "tasks", value: tasks.filter((ms) => ms > taskMsMax).length },
    { what: "processor time of the main thread", unit: "ms", value: tasks.reduce((sum, ms) => sum + ms, 0) },
  ];
}

function markdownOf(bytes: number): string {
  const parts: string[] = [];
  for (let index = 0; parts.reduce((sum, part) => sum + part.length, 0) < bytes; index += 1)
    parts.push(sectionOf(index));
  return parts.join("\n\n");
}

function sectionOf(index: number): string {
  return [
    `## Section ${index}：导出与性能`,
    `Some **bold** words, a [link](https://example.com/${index}), \`code\`, and 一些中文，标点也有。 $E = mc^${index}$ stands in the line.`.repeat(
      3,
    ),
    "```ts\n" +
      Array.from(
        { length: 12 },
        (_, line) => `export const value${line} = compute(${index}, "text ${line}"); // why`,
      ).join("\n") +
      "\n```",
    `| name | value | 备注 |\n| --- | ---: | --- |\n${Array.from({ length: 6 }, (_, row) => `| row ${row} | ${row * index} | 第 ${row} 行 |`).join("\n")}`,
    Array.from({ length: 6 }, (_, item) => `- item ${item} with *emphasis*`).join("\n"),
    `$$\\sum_{i=0}^{${index}} i = \\frac{n(n+1)}{2}$$`,
  ].join("\n\n");
}
