import type { enCompact } from "./en-compact.ts";

/** 终端中关于上下文窗口的文字。 */
export const zhCompact: typeof enCompact = {
  making: () => "正在压缩：较早的消息正在生成摘要……",
  done: (p) => {
    const sizes = p.tokensBefore === undefined ? "" : `，约 ${p.tokensBefore} → ${p.tokensAfter} 个 token`;
    return p.strategy === "trim"
      ? `✂ 较早的工具结果已缩短${sizes}`
      : `✂ 上下文已压缩：${p.messagesBefore} → ${p.messagesAfter} 条消息${sizes}`;
  },
  because: {
    error: "没有摘要：模型出错",
    empty: "没有摘要：模型没有回答",
    too_long: "没有摘要：模型写得太长",
    refused: "没有摘要：模型没有写",
    off: "没有摘要：演示模型不生成摘要",
    budget: "没有摘要：预算不足",
  },
  comma: "、",
  cut: (p) => `! 您的消息超出了模型的长度：${p.all} 个字符中约有 ${p.left} 个被省略。长文本请作为文件发送：#路径`,
  window: (p) => `! ${p.model} 拒绝了这么长的内容：从现在起按 ${p.tokens} 个 token 的窗口处理。`,
  kept: (p) => `原文保留：${p.what}`,
  kinds: {
    request: () => "当前请求",
    standing: (count) => `${count} 条长期指示`,
    said: (count) => `${count} 条您的消息`,
    todos: (count) => `${count} 个待办`,
    open: (count) => `${count} 个待决定`,
    decided: (count) => `${count} 个决定`,
    files: (count) => `${count} 个文件`,
  },
  hint: () => "/compact show 显示代替较早消息的内容 · /compact undo 重新发送它们",
  nothing: (p) => `无需压缩：共 ${p.messages} 条消息，没有可以省略的。`,
  noSummary: () => "✗ 模型没有给出可用的摘要，因此没有省略任何内容。请重试，或换用其他模型。",
  notYet: () => "本对话没有省略任何内容。",
  undone: () => "✓ 较早的消息将重新发送",
};
