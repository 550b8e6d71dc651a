import type { BackupFault, BrokenBackupFault, enServeFailures } from "./en-serve-failures.ts";

export const zhServeFailures: typeof enServeFailures = {
  sign_in_required: (p) => [
    p.key === undefined ? "尚未登录。" : "这个 API 密钥无法识别：可能输错、过期或已被收回。",
    `请发送${p.key === undefined ? " API 密钥（Authorization: Bearer …）" : "另一个密钥"}，或在 ${p.page ?? "/sign-in"} 登录。`,
  ],
  sign_in_failed: () => ["用户名与密码不匹配。", "请检查后重试。"],
  sign_in_link_used: () => ["这个链接已使用或已过期。", "用 `agentyard user link NAME` 生成新的链接。"],
  scope_missing: (p) => [
    `这个密钥不能用于此操作：缺少权限 ${p.scope}。`,
    `用 \`agentyard user key add NAME --scope ${p.scope}\` 生成一个。`,
  ],
  page_forged: () => ["请求不是来自本服务器的页面。", "请重新加载页面后再试。"],
  rate_limited: (p) => ["请求过多。", `请等待 ${p.retryAfterSeconds} 秒后重试。`],
  user_exists: (p) => [`用户 ${p.id} 已存在。`, "用 `agentyard user list` 查看所有用户。"],
  user_unknown: (p) =>
    p.as === undefined
      ? [`没有用户 ${p.id}。`, "用 `agentyard user list` 查看所有用户。"]
      : [`这个密钥或登录代表 ${p.as}，而不是 ${p.id}。`, `请填写 ${p.as}，或者不填。`],
  user_id_unfit: (p) => [`${p.id} 不能作为用户名。`, "请使用 1 到 48 个英文字母（A–Z、a–z）、数字或 . _ @ -。"],
  password_unfit: (p) => ["密码太短。", `请至少使用 ${p.charactersMin} 个字符。`],
  keys_full: (p) => [
    `该用户已有 ${p.max} 个 API 密钥。`,
    "请收回不再使用的密钥：`agentyard user key list NAME` 会显示每个密钥的最近使用时间。",
  ],
  key_not_found: (p) => [`没有 API 密钥 ${p.id}。`, "用 `agentyard user key list NAME` 查看所有密钥。"],
  sign_in_service_failed: (p) => [
    `登录服务未能完成：${p.why}。`,
    "请重试，或请运维人员检查 agentyard.yaml 中的 `server.oidc`。",
  ],
  sign_in_expired: () => ["登录用时过长，或是在另一个浏览器中开始的。", "请回到 /sign-in 重新开始。"],
  sign_in_stranger: (p) => [
    `${p.name} 不是这里的用户。`,
    `请联系运维人员添加（agentyard user add NAME --sign-in-as …），登录服务中的身份为 ${p.signInAs}`,
  ],
  sign_in_as_taken: (p) => [
    `用户 ${p.id} 已为登录服务中的这个人保留。`,
    "如果此人仍被拒绝：已有 API 密钥的用户不会移交，请先用 `agentyard user key remove` 收回密钥。",
  ],
  proxy_unnamed: () => [
    "这个请求经过代理，而这里还没有任何用户：无法分辨来者是谁。",
    "请先添加用户：agentyard user add NAME；并在 agentyard.yaml 的 `server.trusted_proxies` 中写明该代理。",
  ],
  users_needed: (p) => [
    `在 ${p.host} 上无法区分使用者：还没有任何用户。`,
    "请先添加用户：agentyard user add NAME。在 127.0.0.1 上则不需要。",
  ],
  request_unreadable: (p) => [
    {
      headers: "请求头过长。",
      slow: "请求未能及时到达。",
      syntax: "这不是 HTTP 请求。",
      broken_off: "请求在结束前中断了。",
    }[p.why],
    {
      headers: "请重新发送，请求头不超过 32 KiB。",
      slow: "请重新发送，中途不要停顿。",
      syntax: "请以 HTTP/1.1 重新发送。",
      broken_off: "请完整地重新发送。",
    }[p.why],
  ],
  home_away: (p) => [
    "负责这个对话的服务器没有应答。",
    `稍后会由另一个服务器接管：请在 ${p.retryAfterSeconds} 秒后重试。已确认的内容是安全的。`,
  ],
  peer_unknown: () => ["这个入口只供本安装的其他服务器使用。", "请把请求发送到服务器对外的地址。"],
  already_served: (p) => [
    `AgentYard 已在 ${p.address} 提供服务（进程 ${p.pid}）。`,
    "请直接使用它，先结束那个进程，或者用 --data 指定其他数据目录。",
  ],
  not_ready: (p) =>
    p.why === "passing"
      ? ["服务器尚未就绪：目前无法使用其数据。", "请稍后重试。"]
      : [
          "服务器无法继续工作：数据库已损坏，或在打开期间被删除或替换。",
          "请结束服务器，恢复备份或移走剩余的数据，然后重新启动。",
        ],
  data_missing: (p) => [
    `${p.path} 中没有 AgentYard 的数据。`,
    "请检查 --data；没有新建任何内容。`agentyard serve` 或聊天会新建数据。",
  ],
  data_unusable: (p) => [`无法创建或使用文件夹 ${p.path}。`, "请用 --data 指定其他目录，或为当前用户加上写权限。"],
  restore_unfinished: (p) => [
    `恢复到 ${p.path} 的操作中途中断了。`,
    `请重新运行：agentyard restore FILE --replace。${p.keptAt === "" ? "" : `原有内容保存在 ${p.keptAt}。`}如果要从空目录开始，请删除其中的 restoring-…。`,
  ],
  backup_failed: (p) => [`备份未完成：${backupFaults[p.why]}。`, `没有留下任何文件。${backupDeeds[p.why]}然后重试。`],
  backup_exists: (p) => [`文件 ${p.path} 已存在。`, "请换一个名称，或先删除它。"],
  backup_broken: (p) => [`这个备份无法使用：${brokenBackupFaults[p.why]}。`, "没有任何改动。请使用其他备份。"],
  backup_newer: (p) => [
    `这个备份由更新版本的 AgentYard 创建（格式 ${p.found}；本版本最高支持 ${p.known}）。`,
    "没有任何改动。请用那个版本恢复。",
  ],
  restore_failed: (p) => [
    `备份未能恢复：${backupFaults[p.why]}。`,
    p.keptAt === undefined
      ? `原有内容没有改动。${backupDeeds[p.why]}然后重试。`
      : `原有内容保存在 ${p.keptAt}，未能移回。${backupDeeds[p.why]}然后用 --replace 重新恢复，或将其移回。`,
  ],
  restore_not_empty: (p) => [
    `数据目录 ${p.path} 不是空的。`,
    "请恢复到空目录（--data DIR），或加上 --replace，把现有内容改名保留。",
  ],
};

const backupFaults: Readonly<Record<BackupFault, string>> = {
  no_folder: "文件夹不存在",
  full: "磁盘已满",
  read_only: "该位置不可写入",
  broken_off: "服务器中断了传输",
  io: "磁盘报告错误",
  unequal: "写入的内容与读回的内容不一致",
};

const backupDeeds: Readonly<Record<BackupFault, string>> = {
  no_folder: "请先创建该文件夹，或指定其他文件夹，",
  full: "请先腾出一些空间，或换一个磁盘，",
  read_only: "请先为当前用户加上该位置的写权限，或换一个位置，",
  broken_off: "请先查看服务器是否仍在运行以及它的日志，",
  io: "请先检查磁盘，",
  unequal: "请先检查磁盘，或换一个磁盘，",
};

const brokenBackupFaults: Readonly<Record<BrokenBackupFault, string>> = {
  no_file: "没有这个文件",
  no_backup: "它不是 AgentYard 的备份",
  unreadable: "无法读取该文件",
  cut: "它的结尾缺失",
  changed: "它被修改过或已损坏",
  unsafe: "其中有指向数据目录之外的名称",
  database: "其中的数据库已损坏",
};
