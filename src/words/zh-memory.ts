import type { enMemory } from "./en-memory.ts";

export const zhMemory: typeof enMemory = {
  entry: (p) => `  ${p.number}. ${p.fact}  （${p.who}，${p.at}）`,
  byYou: "您",
  byAgent: (p) => `对话 ${p.conversation} 中的智能体`,
  none: () => "还没有记住任何事。用 /memory add 内容 添加一条。",
  hint: () => "每个对话都会告诉智能体这些。/memory add 内容 · /memory edit N 内容 · /memory forget N",
  added: (p) => `✓ 已记住（共 ${p.count} 条）；已打开的对话在下一个回合得知`,
  changed: (p) => `✓ 第 ${p.number} 条已修改`,
  forgotten: (p) => `✓ 已忘记：${p.fact}`,
  tooLong: (p) => `✗ 每条最多 ${p.max} 个字符，请说得短一些。`,
  which: (p) => `✗ 哪一条？请写 /memory ${p.word} 加编号；/memory 列出全部。`,
  whatText: (p) => `✗ 内容是什么？用法：${p.form}`,
  usage: (p) => `✗ /memory 不能“${p.word}”。用法：/memory、/memory add 内容、/memory edit N 内容 或 /memory forget N`,

  inForce: (p) => `§ ${p.path} 作为长期指示生效`,
  inForceInPart: (p) => `§ ${p.path} 作为长期指示生效，但因过长只取开头部分`,
  noLonger: () => "§ 长期指示不再生效",
};
