import type { enMcpServer } from "./en-mcp-server.ts";

export const zhMcpServer: typeof enMcpServer = {
  goesOn: () => "仍在进行",
  thinks: (p) => `第 ${p.step} 步`,
  calls: (p) => `调用 ${p.tool}`,
  asks: () => "等待决定",
  verdict: () => "决定",
  approve: () => "批准",
  reject: () => "拒绝",
  reason: () => "理由",
  reasonAbout: () => "拒绝时：想让智能体知道的内容",
  answer: () => "回答",
  howToDecide: () =>
    "由人来决定：在终端（`agentyard`）里用 /inbox，或通过 HTTP（POST /api/v1/conversations/ID/decisions/DECISION）。问题也可以用 answer_question 回答。之后调用 wait_for_answer。",
  notPassedOn: () => "所填的内容没有送到智能体，它仍在等待。请不要重新发送这条消息。",
  forPeople: () => "这次调用能否进行要由人决定，不能由其他软件决定：在终端（`agentyard`）里用 /inbox，或通过 HTTP。",
  running: () => "回合仍在进行。用 wait_for_answer 取得它的回答。",
  nothingSaid: () => "这个对话里还没有内容。",
  noConversations: () => "还没有对话。用 send_message 开始一个。",
  unsearched: ({ path, state, code = "" }) =>
    state === "failed"
      ? `${path} 无法搜索（${code}）：处理方法见 docs/api/failures.md。`
      : `${path} 仍在建立索引：请稍后再搜索。`,
  page: (page) => `第 ${page} 页`,
  slide: (slide) => `第 ${slide} 张幻灯片`,
  nothingFound: () => "没有找到。请换一些词，或少用几个词。",
  noFiles: () => "这里没有文件。",
  outcome: {
    done: "已完成。",
    failed: "回合失败。",
    cancelled: "回合已停止。",
    limit: "回合到达某个上限而结束。再发一条消息即可继续。",
    crashed: "回合多次中断，已放弃。再发一条消息即可继续。",
  },
  place: (p) => `conversation: ${p.conversation} · status: ${p.status}`,
  moreLines: (p) => `… 文件还没有完：用 offset ${p.next} 继续读取。`,
  noBase64: () => "内容不是 base64。请只用字母、数字、+ 和 / 重新发送，或以 utf-8 文本发送。",
  notShown: (p) => `${p.path}（${p.size}）不是可以在这里显示的文本。请作为资源读取。`,
  tooLarge: (p) =>
    `${p.path} 有 ${p.size}，而一个资源最多 ${p.max}。请用 read_file 分段读取，或通过 HTTP 下载（GET /api/v1/conversations/ID/files/content）。`,
  programGoesOn: (p) => `程序（${p.id}）仍在运行。`,
  batchTooLong: (p) => `Invalid Request: 一次最多发送 ${p.max} 条消息`,
  typed: () =>
    "这是供其他软件使用的 MCP 服务器：它从标准输入读取 JSON。按 Ctrl+C 结束；如何连接 IDE 见 docs/use/mcp.zh-CN.md。",
};
