import type { enModels } from "./en-models.ts";

type Note = { readonly command: string };
const mend = (note: Note) => (note.command === "" ? "" : `解决办法：${note.command}`);

export const zhModels: typeof enModels = {
  notes: {
    window_small: (note) =>
      `${note.model} 的上下文窗口较小（${note.tokens} 个 token），放不下长对话，建议换用更新的模型。`,
    window_guessed: (note) =>
      `不知道 ${note.model} 的上下文窗口大小，暂按 ${note.tokens} 个 token 计算。如果更大，请设置 ${note.variable ?? "…_CONTEXT_WINDOW"}。`,
    served_window_small: (note) =>
      `服务器只给 ${note.model} 提供了 ${note.tokens} 个 token 的窗口，不够智能体使用。${mend(note)}`,
    served_window_untold: (note) => `服务器没有说明 ${note.model} 的上下文窗口大小。${mend(note)}`,
    tools_missing: (note) => `${note.model} 不支持调用工具。${mend(note)}`,
    tools_off: (note) => `${note.model} 的服务器启动时没有打开工具调用。${mend(note)}`,
  },
};
