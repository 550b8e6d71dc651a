import type { ChatCommandWords } from "./en-chat-commands.ts";

export const zhChatCommands: ChatCommandWords = {
  open: {
    how: () => "✗ 用法：/open PATH；/files 列出这个对话的文件。",
    opened: (p) => `✓ 正在打开 ${p.path}（副本：${p.to}）`,
    copied: (p) => `✓ ${p.path} 已复制到 ${p.to}；这里没有可以打开它的程序。`,
    onlyCopied: (p) => `✓ ${p.path} 已复制到 ${p.to}。不会自动打开：它可能是会执行操作的程序或网页。`,
    isFolder: (p) => `✗ ${p.path} 是文件夹；用 /save ${p.path} 复制整个文件夹。`,
    tooLarge: (p) => `✗ ${p.path} 有 ${p.size}；用 /save ${p.path} 复制。`,
  },
  branch: {
    nothing: () => "✗ 这里还没有可以作为分支起点的内容。",
    how: () => "✗ 用法：/branch，或用 /branch N 从第 N 个回合之后继续。",
    noTurn: (p) => `✗ 这里没有已结束的第 ${p.turn} 个回合；共有 ${p.count} 个。`,
    made: (p) => `✓ ${p.from} 的分支：${p.id}；/load ${p.from} 返回原来的对话。`,
    leftOut: (p) => `! 这些文件没能复制：${p.files}`,
  },
  transcript: {
    nothing: () => "✗ 还没有可以导出的内容。",
    how: () => "✗ 用法：/export [-f] [FILE]：导出 Markdown；FILE 以 .jsonl 结尾则导出事件。",
    exists: (p) => `✗ ${p.path} 已存在；/export -f 会替换它。`,
    failed: (p) => `✗ 无法写入 ${p.path}：${p.why}`,
    written: (p) => `✓ 已写入 ${p.path}（${p.size}）`,
    title: (p) => `# ${p.title}`,
    about: (p) => `对话 ${p.id}，导出于 ${p.at}。`,
    person: "您",
    agent: "智能体",
    tool: (p) => `工具 \`${p.name}\`：${p.end}`,
  },
  lang: {
    now: (p) => `终端现在使用中文。用 /lang 加上其中之一可以切换：${p.known}。`,
    set: () => "✓ 终端现在使用中文。要一直使用：在 config/agentyard.yaml 中写 lang: zh，或设置 AGENTYARD_LANG=zh。",
    unknown: (p) => `✗ 这里没有“${p.value}”；可以用：${p.known}。`,
  },
  doctor: { elsewhere: () => "✗ 这里无法得知：请在那台机器上运行 `agentyard doctor`。" },
  connect: {
    connected: (p) => `主模型是 ${p.id}（${p.server}）。要换一个：`,
    test: () => "`agentyard model test` 可以试用：回答、流式输出、工具、用量。",
  },
  timeline: {
    nothing: () => "这里还没有运行过回合。",
    noTurn: (p) => `✗ 这里没有第 ${p.turn} 个回合；共有 ${p.count} 个。`,
    turn: (p) => `第 ${p.turn} 个回合：${p.duration}，${p.state}`,
    step: (p) => `第 ${p.step} 步：${p.model}`,
    usage: (p) => `输入 ${p.input}${p.cached === undefined ? "" : `（缓存 ${p.cached}）`}，输出 ${p.output}`,
    failed: (p) => `失败（${p.code}）`,
    waited: () => "等待决定",
    compacted: () => "压缩上下文",
    running: () => "仍在运行",
    sum: (p) => `模型 ${p.model} · 工具 ${p.tools} · 等待人 ${p.waits}`,
    outcome: { done: "完成", failed: "失败", cancelled: "已停止", limit: "达到步数上限", crashed: "已搁置" },
  },
};
