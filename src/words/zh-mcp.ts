import type { enMcp } from "./en-mcp.ts";

export const zhMcp: typeof enMcp = {
  signedIn: (p) => `您已登录 MCP 服务器 ${p.server}，可以关闭此页面。`,
  notYet: (p) => `您已登录 MCP 服务器 ${p.server}，但它没有运行：${p.reason}`,
  none: () => "没有 MCP 服务器。它们写在 config/mcp_servers.yaml 中。",
  state: {
    off: "已关闭",
    configured: "尚未启动",
    known: "第一次使用时启动",
    starting: "正在启动",
    ready: "就绪",
    sign_in_needed: "需要您登录",
    failed: "失败",
  },
  left: {
    off: "已关闭",
    broken: "服务器对它的描述有误（inputSchema 不是对象的 schema）",
    name_taken: "名称已被占用",
    too_many: "工具太多",
  },
  server: (p) => `  ${p.id} · ${p.state} · ${p.count} 个工具`,
  reason: (p) => `    ${p.reason}`,
  tool: (p) => `    ${p.name}  ${p.about}`,
  leftOut: (p) => `    ✗ ${p.name}：${p.why}`,
  signInHint: (p) => `    /mcp sign-in ${p.id}`,
  hint: () =>
    "/mcp SERVER 显示它的工具 · restart、sign-in、sign-out、resources、prompts SERVER · attach SERVER URI · /SERVER:PROMPT",
  usage: () =>
    "✗ 用法：/mcp、/mcp SERVER、/mcp restart|sign-in|sign-out|resources|prompts SERVER 或 /mcp attach SERVER URI",
  link: (p) => `请在浏览器中打开此链接并登录：\n${p.url}`,
  comeBack: (p) => `之后浏览器会打开 ${p.back}。如果那个页面无法显示，请复制它的完整地址：/mcp sign-in 地址`,
  done: (p) => `✓ ${p.id}：${p.state}`,
  nothing: () => "没有。",
  resource: (p) => `  ${p.uri}  ${p.name}`,
  prompt: (p) => `  ${p.command}  ${p.about}`,
  kind: { text: "文字", number: "数字", integer: "整数", boolean: "是或否", choice: "选一个", choices: "可选多个" },
  field: (p) => {
    const needed = p.required && p.usual === undefined ? "，必填" : "";
    const choices = p.choices === undefined ? "" : `：${p.choices}`;
    return `${p.name}，${p.wanted}${choices}${needed}${p.usual === undefined ? "" : ` [${p.usual}]`}：`;
  },
  attached: (p) => `✓ ${p.path}。在消息中用 #${p.path} 指明它。`,
};
