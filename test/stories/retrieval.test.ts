import assert from "node:assert/strict";
import { globSync, readFileSync } from "node:fs";
import { basename, join } from "node:path";
import { test } from "node:test";
import { blocksOf, file, searchPlace } from "../world/search.ts";

const root = join(import.meta.dirname, "..", "..");

/** Questions of people over the pages that AgentYard ships, each with the page and the heading that answers it. */
const questions = `
  which keys stop a running turn? | terminal.md | Keys
  how do I upload files from a folder with # | terminal.md | Files
  what if several terminals show the same conversation? | terminal.md | Several terminals, and interruptions
  how can I write a tool of my own | tools.md | Tools of your own
  how does the model find tools that are not loaded? | tools.md | On demand
  which private addresses are refused? | web.md | What is reached, and what not
  brave tavily search service key | web.md | A search service
  where do skills have to lie | skills.md | Where they lie
  why was a skill not used | skills.md | Why was it used, or not?
  python packages that a skill needs | skills.md | Packages
  what asks a person by default? | approvals.md | What asks by default
  "allow always" | approvals.md | Allow always
  按哪些键可以换行或停止？ | terminal.zh-CN.md | 按键
  怎么把文件附加到消息里？ | terminal.zh-CN.md | 文件
  怎樣編寫自己的工具 | tools.zh-CN.md | 自己的工具
  技能應該放在哪個目錄？ | skills.zh-CN.md | 放在哪里
  技能需要的 Python 软件包 | skills.zh-CN.md | 软件包
  哪些操作默认会询问 | approvals.zh-CN.md | 默认会询问的操作
  始终允许 | approvals.zh-CN.md | 始终允许
  哪些内网地址不能访问 | web.zh-CN.md | 能访问什么`
  .trim()
  .split("\n")
  .map((line) => line.split("|").map((part) => part.trim()));

test("what our own pages answer is among the first three hits, whichever language it is asked in [D2][D3]", async () => {
  await using place = searchPlace();
  const pages = globSync("docs/use/*.md", { cwd: root });
  for (const page of pages) {
    // Markdown has no pages: its places are numbered by blocks.
    const blocks = blocksOf(readFileSync(join(root, page), "utf8")).map((block, index) => ({
      ...block,
      from: { paragraph: index + 1 },
    }));
    assert.ok((await place.search.put(file("ann", basename(page)), page, { blocks })).ok);
  }
  const missed: unknown[] = [];
  let firsts = 0;
  for (const [query = "", document, heading] of questions) {
    const answer = await place.search.find(query, { owner: "ann" }, { hitsMax: 3 });
    assert.ok(answer.ok);
    const found = answer.value.hits.map((hit) => `${hit.documents[0]?.place} | ${hit.headings.at(-1)}`);
    if (!found.includes(`${document} | ${heading}`)) missed.push({ query, found });
    if (found[0] === `${document} | ${heading}`) firsts += 1;
  }
  assert.ok(missed.length <= 1, JSON.stringify(missed, null, 2));
  assert.ok(firsts >= 14, `only ${firsts} of ${questions.length} in the first place`);
});
