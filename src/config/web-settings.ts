import { searchProviders } from "../web/search-services.ts";
import { choice } from "./first-kinds.ts";
import { anyBaseUrl, baseUrl, hosts, key, number, text, toggle, wholeNumber } from "./kinds.ts";
import type { Setting } from "./settings.ts";

const mebibyte = 1024 ** 2;

/** What the tools reach out there. Keys stand in the environment or `.env` only, as every secret. */
export const webSettings = {
  webHosts: { variables: ["AGENTYARD_WEB_HOSTS"], key: "web.hosts", kind: hosts, default: [] },
  webPrivateHosts: {
    variables: ["AGENTYARD_WEB_PRIVATE_HOSTS"],
    key: "web.private_hosts",
    kind: hosts,
    default: [],
  },
  webTimeoutSeconds: {
    variables: ["AGENTYARD_WEB_TIMEOUT_SECONDS"],
    key: "web.timeout_seconds",
    kind: number(1, 600),
    default: 30,
  },
  webBytesMax: {
    variables: ["AGENTYARD_WEB_BYTES_MAX"],
    key: "web.bytes_max",
    kind: wholeNumber(1024, 256 * mebibyte),
    default: 20 * mebibyte,
  },
  proxyFindsNames: {
    variables: ["AGENTYARD_WEB_PROXY_FINDS_NAMES"],
    key: "web.proxy_finds_names",
    kind: toggle,
    default: false,
  },
  searchProvider: {
    variables: ["AGENTYARD_WEB_SEARCH"],
    key: "web.search",
    kind: choice(["auto", ...searchProviders]),
    default: "auto",
  },
  googleUrl: {
    variables: ["GOOGLE_SEARCH_URL"],
    key: "web.google_url",
    kind: baseUrl,
    default: "https://www.googleapis.com",
  },
  googleKey: { variables: ["GOOGLE_SEARCH_API_KEY"], kind: key, isSecret: true },
  googleEngine: { variables: ["GOOGLE_SEARCH_ENGINE_ID", "GOOGLE_CSE_ID"], kind: text },
  braveUrl: {
    variables: ["BRAVE_URL"],
    key: "web.brave_url",
    kind: baseUrl,
    default: "https://api.search.brave.com",
  },
  braveKey: { variables: ["BRAVE_API_KEY", "BRAVE_SEARCH_API_KEY"], kind: key, isSecret: true },
  tavilyUrl: { variables: ["TAVILY_URL"], key: "web.tavily_url", kind: baseUrl, default: "https://api.tavily.com" },
  tavilyKey: { variables: ["TAVILY_API_KEY"], kind: key, isSecret: true },
  jinaSearchUrl: {
    variables: ["JINA_SEARCH_URL"],
    key: "web.jina_search_url",
    kind: baseUrl,
    default: "https://s.jina.ai",
  },
  jinaReaderUrl: {
    variables: ["JINA_READER_URL"],
    key: "web.jina_reader_url",
    kind: baseUrl,
    default: "https://r.jina.ai",
  },
  jinaKey: { variables: ["JINA_API_KEY"], kind: key, isSecret: true },
  searxngUrl: {
    variables: ["SEARXNG_URL", "SEARXNG_BASE_URL"],
    key: "web.searxng_url",
    kind: anyBaseUrl("http://127.0.0.1:8888"),
    default: "",
  },
} as const satisfies Record<string, Setting<unknown>>;
