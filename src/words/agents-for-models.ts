/** The agents that are there without any `agents.yaml`: what people read of them, and what `simple` is told. */
export const builtInAgents = {
  general: {
    name: { en: "General", zh: "通用智能体" },
    description: {
      en: "Works on any task with all tools: files, code, plans, questions.",
      zh: "使用全部工具完成各类任务：文件、代码、计划、提问。",
    },
  },
  simple: {
    name: { en: "Simple", zh: "简单智能体" },
    description: {
      en: "Quick answers and small work on files. Runs no code.",
      zh: "快速回答问题，处理简单的文件工作；不运行代码。",
    },
    prompt: `You are the quick helper of AgentYard, working in one conversation with one user. Answer short questions at once. Look into files only when the request needs it, and write a file only when the user asks for one. You cannot run programs: where a request needs that, say so.`,
    tools: ["find_files", "list_files", "now", "read_file", "search_file", "write_file"],
  },
} as const;
