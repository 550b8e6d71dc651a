type Cut = { readonly from: number; readonly to: number; readonly total: number; readonly url: string };

/** What models read of the web. What a page, a server or a search service says stands inside a data block. */
export const webForModels = {
  /** Before the text of a page: where it really is, after redirects. */
  page: (url: string) => `Page: ${url}`,
  morePage: ({ from, to, total, url }: Cut) =>
    `[characters ${from}-${to} of ${total}; more: fetch_web url=${url} offset=${to}]`,
  offsetPast: (offset: number, total: number) => `offset ${offset} is past the end: the page has ${total} characters`,
  pageCut: "[The page was too large to be read to its end.]",
  noText:
    "[The page has hardly any text of its own. It may be made by programs that only a browser runs; another address or source may help.]",
  download: (path: string, type: string, sizeBytes: number) =>
    `This is no text but a file (${type}, ${sizeBytes} bytes). It was saved to ${path}; work on it with read_file or execute_code.`,
  answer: (status: number, url: string) => `Status ${status} from ${url}`,
  bodyCut: (limitBytes: number) => `[The body was longer; only its first ${limitBytes} bytes were read.]`,
  noBody: "(no body)",
  hits: (count: number, service: string) => `${count} results of ${service}; read one with fetch_web:`,
  noHits: (query: string, service: string) =>
    `${service} found nothing for ${query}. Try other or fewer words, or another language.`,
  hit: ({ number, title, url, text }: { number: number; title: string; url: string; text: string }) =>
    `${number}. ${title === "" ? url : title}\n   ${url}${text === "" ? "" : `\n   ${text}`}`,
  headersUnfit: (line: string) => `headers: "${line}" is no header; write one "Name: value" a line`,
  headerRefused: (name: string) => `headers: ${name} is set by AgentYard itself and cannot be given`,
  bodyUnwanted: (method: string) => `body: ${method} has none; use POST or leave it out`,
  next: {
    refused: "Do not try to get there in another spelling. Use another address of the web, or ask the user what to do.",
    failed:
      "Check the address, or go on with another source: call web_search where you have it; if there is none, tell the user.",
    tooLarge: "Ask for a part of it where the service offers that; otherwise tell the user.",
    searchOff:
      "Go on without a search: call fetch_web with an address that you know, and tell the user what is missing.",
    searchFailed: "Call it once more with other words; if it fails again, go on without a search and tell the user.",
  },
} as const;
