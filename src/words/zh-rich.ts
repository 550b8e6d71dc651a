import type { RichWords } from "./en-rich.ts";

export const zhRich: RichWords = {
  said: "› ",
  thought: (p) => (p.isDone ? `已思考（${p.words} 字）` : `思考中…（${p.words}）`),
  state: { opening: "正在打开", idle: "就绪", running: "运行中", waiting: "等待您的决定" },
  decisions: (p) => `${p.count} 项待决定`,
  tokens: (p) => `上下文 ${p.percent} %`,
  waits: { queue: "下一回合", steer: "下一步", opening: "打开后发送" },
  withdraw: () => "Alt+↑ 撤回最后一条",
  hint: () => "/help · Ctrl+R 历史 · Ctrl+O 展开最后一行",
  runningHint: () => "Enter 插话 · Tab 排队 · Esc 停止",
  pasteHint: () => "Ctrl+O 显示粘贴的内容",
  pasteLabel: (p) =>
    `[粘贴  #${p.number} ${p.unit === "lines" ? "+" : ""}${p.count} ${p.unit === "lines" ? "行   " : "字符 "}]`,
  searchTitle: () => "您在这里输入过的内容（Enter 选用，Esc 离开）：",
  searchNothing: () => "没有找到",
  nothingToWithdraw: () => "没有可撤回的消息。",
};
