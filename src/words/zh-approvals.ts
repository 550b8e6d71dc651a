import type { ApprovalCommandWords, ApprovalWords } from "./en-approvals.ts";

export const zhApprovals: ApprovalWords = {
  found: {
    delete: (p) => `会删除 temp/ 以外的内容：${p.what}`,
    change_upload: (p) => `会写入 uploads/：${p.what}`,
    secret: (p) => `其中含有密码或密钥：${p.what}`,
    credentials: (p) => `会读取密码或密钥：${p.what}`,
    database: (p) => `会删除数据库中的数据：${p.what}`,
    network: (p) => `会访问网络：${p.what}`,
    packages: (p) => `会安装软件包：${p.what}`,
    privilege: (p) => `会提升权限或脱离所在环境：${p.what}`,
    run_unseen: (p) => `会运行没有人看过的内容：${p.what}`,
    unreadable: (p) => `从文本看不出会运行哪个命令：${p.what}`,
    not_safe: (p) => `不在安全命令列表中：${p.what}`,
    lasting: (p) => `读过外来文本之后，要为以后的对话保留内容：${p.what}`,
    mcp: (p) => `读过外来文本之后，可能通过 MCP 服务器改动内容：${p.what}`,
    checker_broke: (p) => `检查程序出错，没有给出答复：${p.what}`,
    checker_slow: (p) => `检查程序耗时太长，没有给出答复：${p.what}`,
    checker_unclear: (p) => `检查程序的答复既不是 undefined，也不是 { action, risk, reason }：${p.what}`,
    rule: (p) => `本系统有一条相关规则：${p.what}`,
  },
  verdict: {
    nothing: () => "没有需要确认的内容",
    allowed: (p) => (p.source === "" ? "已被允许" : `已被 ${p.source} 允许`),
    more: (p) => `另有 ${p.count} 项`,
  },
  checker: {
    noDefinition: () => "它的默认导出不是 { tool, check }",
  },
};

export const zhApprovalsCommand: ApprovalCommandWords = {
  usage: {
    actionUnknown: (p) => `approvals 没有“${p.value}”这个操作，可用：${p.known}`,
    testNeeds: () =>
      `approvals test 需要工具名和参数，例如：agentyard approvals test run_bash_command '{"command":"ls"}'`,
    revokeNeeds: () => "approvals revoke 需要规则的编号，用 `agentyard approvals rules` 查看",
    factsUnfit: (p) =>
      `${p.file} 不是可用的事实文件：${p.why}；应写成 {"contained": true, "network": false, "tainted": false}`,
  },
  verdict: { allow: "✓ 无需确认，直接执行", ask: "? 需要有人确认", deny: "✗ 一律不执行" },
  risk: (p) => `风险：${p.risk}`,
  layer: {
    checker: "本系统的检查程序",
    global: "针对所有工具的模式",
    tool: "该工具的规则",
    default: "默认规则",
    always: "您保存的规则",
  },
  saidBy: (p) => `依据：${p.layer}`,
  reason: (p) => `原因：${p.reason}`,
  source: (p) => `（${p.source}）`,
  nothing: "没有需要确认的内容",
  rulesHint: () => "用 `agentyard approvals revoke ID` 收回一条。",
  listHint: () => "运行 `agentyard` 并输入 /inbox 来答复。",
};
