import type { enExec, enHosting, enService } from "./en-exec.ts";

export const zhExec: typeof enExec = {
  codeMissing: () => "exec 需要代码：agentyard exec 'print(6*7)'、--file 路径，或通过标准输入提供",
  fileNoText: (p) => `${p.path} 不是 UTF-8 文本`,
  timedOut: (p) => `✗ 运行 ${p.seconds} 秒后已停止。可用 --timeout 延长。`,
  timedOutBySetting: (p) =>
    `✗ 运行 ${p.seconds} 秒后已停止：这里的程序最多运行这么久（sandbox.execution_seconds_max）。`,
  cancelled: () => "✗ 已停止。",
  endedBadly: (p) => `✗ ${p.why}`,
  noReason: () => "程序提前结束。",
  fileMade: (p) => `+ ${p.path}（${p.size}）`,
  fileChanged: (p) => `~ ${p.path}（${p.size}）`,
  fileRemoved: (p) => `- ${p.path}`,
  noConversation: () => "没有指明对话，因此没有文件，也不会保留文件：--conversation ID",
  outputMissing: (p) =>
    `! ${p.stream} 缺少 ${p.bytes} 字节：输出超过了保留的上限（sandbox.output_bytes_max）。${p.path === undefined ? "" : `保留的部分在 ${p.path}。`}`,
  overLimit: () => "! 工作区的内容已超过限额：请删除不再需要的文件。",
  fileOption: "运行这个文件中的代码",
  noteAboutCodes:
    "退出码即程序自身的退出码；用法错误为 2，配置有误为 3，超时为 124，无法运行为 125，被停止为 130，被终止为 137，因信号结束为 128 加信号编号。",
};

export const zhService: typeof enService = {
  notLoopback: (p) =>
    `--host 不能是“${p.host}”：这里不需要登录，只允许本机访问；请使用 127.0.0.1，或用 \`agentyard serve\` 供他人访问`,
  listening: (p) => `沙箱服务地址：${p.address}（数据目录：${p.data}）`,
  full: () => "本机运行代码时隔离与限制齐全。",
  degraded: (p) => `! 本机可以运行代码，但有 ${p.count} 项可以具备的条件缺失`,
  off: (p) => `✗ 本机无法运行代码：${p.reason}${p.fix}`,
  unknown: (p) => `! 无法确定本机的能力：${p.why}`,
  tellMore: () => "详情请运行 `agentyard doctor`。",
  howToEnd: () => "按 Ctrl+C 结束。",
};

export const zhHosting: typeof enHosting = {
  listening: (p) => `在 ${p.address} 为其他机器启动沙箱，最多 ${p.count} 个（共享文件：${p.files}）`,
  secretMissing: () =>
    "没有设置 AGENTYARD_SANDBOX_SECRET：请给本机和它的服务器设置同一段文字，至少 32 个字符（可用 openssl rand -hex 32 生成）",
  providerUnfit: (p) =>
    `本机的 sandbox.provider 是 ${p.provider}：沙箱主机须在自己的机器上启动沙箱，用 local 或 docker；只有服务器才设为 ${p.provider}`,
  tlsUnusable: (p) => `sandbox.host_tls 指向 ${p.folder}，其中的 cert.pem 和 key.pem 无法使用（${p.why}）`,
};
