import type { enWebFailures } from "./en-web-failures.ts";

/** 访问网络时可能出的问题。 */
export const zhWebFailures: typeof enWebFailures = {
  web_address_refused: (p) => [
    {
      form: `“${p.host}”不是有效的网址。`,
      scheme: `不访问“${p.host}”：只支持 http 和 https。`,
      credentials: `不访问“${p.host}”：网址中含有用户名或密码。`,
      port: `不访问 ${p.host}：只访问端口 80、443、8080 和 8443。`,
      host: `不访问 ${p.host}：本安装只允许访问指定的主机。`,
      private: `不访问 ${p.host}：它位于内网。`,
      never: `不访问 ${p.host}：任何人都不得访问这类地址。`,
    }[p.why],
    {
      form: "请给出完整的网址，例如 https://example.com/page。",
      scheme: "请给出以 https:// 开头的网址。",
      credentials: "请把它们从网址中去掉。",
      port: "运维人员可将它连同端口加入 config/agentyard.yaml 的 web.private_hosts。",
      host: "运维人员可将它加入 config/agentyard.yaml 的 web.hosts。",
      private: "运维人员可将它加入 config/agentyard.yaml 的 web.private_hosts。",
      never: "请换用其他地址。",
    }[p.why],
  ],
  web_fetch_failed: (p) => [
    {
      unknown: `找不到 ${p.host}：没有这个域名。`,
      unreachable: `${p.host} 没有响应。`,
      timeout: `${p.host} 在 ${p.seconds} 秒内没有完成。`,
      tls: `${p.host} 没有可信的证书。`,
      broken: `${p.host} 中断了连接，或者回答的不是 HTTP。`,
      redirects: `${p.host} 一再重定向。`,
      headers: `${p.host} 的响应头过长。`,
      proxy: `本安装的代理无法通往 ${p.host}。`,
      encoding: `${p.host} 的内容使用了无法解压的格式。`,
      stopped: `已停止访问 ${p.host}。`,
    }[p.why],
    {
      unknown: "请检查拼写。",
      unreachable: "请稍后再试，或换用其他来源。",
      timeout: "请重试，或调高 config/agentyard.yaml 的 web.timeout_seconds。",
      tls: "请检查地址。自有证书可通过 NODE_EXTRA_CA_CERTS 设为可信。",
      broken: "请重试，或换用其他来源。",
      redirects: "请换用其他地址。",
      headers: "请换用其他来源。",
      proxy: "请检查 HTTPS_PROXY 与 NO_PROXY，并确认代理允许对数字地址使用 CONNECT。",
      encoding: "请换用其他来源。",
      stopped: "需要时请再次请求。",
    }[p.why],
  ],
  web_page_failed: (p) => [
    `${p.host} 返回 ${p.status}：${statusWords(p.status)}。`,
    p.status === 429 || p.status >= 500 ? "请稍后再试，或换用其他来源。" : "请检查网址。",
  ],
  web_too_large: (p) => [
    `${p.host} 发送的内容超过 ${p.limitBytes} 字节。`,
    "请只请求一部分，或调高 config/agentyard.yaml 的 web.bytes_max。",
  ],
  web_search_off: (p) => [`没有设置这样的搜索服务；需要 ${p.settings}。`, "请在 .env 或环境变量中设置。"],
  web_search_failed: (p) => [
    {
      key: `${p.provider} 拒绝了密钥（状态 ${p.status}）。`,
      limit: `${p.provider} 暂时不再接受请求（状态 ${p.status}）。`,
      status: `${p.provider} 现在无法搜索（状态 ${p.status}）。`,
      answer: `${p.provider} 的回答不是搜索结果（状态 ${p.status}）。`,
    }[p.why],
    {
      key: `请检查 ${p.setting}。`,
      limit: "请稍后再试，或提高该服务的额度。",
      status: "请稍后再试。",
      answer: `请检查 ${p.setting}，并确认地址属于该服务。`,
    }[p.why],
  ],
};

function statusWords(status: number): string {
  if (status === 401 || status === 407) return "需要登录";
  if (status === 403 || status === 451) return "不向我们提供";
  if (status === 404 || status === 410) return "这个地址没有内容";
  if (status === 429) return "请求过于频繁";
  if (status >= 500) return "对方出了问题";
  return status >= 400 ? "不接受这个请求" : "没有可用的页面";
}
