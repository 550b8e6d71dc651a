import assert from "node:assert/strict";
import { test } from "node:test";
import { countSteps } from "../../test/world/steps.ts";
import { complexity } from "./complexity.ts";

const cases: readonly [task: string, why: string | undefined][] = [
  ["hello", undefined],
  ["What time is it?", undefined],
  ["1. one thing\n2. another", undefined],
  ["Please:\n1. read a.csv\n2) plot it\n(3) write a summary", "3 parts"],
  ["- a\n- b\n* c\n• d", "4 parts"],
  ["请完成：\n一、读取文件\n二、画图\n三、写总结", "3 parts"],
  ["①读取 \n②画图\n③总结", "3 parts"],
  ["第一，读取\n第二，画图\n第三步：总结", "3 parts"],
  ["1.2 is out\n3.14 is pi\n10.5 kg\n7.0", undefined],
  ["Prove that there is no largest prime", "proof"],
  ["证明不存在最大的素数", "proof"],
  ["Think carefully before you answer", "steps"],
  ["请一步一步地算", "steps"],
  ["What are the trade-offs of SQLite and PostgreSQL?", "comparison"],
  ["比较两种方案的优缺点", "comparison"],
  ["Find the root cause of this error", "cause"],
  ["找出根本原因", "cause"],
  ["Design a small queue system for our shop", "design"],
  ["设计一个订单系统", "design"],
  ["Design a logo", undefined],
  ["Show me the proofreading rules", undefined],
  ["word ".repeat(480), "long"],
  ["说明".repeat(300), "long"],
  [`What does this do?\n\`\`\`\n${"line of code\n".repeat(900)}\`\`\``, undefined],
  [`Is this right?\n${"> 1. quoted words of somebody else\n".repeat(200)}`, undefined],
];

for (const [task, why] of cases) {
  test(`${JSON.stringify(task.slice(0, 40))} is ${why ?? "not complex"} [M2]`, () =>
    assert.equal(complexity(task), why));
}

test("a huge hostile request is judged to its end [M2]", async () => {
  const huge = `${"why does a ".repeat(500_000)}${"设计".repeat(500_000)}${"`".repeat(500_000)}`;
  // A pattern that tries anew from each place would take hours, and countSteps would tell.
  const [judged] = await countSteps(new URL("./complexity.ts", import.meta.url), [
    { name: "complexity", with: [huge] },
  ]);
  assert.equal(judged?.value, "long");
});
