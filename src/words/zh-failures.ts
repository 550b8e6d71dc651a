import type { AddressFault } from "../base/fault.ts";
import { clientFailures } from "./client-failures.ts";
import type { FailureWords, StorageFault } from "./en-failures.ts";
import { zhAgentFailures } from "./zh-agent-failures.ts";
import { zhBudgetFailures } from "./zh-budget.ts";
import { zhChatFailures } from "./zh-chat-failures.ts";
import { zhContextFailures } from "./zh-context-failures.ts";
import { zhDatabaseFailures } from "./zh-database-failures.ts";
import { zhDocumentFailures } from "./zh-document-failures.ts";
import { zhFileFailures } from "./zh-file-failures.ts";
import { zhMcpFailures } from "./zh-mcp-failures.ts";
import { modelTrouble } from "./zh-model-faults.ts";
import { zhOperatorFailures } from "./zh-operator-failures.ts";
import { zhSandboxFailures } from "./zh-sandbox-failures.ts";
import { zhSecretFailures } from "./zh-secret-failures.ts";
import { zhServeFailures } from "./zh-serve-failures.ts";
import { zhUploadFailures } from "./zh-upload-failures.ts";
import { zhWebFailures } from "./zh-web-failures.ts";

const rules = {
  conversation_id:
    "它由 1 至 64 个字母（A–Z、a–z）、数字和 . _ - 组成，以字母或数字开头，不含连续两个点，且不是 uploads、outputs、temp、skills 之一。",
  user_id: "它由 1 至 48 个字母（A–Z、a–z）、数字和 . _ @ - 组成。",
  env_vars: "名称与取值按 JSON 计算合计不超过 32 KiB。",
  event: "按 JSON 计算不超过 1 MiB。",
  depth: "数组和对象的嵌套不超过 200 层。",
  values: "其中的值不超过 600,000 个，成员名不超过 150,000 个。",
  cursor: "请原样发送从这个流的事件中收到的 id，或者不发送它。",
};

export const zhFailures: FailureWords = {
  ...zhBudgetFailures,
  ...zhContextFailures,
  ...zhChatFailures,
  ...zhServeFailures,
  ...zhFileFailures,
  ...zhSandboxFailures,
  ...zhUploadFailures,
  ...zhDocumentFailures,
  ...zhDatabaseFailures,
  ...zhWebFailures,
  ...zhSecretFailures,
  ...zhOperatorFailures,
  ...zhAgentFailures,
  ...zhMcpFailures,
  bad_request: (p) =>
    p.rule === "missing"
      ? [`请求内容不符合要求：${p.what}: 缺少或为空。`, "请补上后重新发送。"]
      : [`请求内容不符合要求：${p.what}。`, p.rule === undefined ? "请改正后重新发送。" : rules[p.rule]],
  bad_json: () => ["请求正文不是有效的 JSON。", "请发送 JSON 对象，并加上请求头 content-type: application/json。"],
  content_type_unfit: (p) => [
    p.type === "" ? "请求没有说明内容的类型。" : `这个地址不接受 ${p.type}。`,
    "请直接发送文件内容，并加上请求头 content-type: application/octet-stream。",
  ],
  body_too_large: (p) => [`请求正文超过了 ${p.limitBytes} 字节的上限。`, "请减少单次发送的内容。"],
  route_not_found: (p) => [`${p.path} 这个地址不存在。`, "可用的接口列表见 /api/v1/openapi.json。"],
  method_not_allowed: (p) => [`这个地址不支持 ${p.method}。`, `请使用：${p.allowed}。`],
  network: clientFailures.zh.network,
  answer_unreadable: clientFailures.zh.answer_unreadable,
  forbidden_origin: (p) =>
    p.host === undefined
      ? ["这个请求来自其他网站的页面，已拒绝。", "如果信任该网站，请写入 agentyard.yaml 的 `server.allowed_origins`。"]
      : [
          `这台服务器不叫“${p.host}”，已拒绝。`,
          "如果这是它的名称，请写入 agentyard.yaml 的 `server.trusted_hosts`；否则请用数字地址访问。",
        ],
  internal: (p) => [
    `AgentYard 内部出错了（错误编号 ${p.id}）。`,
    "请重试。如果再次出错，请在日志文件中按这个编号查看详情，并报告给开发者。",
  ],

  conversation_not_found: (p) => [`未找到对话：${p.id}。`, "输入 /sessions 可以查看所有对话。"],
  conversation_ambiguous: (p) => [`${p.prefix} 对应多个对话：${p.candidates}。`, "请多输入几位对话编号。"],
  conversation_exists: (p) => [`对话 ${p.id} 已经存在。`, "请换一个编号，或者继续那个对话。"],
  conversation_busy: (p) => [`对话 ${p.id} 中有回合正在进行。`, "请先停止它，或者等它结束。"],
  checkpoint_not_found: (p) => [`没有编号为 ${p.checkpoint} 的检查点。`, "请先列出这个对话的检查点，再从中选择。"],
  message_not_found: (p) => [
    `没有可用于此操作的消息 ${p.id}。`,
    "等待中的消息只能在它的回合开始之前撤回；要重新回答的消息必须在这个对话中。",
  ],
  turn_not_running: () => ["当前没有正在进行的回合。", "无需停止；发送消息即可开始新的回合。"],
  decision_not_found: (p) => [`没有待处理的决定 ${p.id}。`, "输入 /inbox 查看待处理的决定。"],
  decision_already_made: (p) => [`决定 ${p.id} 已经处理过了，结果是 ${p.verdict}。`, "输入 /inbox 查看待处理的决定。"],
  decision_verdict_unfit: (p) => [`这个决定的类型是 ${p.kind}。`, `请用以下方式之一回应：${p.verdicts}。`],
  answer_required: () => ["这里需要您的回答。", "请输入内容。"],

  fenced: () => ["这个对话已由另一个服务器接管。", "没有任何内容丢失；重新打开这个对话可以查看后续。"],
  log_moved: () => ["对话在此期间有了新内容。", "请查看后再试一次。"],
  storage_busy: () => ["数据库被另一个程序锁定了。", "请关闭正在使用 sessions.db 的程序，然后重试。"],
  storage_full: () => ["磁盘已满，无法继续保存。", "请清理出一些空间；已经确认保存的内容都是安全的。"],
  storage_read_only: () => ["数据目录无法写入。", "请为当前用户加上写权限，或者用 --data 指定其他目录。"],
  storage_broken: (p) => [
    `数据库无法使用：${storageFaults[p.why]?.what ?? p.why}${p.said === undefined ? "" : `（${p.said}）`}。`,
    storageFaults[p.why]?.next ?? storageFaults.damaged.next,
  ],
  storage_newer: (p) => [
    `这些数据由更新版本的 AgentYard 写入（数据格式为 ${p.found}，本程序最高支持 ${p.known}）。`,
    "请升级 AgentYard，或者用 --data 指定其他数据目录。",
  ],
  owner_unreachable: (p) => [
    `另一个 AgentYard（进程 ${p.pid}）正在使用这个数据目录，但没有回应。`,
    "请结束那个进程，或者用 --data 指定其他数据目录。",
  ],
  data_in_use: (p) => [
    `另一个 AgentYard（进程 ${p.pid}）正在使用这个数据目录。`,
    "请先结束那个进程（可能是一个还开着的终端），或者用 --data 指定其他数据目录。",
  ],
  address_unusable: (p) => [
    `无法监听 ${p.host}:${p.port}：${addressFaults[p.why]?.what ?? p.said}。`,
    p.free === undefined
      ? (addressFaults[p.why]?.next ?? "请用 --host 换一个地址，或用 --port 换一个端口。")
      : `请使用下一个空闲端口：agentyard serve --port ${p.free}`,
  ],
  owner_other_version: (p) => [
    `正在使用这个数据目录的 AgentYard 协议版本是 ${p.theirs}，本程序是 ${p.ours}。`,
    "请结束较旧的那个，再重新启动。",
  ],

  message_blank: () => ["消息是空的：其中没有可见字符。", "请先写些内容再发送。"],
  slot_unknown: (p) => [`没有名为 ${p.slot} 的模型槽位。`, `可用的槽位有：${p.known}。`],
  model_fixed: (p) => [
    `槽位 ${p.slot} 的模型在启动 AgentYard 的地方设置，以那里为准。`,
    `请在那里修改（${p.variable}），或在那里删除后再在这里填写。`,
  ],
  model_not_entered: (p) => [`槽位 ${p.slot} 没有填写过模型。`, "没有可以删除的内容。"],
  model_half_set: (p) => [`模型只配置了一部分。${p.what}`, "请补全配置；如果想用演示模型，请删除这些设置。"],
  model_auth: (p) => [
    `${p.server} 拒绝了用于 ${p.model} 的密钥：${p.said}`,
    "请检查 API 密钥，并确认它有权使用这个模型。",
  ],
  model_quota: (p) => [`${p.server} 提示账户余额不足或额度已用完：${p.said}`, "请充值，或者用 /model 换一个模型。"],
  model_rate_limit: (p) => [`${p.server} 提示请求过于频繁：${p.said}`, "请稍等片刻再重新发送。"],
  model_context_overflow: (p) => [
    `对话内容超出了 ${p.model} 的长度上限：${p.said}`,
    "请用 /new 开始新对话，用 /reset 重置，或者换一个上下文更长的模型。",
  ],
  model_not_found: (p) => [`${p.server} 上没有模型 ${p.model}：${p.said}`, "请检查 .env 中的模型名称和服务地址。"],
  model_bad_request: (p) =>
    modelTrouble(p, [`${p.server} 拒绝了这次请求：${p.said}`, "请用 `agentyard model test` 检查这个模型的设置。"]),
  model_overloaded: (p) =>
    modelTrouble(p, [`${p.server} 暂时无法回答：${p.said}`, "请过一会儿再发送，或者用 /model 换一个模型。"]),
  model_network: (p) =>
    modelTrouble(p, [
      `无法连接 ${p.server}，或者连接中断了：${p.said}`,
      "请检查服务地址、网络，以及服务是否在运行，然后重新发送。",
    ]),
  model_protocol: (p) =>
    modelTrouble(p, [
      `无法理解 ${p.server} 的回答：${p.said}`,
      "请确认服务地址指向 OpenAI 兼容接口（通常以 /v1 结尾）。",
    ]),
  turn_crashed: (p) => [
    `这个回合已经让程序意外退出 ${p.times} 次，现已搁置。`,
    "请换一种说法重新发送；详情见日志文件。",
  ],

  tool_not_found: (p) => [`没有名为 ${p.name} 的工具。`, `可以使用：${p.near}。`],
  tool_arguments_broken: (p) => [
    `${p.tool} 的参数不是${p.because === undefined ? `有效的 JSON：${p.why}` : " JSON 对象"}。`,
    "请以一个 JSON 对象重新发送。",
  ],
  tool_arguments_cut: (p) => [`${p.tool} 的参数因输出长度限制被截断了。`, "请减少单次的文本量，再调用一次。"],
  tool_arguments_unfit: (p) => [`${p.tool} 的参数不符合要求：${p.what}。`, `请发送：${p.form}。`],
  tool_failed: (p) => [`${p.tool} 失败：${p.said.replace(/[.\s]+$/, "")}。`, "请修改请求，或换一种方式。"],
  tool_crashed: (p) => [`${p.tool} 运行时出错了。`, "请换一种方式试试；详情见日志文件。"],
  tool_timeout: (p) => [`${p.tool} 运行超过 ${p.seconds} 秒，已停止。`, "请减少单次的工作量。"],
  tool_cancelled: (p) => [`${p.tool} 已被用户停止。`, "再次尝试前请先询问用户。"],
  tool_interrupted: (p) => [
    `${p.tool} 中途被打断，状态未知：可能已经生效，也可能没有。`,
    "请先查看实际情况，再决定是否重做。",
  ],
  tool_rejected: (p) => [`用户拒绝了 ${p.tool}${p.why}。`, "请不要换个形式再试；可以跳过这一步继续，或者询问用户。"],
  tool_not_run: (p) => [
    `${p.tool} 没有运行：${p.because === undefined ? p.why : notRun[p.because]}。`,
    "请根据已知信息回答。",
  ],
  tool_repeated: (p) => [
    `${p.tool} 已经第 ${p.times} 次以相同的参数调用，结果也相同。`,
    "这次没有再运行；请根据已知信息回答。",
  ],
  timezone_unknown: (p) => [
    `没有名为 ${p.zone} 的时区。`,
    "请使用 IANA 时区名称，例如 Asia/Shanghai 或 Europe/Berlin。",
  ],

  config_invalid: (p) => [`${p.file}:${p.line}：${p.what}。`, `${p.instead}。`],
  setting_invalid: (p) => [`${p.name} 的值是 ${p.value}，无法使用。`, `请改成：${p.instead}。`],
  usage: (p) => [
    `${p.what}。`,
    p.command === undefined
      ? "用 `agentyard --help` 查看可用的命令。"
      : `用 \`agentyard ${p.command} --help\` 查看用法。`,
  ],
  answer_unfit: (p) => [`回答不符合要求的 JSON Schema：${p.why}。`, "请重新运行、简化 schema，或换用更强的模型。"],
  nobody_to_ask: (p) => [
    `${p.tool} 需要有人确认，但现在没有人可以回应。`,
    "请运行 `agentyard`，然后输入 /inbox 处理。",
  ],
};

const notRun = { stopped: "这一回合已停止", paused: "进程停顿太久", steps: "已达到步数上限", budget: "预算已用完" };

const storageFaults: Readonly<Record<StorageFault, { readonly what: string; readonly next: string }>> = {
  damaged: { what: "文件已损坏，或者不是数据库", next: "请从备份恢复，或者用 --data 指定其他数据目录。" },
  io: { what: "磁盘报告错误", next: "请检查磁盘，然后重试，或者把备份恢复到其他磁盘。" },
  removed: {
    what: "它在使用期间被删除或替换",
    next: "请结束 AgentYard，恢复备份，然后重新启动。",
  },
  foreign: { what: "它属于其他程序", next: "请用 --data 指定其他数据目录；那个程序的文件没有被改动。" },
  not_a_file: { what: "它的位置被文件以外的东西占用", next: "请把占用的东西移走，或者用 --data 指定其他数据目录。" },
  place: { what: "路径无法使用", next: "请确认路径的每一部分都是文件夹，或者用 --data 指定其他数据目录。" },
  no_wal: { what: "这个文件系统不支持预写日志", next: "请用 --data 指定本地磁盘上的数据目录。" },
};

const addressFaults: Readonly<Record<AddressFault, { readonly what: string; readonly next: string } | undefined>> = {
  taken: { what: "端口已被其他程序占用", next: "请用 --port 换一个端口，或者结束占用它的程序。" },
  needs_root: { what: "1024 以下的端口需要 root", next: "请用 --port 选择更大的端口，由代理转发低端口。" },
  not_here: {
    what: "本机没有这个地址",
    next: "仅供本机使用请用 --host 127.0.0.1，所有地址请用 --host 0.0.0.0。",
  },
  unknown_name: { what: "无法识别这个名称", next: "请检查 --host：应为本机的地址或名称。" },
  other: undefined,
};
