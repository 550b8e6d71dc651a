import type { enFirstRun } from "./en-first-run.ts";

const count = (tokens: number) => tokens.toLocaleString("zh-CN");

export const zhFirstRun: typeof enFirstRun = {
  title: "开始使用",
  about: "只需两步：选择由谁回答，再交给它第一个任务。所有内容都留在这台服务器上。",
  greeting: "要做什么？",
  demoAnswers: "现在由演示模型回答：它是按固定规则运行的小程序，不是人工智能；它调用的工具是真实的。",
  modelAnswers: (p) => `由 ${p.server} 上的 ${p.model} 回答。`,
  connect: "连接模型",
  stepModel: "1. 模型",
  looking: "正在查找本机上的模型…",
  demoNow: "现在由演示模型回答：按固定规则运行，不是人工智能。它不需要密钥，可以直接开始。",
  modelNow: (p) => `由 ${p.server} 上的 ${p.model} 回答。`,
  noneFound: "本机上没有找到模型服务（Ollama、LM Studio、llama.cpp、vLLM）。",
  lookAgain: "再找一次",
  foundOn: (p) =>
    [
      `${p.kind}：${p.baseUrl}`,
      p.windowTokens === undefined ? "窗口大小未知" : `窗口 ${count(p.windowTokens)} 个 token`,
      p.tools === undefined ? "是否支持工具未知" : p.tools ? "支持工具" : "不支持工具",
    ].join(" · "),
  useThis: "使用这个",
  withKey: "使用服务商的密钥",
  onlyAdmin: "模型由这台服务器的管理员填写，请联系他们。",
  stepTry: "2. 第一个任务",
  tryAbout: "使用自带的小文件，每个都不到一分钟。",
  toEmptyChat: "或者从空白对话开始",
  examplesTitle: "示例",
  starting: "正在开始…",
  examples: {
    chart: { title: "把表格变成图表", about: "sales.csv：一家茶叶店一年的销售", message: "#sales.csv" },
    search: { title: "搜索文档", about: "中英文两份员工手册", message: "在我的文件里搜索年假" },
    approval: { title: "看看智能体如何先询问", about: "删除 notes.txt 需要您批准", message: "删除 notes.txt" },
  },
};
