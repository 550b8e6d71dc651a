import type { StorageFault } from "./en-failures.ts";
import type { enHttpAdvice } from "./en-http-advice.ts";
import { lackTexts } from "./en-sandbox-failures.ts";
import { zhSandbox } from "./zh-sandbox.ts";

const ask = (what: string) => `请联系运维人员${what}。`;
const doctor = ask("运行 `agentyard doctor` 查看原因");
const elsewhere = "更换数据目录";
const storageMends: Readonly<Record<StorageFault, string>> = {
  damaged: "从备份恢复数据",
  io: "检查数据目录所在的磁盘",
  removed: "结束服务器，恢复备份后重新启动",
  foreign: elsewhere,
  not_a_file: elsewhere,
  place: elsewhere,
  no_wal: elsewhere,
};

export const zhHttpAdvice: typeof enHttpAdvice = {
  internal: () => "请重试。如果仍然出错，请把这个编号告诉运维人员：日志文件中有详情。",
  forbidden_origin: (p) =>
    p.host === undefined
      ? `如果信任该网站，${ask("把它写入 agentyard.yaml 的 `server.allowed_origins`")}`
      : `如果这是它的名称，${ask("把它写入 agentyard.yaml 的 `server.trusted_hosts`")}否则请用数字地址访问。`,

  conversation_not_found: () => "请列出您的对话，并使用其中的编号。",
  conversation_ambiguous: () => "请多给出几位对话编号。",
  decision_not_found: () => "GET /api/v1/decisions 可以查看待处理的决定。",
  decision_already_made: () => "GET /api/v1/decisions 可以查看待处理的决定。",
  decision_broken: () => ask("用 `agentyard doctor` 检查决定的记录"),
  answer_required: () => "请给出回答。",
  compaction_off: () => `请开始新对话。如果需要很长的对话，${ask("设置 CONTEXT_MANAGEMENT_ENABLED=true")}`,
  budget_short: () => "请减少用量，等其他智能体结束，或提高对话的预算。",
  budget_spent: (p): string =>
    p.of === "turn" ? "再发一条消息即可继续；每个回合有各自的预算。" : "请提高对话的预算，或开始新对话。",
  price_unknown: () => "请改为限制 token。若要按金额计算，请让本服务器的运维人员在 `prices` 中填写它的价格。",
  context_exhausted: () => "请撤销最后一个回合并改短消息，换用窗口更大的模型，或者开始新对话。",
  skill_not_found: (p) =>
    p.near === "" ? "GET /api/v1/skills 列出全部技能。" : `是否指 ${p.near}？GET /api/v1/skills 列出全部技能。`,
  rule_not_found: () => "GET /api/v1/rules 可以查看始终允许的内容。",
  rules_full: () => "请用 DELETE /api/v1/rules/{rule} 收回不再需要的规则，或只批准这一次。",
  memory_full: () => "请先用 DELETE /api/v1/memory/{memory} 忘记不再成立的一条。",
  memory_not_found: () => "GET /api/v1/memory 可以查看全部。",
  memory_secret: () => "请去掉其中的密码或密钥再发送。",
  nobody_to_ask: () => "GET /api/v1/decisions 可以查看并作出决定。",

  path_traversal_blocked: () => "请用不含 `..` 的相对路径指定这个对话的文件，例如 uploads/data.csv。",
  too_large: (p) =>
    p.setting === "" ? "请使用小一些的文件。" : `请使用小一些的文件，或${ask(`在 agentyard.yaml 中调高 ${p.setting}`)}`,
  quota_exceeded: (p) => `请删除不再需要的文件，或${ask(`在 agentyard.yaml 中调高 ${p.setting}`)}`,
  files_in_trash: () =>
    "GET /api/v1/workspaces/trash 可以查看编号；POST /api/v1/workspaces/trash/{id}/restore 可以恢复。",
  trash_not_found: () => "GET /api/v1/workspaces/trash 可以查看回收站。",

  mcp_server_failed: (p) =>
    ({
      ...{ start: ask("检查这个 MCP 服务器及其设置"), http: ask("检查这个 MCP 服务器及其设置") },
      ...{ network: `请重试，或${ask("检查这个 MCP 服务器")}`, protocol: ask("检查这个 MCP 服务器") },
      ...{ time: "请重试。", closed: "请重试。", refused: "请看它的说明，换一种方式请求。" },
      ended: "再次请求之前，请先确认事情是否已经完成；下一次调用会重新启动它。",
      paused: "请稍后重试，或用 POST /api/v1/mcp/servers/{server}/restart 重新启动它。",
    })[p.why],
  mcp_server_not_found: () => "GET /api/v1/mcp/servers 可以查看现有的服务器。",
  mcp_sign_in_needed: () => "POST /api/v1/mcp/servers/{server}/sign-in 会给出登录链接。",
  mcp_no_sign_in: () => "直接使用即可。",

  sandbox_unavailable: (p) => `运维人员可以这样解决：${lackTexts(zhSandbox.lacks, p)[1]}`,
  sandbox_start_failed: (p) => `请重试。如果仍然不行，${p.why === "broke_down" ? ask("报告日志文件中的细节") : doctor}`,
  sandbox_session_create_failed: () => `请不带文件发送消息，或${doctor}`,
  sandbox_busy: (p) => `请在 ${p.retryAfterSeconds} 秒后重试，或${ask(`在 agentyard.yaml 中调大 ${p.setting}`)}`,
  packages_not_configured: (p) => ask(`在 agentyard.yaml 中设置 ${p.setting}`),
  package_index_refused: (p) =>
    `请不要填写 python_package_index_url，或${ask(`在 agentyard.yaml 中修改 ${p.setting}`)}`,
  installer_missing: (p) => ask(p.manager === "pip" ? "安装 python3-pip" : "在 /usr 下安装 npm"),

  secret_key_unusable: () => ask("检查已保存密文的密钥（AGENTYARD_KEY，或数据目录中的 `key` 文件）"),
  secret_sealed: (p) => (p.why === "damaged" ? "请重新发送。" : `请重新发送，或${ask("恢复当时使用的密钥")}`),

  sign_in_link_used: () => ask("生成新的链接：`agentyard user link NAME`"),
  scope_missing: (p) => ask(`生成一个：\`agentyard user key add NAME --scope ${p.scope}\``),
  user_exists: () => "GET /api/v1/users 可以查看所有用户。",
  user_unknown: (p) => (p.as === undefined ? "GET /api/v1/users 可以查看所有用户。" : `请填写 ${p.as}，或者不填。`),
  keys_full: () => "请收回不再使用的密钥：GET /api/v1/users/{user}/keys 会显示每个密钥的最近使用时间。",
  key_not_found: () => "GET /api/v1/users/{user}/keys 可以查看所有密钥。",
  sign_in_as_taken: () =>
    "如果此人仍被拒绝：已有 API 密钥的用户不会移交，请先用 DELETE /api/v1/users/{user}/keys/{key} 收回密钥。",
  proxy_unnamed: () =>
    ask("先添加用户（agentyard user add NAME），并在 agentyard.yaml 的 `server.trusted_proxies` 中写明该代理"),

  storage_busy: () => `请重试。如果仍然不行，${ask("关闭正在使用 sessions.db 的程序")}`,
  storage_full: () => `已经确认保存的内容都是安全的。${ask("清理出一些空间，然后重试")}`,
  storage_read_only: () => ask("恢复数据目录的写权限"),
  storage_broken: (p) => ask(storageMends[p.why] ?? storageMends.damaged),
  storage_newer: () => ask("升级 AgentYard"),
  database_away: () => `请重试。如果仍然不行，${ask("确认数据库服务器正在运行")}`,
  database_unusable: () => doctor,
  database_not_set: () => doctor,
  database_not_empty: () => doctor,
  files_elsewhere: () => doctor,

  model_auth: () => ask("检查 API 密钥，并确认它有权使用这个模型"),
  model_quota: () => `请换一个模型，或${ask("充值")}`,
  model_overloaded: () => "请过一会儿再发送，或者换一个模型。",
  model_context_overflow: () => "请开始新对话，或者换一个上下文更长的模型。",
  model_not_found: () => ask("检查模型名称和服务地址"),
  model_bad_request: (p) =>
    ask(p.because === "unsendable" ? "检查 API 密钥和服务地址" : "用 `agentyard model test` 检查这个模型的设置"),
  model_network: () => `请重新发送。如果仍然不行，${ask("检查服务地址，以及模型服务是否在运行")}`,
  model_protocol: (p) => {
    switch (p.because) {
      case "no_choice":
      case "not_json":
        return "请重新发送；如果仍然不行，请换一个模型。";
      case "too_long":
      case "too_many_calls":
        return "请减少一次要求的内容，或者换一个模型。";
      case "redirected":
        return ask("在那个地址正确时把它设为服务地址");
      default:
        return ask("确认服务地址指向 OpenAI 兼容接口（通常以 /v1 结尾）");
    }
  },
  turn_crashed: () => "请换一种说法重新发送；运维人员可以在日志文件中查看详情。",
};
