/** What can go wrong with what is fetched from the web: what happened, and what a person can do. */
export const enWebFailures = {
  /** `host`: as it was asked for, or where a redirect led. */
  web_address_refused: (p: { host: string; why: AddressRefusal }) => [
    {
      form: `“${p.host}” is no address of the web.`,
      scheme: `“${p.host}” is not reached: only http and https are.`,
      credentials: `“${p.host}” is not reached: a name or password stands in the address.`,
      port: `${p.host} is not reached: the web is at the ports 80, 443, 8080 and 8443.`,
      host: `${p.host} is not reached: this installation allows certain hosts only.`,
      private: `${p.host} is not reached: it is in a private network.`,
      never: `${p.host} is not reached: nobody may reach an address like that.`,
    }[p.why],
    {
      form: "Give a whole address, such as https://example.com/page.",
      scheme: "Give an address that begins with https://.",
      credentials: "Leave them out of the address.",
      port: "The operator can add it, with its port, to web.private_hosts in config/agentyard.yaml.",
      host: "The operator can add it to web.hosts in config/agentyard.yaml.",
      private: "The operator can add it to web.private_hosts in config/agentyard.yaml.",
      never: "Use another address.",
    }[p.why],
  ],
  web_fetch_failed: (p: { host: string; why: FetchFault; seconds: number }) => [
    {
      unknown: `${p.host} has no address: no such name is known.`,
      unreachable: `${p.host} does not answer.`,
      timeout: `${p.host} was not done after ${p.seconds} s.`,
      tls: `${p.host} has no certificate that can be trusted.`,
      broken: `${p.host} broke off, or answered something that is no HTTP.`,
      redirects: `${p.host} sends on and on to other addresses.`,
      headers: `${p.host} answers with headers that are too long.`,
      proxy: `The proxy of this installation does not lead to ${p.host}.`,
      encoding: `${p.host} packs its answer in a way that cannot be unpacked.`,
      stopped: `Fetching from ${p.host} was stopped.`,
    }[p.why],
    {
      unknown: "Check the spelling.",
      unreachable: "Try again later, or use another source.",
      timeout: "Try again, or raise web.timeout_seconds in config/agentyard.yaml.",
      tls: "Check the address. A certificate of your own is trusted with NODE_EXTRA_CA_CERTS.",
      broken: "Try again, or use another source.",
      redirects: "Use another address.",
      headers: "Use another source.",
      proxy: "Check HTTPS_PROXY and NO_PROXY, and that the proxy allows CONNECT to addresses in numbers.",
      encoding: "Use another source.",
      stopped: "Ask for it again when it is wanted.",
    }[p.why],
  ],
  web_page_failed: (p: { host: string; status: number }) => [
    `${p.host} answers ${p.status}: ${statusWords(p.status)}.`,
    p.status === 429 || p.status >= 500 ? "Try again later, or use another source." : "Check the address.",
  ],
  web_too_large: (p: { host: string; limitBytes: number }) => [
    `What ${p.host} sends has more than ${p.limitBytes} bytes.`,
    "Ask for a part of it, or raise web.bytes_max in config/agentyard.yaml.",
  ],
  web_search_off: (p: { settings: string }) => [
    `No such search service is set; it needs ${p.settings}.`,
    "Set it in .env or the environment.",
  ],
  web_search_failed: (p: { provider: string; why: SearchFault; status: number; setting: string }) => [
    {
      key: `${p.provider} refuses the key (status ${p.status}).`,
      limit: `${p.provider} has had enough requests for now (status ${p.status}).`,
      status: `${p.provider} cannot search now (status ${p.status}).`,
      answer: `${p.provider} gave an answer that is no list of results (status ${p.status}).`,
    }[p.why],
    {
      key: `Check ${p.setting}.`,
      limit: "Try again later, or raise your limit there.",
      status: "Try again later.",
      answer: `Check ${p.setting}, and that the address is that of the service.`,
    }[p.why],
  ],
} satisfies Record<string, (params: never) => [what: string, next: string]>;

/** Why an address is not reached, whoever asks. */
export type AddressRefusal = "form" | "scheme" | "credentials" | "port" | "host" | "private" | "never";
export type FetchFault =
  | "unknown"
  | "unreachable"
  | "timeout"
  | "tls"
  | "broken"
  | "redirects"
  | "headers"
  | "proxy"
  | "encoding"
  | "stopped";
export type SearchFault = "key" | "limit" | "status" | "answer";

/** In our own words: those of the server are anybody's. */
function statusWords(status: number): string {
  if (status === 401 || status === 407) return "it wants a sign-in";
  if (status === 403 || status === 451) return "it does not give this to us";
  if (status === 404 || status === 410) return "there is nothing at this address";
  if (status === 429) return "it wants fewer requests";
  if (status >= 500) return "it is in trouble";
  return status >= 400 ? "it does not take this request" : "it has no page for us";
}
