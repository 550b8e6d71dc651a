import type { enMcpFailures, FormWanted, McpFault } from "./en-mcp-failures.ts";

const faults: Readonly<Record<McpFault, readonly [what: string, next: string]>> = {
  start: ["无法启动", "请检查 mcp_servers.yaml 中的 `command` 和 `args`；它的输出在日志文件中。"],
  ended: ["它中途退出或断开了连接", "再次请求之前，请先确认事情是否已经完成；下一次调用会重新启动它。"],
  time: ["没有及时答复", "请重试，或在 mcp_servers.yaml 中调大 `startup_timeout`。"],
  network: ["无法连接", "请检查 mcp_servers.yaml 中的 `url`，并确认它在运行，然后重试。"],
  http: ["返回了 HTTP 错误", "请检查 mcp_servers.yaml 中的 `url` 和 `headers`。"],
  refused: ["它拒绝了", "请看它的说明，换一种方式请求。"],
  protocol: ["它的答复无法理解", "请确认它是 MCP 服务器，并看看有没有更新的版本。"],
  closed: ["它正在停止", "请重试。"],
  paused: ["它接连失败，暂时不再调用", "请稍后重试，或用 /mcp 重新启动它。"],
};

const wanted: Readonly<Record<FormWanted, string>> = {
  missing: "这一项需要填写",
  text: "需要文字",
  number: "需要数字",
  integer: "需要整数",
  boolean: "需要是或否",
  choice: "需要其中一个选项",
  choices: "需要其中的选项，用逗号隔开",
};

export const zhMcpFailures: typeof enMcpFailures = {
  mcp_server_failed: (p) => {
    // A later version may have written down a cause that this one does not know.
    const [what, next] = faults[p.why] ?? faults.protocol;
    return [`MCP 服务器 ${p.server} 没有完成：${what}${p.said === "" ? "" : `（${p.said}）`}。`, next];
  },
  mcp_server_not_found: (p) => [
    `没有 MCP 服务器 ${p.server}。`,
    p.near === "" ? "请先写进 mcp_servers.yaml。" : `现有：${p.near}。`,
  ],
  mcp_sign_in_needed: (p) => [`MCP 服务器 ${p.server} 需要您登录。`, `请用 /mcp sign-in ${p.server} 登录，然后再试。`],
  mcp_sign_in_failed: (p) => [
    `登录 MCP 服务器 ${p.server} 没有成功：${p.said}。`,
    "请用新的链接重新开始；每个链接只能用一次。",
  ],
  form_answer_unfit: (p) => [
    `答复不符合 ${p.field}：${wanted[p.why]}。`,
    '请用 JSON 对象回答，例如 {"name": "value"}，或者每行写一个 name: value。',
  ],
  mcp_no_sign_in: (p) => [
    `MCP 服务器 ${p.server} 不需要登录。`,
    "直接使用即可；它需要的内容写在 mcp_servers.yaml 中。",
  ],
  mcp_full: (p) =>
    p.what === "calls"
      ? [`您有 ${p.limit} 个调用正在进行，已达上限。`, "请等其中一个结束后再调用。"]
      : [`您打开了 ${p.limit} 个 MCP 连接，已达上限，而且都在使用中。`, "请结束其中一个后再连接。"],
};
