import type { ToolWords } from "./en-tools.ts";

export const zhTools: ToolWords = {
  tier: {
    loaded: (p) => `每次请求都告诉模型（${p.count}）：`,
    on_demand: (p) => `按需使用，由模型自行查找（${p.count}）：`,
    off: (p) => `不可用（${p.count}）：`,
  },
  origin: { builtin: "内置", agent: "转交", custom: "自定义文件", mcp: "MCP 服务器", operator: "工具箱" },
  why: {
    switched_off: () => "已在 tools.yaml 中关闭",
    name_taken: (p) => `未采用：已有同名工具（${p.by ?? ""}）`,
    name_unfit: () => "未采用：名称只能包含字母、数字、_ 和 -，最多 64 个字符",
    too_many: () => "未采用：工具太多",
  },
  broken: (p) => `✗ ${p.place} 无法使用：${p.why}`,
  mendBroken: () => "请修正该文件，或将其移出文件夹；修正后会自动重新加载。",
  none: (p) => `没有名称或说明中包含“${p.word}”的工具。`,
  hint: () => "/tools 词语 可以查找；/tools load 名称 让模型在本对话中直接使用它。",
  loadWhat: () => "✗ 要载入哪一个？请输入 /tools load 和工具名称；/tools 会列出全部工具。",
  notYet: () => "✗ 这里还没有消息：请先发送一条消息，再载入工具。",
  loaded: (p) => `✓ 从下一条消息起，模型可以直接使用 ${p.name}`,
};
