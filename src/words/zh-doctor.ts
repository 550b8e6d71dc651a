import type { enDoctor } from "./en-doctor.ts";

export const zhDoctor: typeof enDoctor = {
  title: (p) => `本机上的 AgentYard ${p.version}`,
  program: (p) => `Node ${p.node}，${p.system}`,
  data: (p) => `数据目录：${p.folder}（剩余 ${p.free}）`,
  dataNew: (p) => `数据目录：${p.folder}，首次启动时创建（剩余 ${p.free}）`,
  dataReadOnly: (p) => [`数据目录无法写入：${p.folder}。`, "请给当前用户写权限，或用 --data 另选一个目录。"],
  dataOpen: (p) => `本机其他用户可以查看数据目录（权限 ${p.mode}）。`,
  spaceLow: (p) => [`磁盘只剩 ${p.free}。`, "请腾出一些空间；对话、文件和沙箱都需要它。"],
  shared: (p) => [
    `本机还有 ${p.count} 个其他人的账号；监听回环地址的服务器对他们也是开放的。`,
    "终端不受影响：它的套接字只有您能用。只在信任这些人时才启动 `agentyard sandbox`。",
  ],
  databaseNew: () => "数据库：首次启动时创建",
  database: (p) => `数据库可以打开（格式 ${p.format}）`,
  databaseServer: (p) =>
    p.format === undefined
      ? `数据库：PostgreSQL ${p.server} 可以连接；数据表在首次启动时创建`
      : `数据库可以在 PostgreSQL ${p.server} 上打开（格式 ${p.format}）；${
          p.living.length === 0 ? "没有服务器在使用" : `${p.living.length} 个服务器正在使用：${p.living.join("、")}`
        }`,
  databaseInUse: (p) => `数据库可以打开（格式 ${p.format}）；进程 ${p.pid} 正在使用`,
  record: (p) => (p.count === 0 ? "决定的记录：还没有" : `决定的记录：已核对 ${p.count} 条，全部相符`),
  recordBroken: (p) => [
    `对话 ${p.conversation} 的事件 ${p.seq} 处，决定的记录不相符：${p.what}。`,
    "有 AgentYard 以外的东西改动过数据库。请与备份比较；`agentyard log` 可以打印该对话。",
  ],
  ruleUnknown: (p) => [
    `规则 ${p.rule} 始终允许某些操作，但没有任何记录在案的决定这样说过。`,
    "有 AgentYard 以外的东西改动过数据库。用 `/rules` 可以列出并收回规则。",
  ],
  recordMore: (p) => [
    `还有 ${p.count} 处记录不相符。`,
    "数量太多，不再逐一列出：请恢复此前的备份，或者把备份与 `agentyard log` 打印的各个对话比较。",
  ],
  recordFault: {
    unreadable: "无法读取",
    unknown_type: "没有这种事件",
    time_changed: "它并不是在这个时间发生的",
    made_missing: "智能体继续了，但缺少相关的决定",
    conversation_missing: "没有这个对话",
    asked_changed: "所问的内容与当时存下的不同",
    made_changed: "决定或其所问的内容与当时存下的不同",
    bytes_differ: "所针对的参数与当时显示的不同",
    asked_missing: "缺少其所问的内容",
    made_twice: "此前已经决定过",
    broken_link: "它前面的决定不是它所指的那一个：有一条被改动、移动或删除",
    event_missing: "缺少这个编号的事件",
  },
  skills: (p) => `技能：${p.count} 个可用`,
  skillUnfit: (p) => [`技能 ${p.place}：${p.what}`, p.instead],
  tool: (p) => `工具：${p.tool}（${p.file}），在沙箱之外运行`,
  brokenTool: (p) => [
    `工具：${p.file}${p.line === undefined ? "" : `:${p.line}`} 无法使用：${p.why}`,
    "请修正该文件，或将其移出文件夹。",
  ],
  checker: (p) => `检查程序：${p.name}，会查看各个调用，在沙箱之外运行`,
  mcp: (p) => `MCP 服务器 ${p.id}：${p.what}；第一次使用时启动`,
  mcpMissing: (p) => [
    `MCP 服务器 ${p.id}：没有 ${p.what} 这个程序。`,
    "请安装它，或改正 mcp_servers.yaml 中的 `command`；可以写完整的路径。",
  ],
  model: (p) => `${p.slot} 的模型：${p.model}（${p.server}）；用 \`agentyard model test\` 试一试`,
  modelDemo: () => [
    "还没有接入模型；由演示模型回答，它不是 AI。",
    "请在 .env 中写入 MODEL_BASIC_API_KEY、MODEL_BASIC_BASE_URL 和 MODEL_BASIC_ID；`agentyard model` 会查找本机的模型服务器。",
  ],
  embedding: (p) => `文档搜索：按词语和语义，使用 ${p.model}（${p.server}）`,
  embeddingNone: () =>
    "文档搜索：按词语（在 .env 中设置 MODEL_EMBEDDING_… 可加上语义；见 docs/use/documents.zh-CN.md）",
  search: (p) => `网络搜索：${p.service}`,
  searchNone: () =>
    "网络搜索：未设置（在 .env 中设置 BRAVE_API_KEY 等密钥或 SEARXNG_URL 即可启用，参见 docs/use/web.md）",
  images: () => "工作区使用磁盘映像，各有独立的容量上限；已成功试挂载",
  sandbox: (p) => `代码在沙箱中运行（bubblewrap ${p.version}）`,
  pods: (p) =>
    `代码在 Kubernetes 的 Pod 中运行（命名空间 ${p.namespace}，镜像 ${p.image}${p.runtimeClass === undefined ? "" : `，RuntimeClass ${p.runtimeClass}`}）`,
  hosts: (p) => `代码在其他机器上运行（设置了 ${p.count} 台沙箱主机）`,
  container: (p) =>
    `代码在 Docker 容器中运行（镜像 ${p.image}${p.runtime === undefined ? "" : `，运行时 ${p.runtime}`}）`,
  python: (p) => (p.libraries === "" ? `Python ${p.version}` : `Python ${p.version}，带有 ${p.libraries}`),
  bash: (p) => `bash ${p.version}`,
  bashMissing: () => ["缺少 bash，无法运行 shell 命令。", "请安装 bash。"],
  javascript: (p) => `JavaScript：Node ${p.version}`,
  font: (p) => `图表中的中文：${p.family}`,
  fine: () => "一切就绪。",
  fit: (p) => `可以使用；有 ${p.count} 条建议。`,
  unfit: (p) => `缺少 ${p.count} 项必需的条件。`,
  fixHint: () => "`agentyard doctor --fix` 会运行上面的命令，每条都先询问。",
  fixNobody: () => "✗ --fix 每次更改前都要询问，而现在没有人可问。没有更改任何东西；命令如下：",
  fixNothing: () => "没有命令能改变以上情况。",
  ask: () => "要运行吗？[y/N] ",
  skipped: () => "没有运行。",
  ran: () => "✓ 完成",
  ranBadly: (p) => `✗ 以退出码 ${p.code} 结束。如果是找不到软件包，可先运行 \`apt-get update\`。`,
  lookAgain: () => "再看一遍：",
};
