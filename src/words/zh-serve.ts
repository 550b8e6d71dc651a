import type { enBackups, enServe, enUsers } from "./en-serve.ts";

export const zhServe: typeof enServe = {
  listening: (p) =>
    `AgentYard ${p.version} 服务地址：${p.address}${p.isEverywhere ? "，以及本机的其他所有地址" : ""}（数据目录：${p.data}）`,
  modelDemo: () => "模型：演示模型，不是 AI — 用 `agentyard model` 查看如何连接模型",
  browser: (p) => `浏览器：${p.address}/`,
  docs: (p) => `HTTP API：${p.address}/docs · OpenAI 兼容：${p.address}/v1`,
  terminal: (p) => `终端：${p.command}（在另一个窗口，使用同一份数据）`,
  noUsers: () => "访问者：仅限本机，无需登录；用 `agentyard user add NAME` 启用登录",
  users: (p) => `访问者：${p.count} 个用户，凭登录或 API 密钥；其他人会被拒绝`,
  signIn: (p) => `登录：${p.link}（仅可使用一次，${p.until} 前有效）`,
  howToEnd: () => "按 Ctrl+C 结束；未完成的工作会在下次启动时继续。",
  ending: () => "正在结束：运行中的回合会停在可以继续的位置。再按一次 Ctrl+C 立即结束。",
};

export const zhUsers: typeof enUsers = {
  none: () => "还没有用户：仅限本机访问，无需登录。用 `agentyard user add NAME` 添加。",
  columns: { user: "用户", role: "角色", password: "密码", added: "添加时间" },
  role: { admin: "管理员", user: "用户" },
  hasPassword: { yes: "有", no: "无" },
  added: (p) => `✓ 已添加用户 ${p.id}。访问者现在需要登录或使用 API 密钥。`,
  addedHow: (p) => `一次性登录链接：\`agentyard user link ${p.id}\` · API 密钥：\`agentyard user key add ${p.id}\``,
  addedFor: (p) => `登录服务中身份为 ${p.signInAs} 的人以 ${p.id} 登录，其他人不能。`,
  addedAdmin: (p) => `${p.id} 是管理员：可以添加、查看和删除用户。`,
  removedLast: () => "已没有任何用户：现在本机访问无需登录，其他访问会被拒绝。",
  removed: (p) => `✓ 已删除用户 ${p.id} 及其密钥和登录。对话会保留。`,
  passwordSet: (p) => `✓ 已设置 ${p.id} 的密码。此前登录的浏览器需要重新登录。`,
  passwordPrompt: () => "密码：",
  passwordPromptNone: () => "密码（留空表示不设）：",
  passwordAgain: () => "再输入一次：",
  passwordsDiffer: () => "两次输入的密码不同，没有任何改动",
  passwordMissing: () => "需要密码：请在终端中输入，或用 --password-stdin 从标准输入提供",
  link: (p) => `可让一个浏览器登录一次，${p.until} 前有效。`,
  linkPath: () => "请在前面加上服务器地址，例如 http://127.0.0.1:7420。",
  keyAdded: (p) => `✓ API 密钥 ${p.id}（${p.scopes}）。只显示这一次；持有它的人等同于您：`,
  noKeys: (p) => `${p.id} 没有 API 密钥。用 \`agentyard user key add ${p.id}\` 生成。`,
  keyColumns: { id: "编号", key: "密钥", label: "备注", scopes: "权限", used: "最近使用", ends: "到期" },
  never: "从不",
  ended: (p) => `已于 ${p.at} 失效`,
  keyRemoved: (p) => `✓ 已收回 API 密钥 ${p.id}，从现在起失效。`,
};

export const zhBackups: typeof enBackups = {
  made: (p) => `✓ 备份已写入 ${p.path}（${p.size}），并已读回核对`,
  what: (p) => `  ${p.conversations} 个对话，${p.files} 个文件`,
  leftOut: (p) =>
    `! 有 ${p.count} 个文件无法读取，未包含在内：${p.paths}。请给运行 AgentYard 的用户读取权限，或把它们移到较短的路径并使用普通名称，然后重新备份；也可以自行复制。`,
  changing: (p) => `! 一直在被写入，内容可能不完整：${p.paths}。请在写入它们的程序结束后重新备份。`,
  noKey: () => "! 已保存密文的密钥未包含在内：数据目录中没有 `key` 文件。如果密钥在 AGENTYARD_KEY 中，请自行保管。",
  restored: (p) => `✓ 已恢复到 ${p.path}，并已核对`,
  restoredThere: (p) => `✓ 已恢复到数据库服务器，文件恢复到 ${p.path}，并已核对`,
  moved: (p) => `✓ 已迁移到数据库服务器并核对：${p.conversations} 个对话，${p.events} 个事件`,
  stays: (p) =>
    `! 数据已迁移，但文件仍在原处：无法重命名 ${p.path}。请将其移走，否则未设置 AGENTYARD_DATABASE_URL 时会被当作当前数据。`,
  from: (p) => `  备份时间 ${p.at}，AgentYard ${p.version}`,
  kept: (p) => `  原有内容保存在 ${p.path}`,
  progress: {
    write: (p) => `… 已写入 ${p.size}`,
    compare: (p) => `… 已核对 ${p.size}`,
    read: (p) => `… 已读取 ${p.size}`,
  },
};
