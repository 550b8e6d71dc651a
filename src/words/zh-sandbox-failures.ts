import { type enSandboxFailures, lackTexts } from "./en-sandbox-failures.ts";
import { zhSandbox } from "./zh-sandbox.ts";

/** 运行代码时可能出的问题：发生了什么，可以怎么办。 */
export const zhSandboxFailures: typeof enSandboxFailures = {
  sandbox_unavailable: (p) => {
    const [reason, fix] = lackTexts(zhSandbox.lacks, p);
    return [`这台机器无法运行代码：${reason}`, fix];
  },
  sandbox_start_failed: (p) => [
    {
      start_failed: "沙箱无法启动。",
      start_timeout: "沙箱没有及时启动。",
      wrong_workspace: "沙箱没有启动：它看不到这个对话的文件。",
      broke_down: "沙箱没有启动：AgentYard 自身出了错。",
    }[p.why],
    p.why === "broke_down"
      ? "请重试；如果再次出错，请报告日志文件中的细节。"
      : "请重试；`agentyard doctor` 会说明问题，日志文件里有细节。",
  ],
  sandbox_full: (p) => ["这台机器现在没有余力再运行程序。", `请在 ${p.retryAfterSeconds} 秒后重试。`],
  sandbox_busy: (p) => [
    {
      running: `您正在运行的程序已达上限 ${p.limit} 个。`,
      waiting: `您有 ${p.limit} 个程序正在运行或等待，等待队列已满。`,
      sandboxes: `您正在使用的沙箱已达上限 ${p.limit} 个。`,
    }[p.kind],
    `请在 ${p.retryAfterSeconds} 秒后重试，或在 config/agentyard.yaml 中调大 ${p.setting}。`,
  ],
  streams_full: (p) => [`您同时打开的流已达上限 ${p.limit} 个。`, "请关闭其中一个，或改为查询状态。"],
  code_too_long: (p) => [
    `代码有 ${p.sizeBytes} 字节，上限是 ${p.limitBytes}。`,
    "请把它写进工作区的文件，再运行那个文件。",
  ],
  session_exists: (p) => [
    p.asked === undefined
      ? `沙箱会话 ${p.id} 已经存在。`
      : `每个用户只有一个沙箱会话，您的是 ${p.id}；无法再创建 ${p.asked}。`,
    p.asked === undefined
      ? "请直接使用它，先删除它，或创建时加上 if_exists=return。"
      : "请直接使用它，先删除它，或指明另一个用户：正文中的 user_id，或请求头 x-account-id。",
  ],
  session_of_another: (p) => [
    `沙箱会话 ${p.id} 属于 ${p.user} 以外的用户。`,
    `请不要填写标识，或使用 sb-session-${p.user}，或填写它所指的 user_id。`,
  ],
  session_not_found: (p) => [`没有沙箱会话 ${p.id}。`, "请用 POST /api/v1/sessions 创建。"],
  execution_not_found: (p) => [`没有执行记录 ${p.id}。`, "查看列表：GET /api/v1/executions/sessions/{id}/executions。"],
  execution_running: (p) => [
    p.why === "server_ends"
      ? `服务器正在结束，执行 ${p.id} 也随之结束。`
      : `执行 ${p.id} 在 ${p.seconds} 秒后仍未结束，它会继续运行。`,
    `稍后查询：GET /api/v1/executions/${p.id}/result。`,
  ],
  template_not_found: (p) => [`没有模板 ${p.id}。`, `请使用以下模板之一，或不填：${p.known}。`],
  packages_not_configured: (p) => [
    "无法安装软件包：没有配置软件包索引。",
    `请在 config/agentyard.yaml 中设置 ${p.setting}。`,
  ],
  packages_installing: () => ["此沙箱会话正在安装软件包。", "请等 dependency_install_status 表明已结束后再试。"],
  package_index_refused: (p) => [
    "只能从已配置的索引安装软件包。",
    `请不要填写 python_package_index_url，或在 config/agentyard.yaml 中修改 ${p.setting}。`,
  ],
  installer_missing: (p) => [
    `无法安装软件包：沙箱中没有 ${p.manager}。`,
    p.manager === "pip"
      ? "请为系统的 Python 安装它：apt-get install -y python3-pip"
      : "请在 /usr 下安装 npm：apt-get install -y npm",
  ],
  packages_failed: (p) => [
    {
      index: `软件包无法安装${p.said === "" ? "。" : `：${p.said}`}`,
      time: "软件包没有及时装完。",
      room: "软件包占用的空间超过限制，或磁盘即将用尽。",
      lost: "安装软件包时沙箱发生故障。",
      cancelled: "安装软件包时沙箱会话被结束。",
    }[p.why],
    {
      index: "请检查名称和版本，以及软件包索引是否可以访问。",
      time: "请用更长的 install_timeout 重试，最长 1800 秒。",
      room: "请减少软件包，或选择更小的。",
      lost: "请重试。",
      cancelled: "请重试。",
    }[p.why],
  ],
};
