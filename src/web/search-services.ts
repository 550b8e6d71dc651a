import { z } from "zod";
import type { WebRequest } from "./guarded-fetch.ts";

/** Who can search for us, in the order in which they are asked where nobody chose one. */
export const searchProviders = ["google", "brave", "tavily", "jina", "searxng"] as const;
export type SearchProvider = (typeof searchProviders)[number];

/** Whose key or address is not set is off. */
export type SearchSettings = {
  readonly provider: SearchProvider | "auto";
  readonly google: { readonly url: string; readonly key: string | undefined; readonly engine: string | undefined };
  readonly brave: { readonly url: string; readonly key: string | undefined };
  readonly tavily: { readonly url: string; readonly key: string | undefined };
  readonly jina: { readonly searchUrl: string; readonly readerUrl: string; readonly key: string | undefined };
  readonly searxng: { readonly url: string };
};

export type SearchHit = { readonly title: string; readonly url: string; readonly text: string };
export type SearchQuery = { readonly query: string; readonly hitsMax: number };

/** A service: how it is asked, and where in its answer the hits are. */
export type SearchService = {
  /** For people. */
  readonly name: string;
  /** What must be set. */
  readonly setting: string;
  isOn(settings: SearchSettings): boolean;
  request(query: SearchQuery, settings: SearchSettings): Omit<WebRequest, "signal">;
  /** Undefined when this is no answer of the service. */
  read(answer: unknown): readonly SearchHit[] | undefined;
};

const text = z.string().nullish();
const json = { accept: "application/json" };

export const searchServices: Readonly<Record<SearchProvider, SearchService>> = {
  // https://developers.google.com/custom-search/v1/using_rest; the key as a header, so that no address holds it.
  google: {
    name: "Google",
    setting: "GOOGLE_SEARCH_API_KEY and GOOGLE_SEARCH_ENGINE_ID",
    isOn: ({ google }) => google.key !== undefined && google.engine !== undefined,
    request: ({ query, hitsMax }, { google: { url, key = "", engine = "" } }) => ({
      url: withQuery(`${url}/customsearch/v1`, { cx: engine, q: query, num: `${hitsMax}` }),
      headers: { ...json, "x-goog-api-key": key },
    }),
    // Where nothing was found there are no items at all.
    read: (answer) =>
      hitsOf(
        z
          .object({
            kind: z.string(),
            items: z.array(z.object({ title: text, link: text, snippet: text })).default([]),
          })
          .safeParse(answer)
          .data?.items.map(({ title, link, snippet }) => ({ title, url: link, text: snippet })),
      ),
  },
  // https://api-dashboard.search.brave.com/app/documentation/web-search
  brave: {
    name: "Brave",
    setting: "BRAVE_API_KEY",
    isOn: ({ brave }) => brave.key !== undefined,
    request: ({ query, hitsMax }, { brave: { url, key = "" } }) => ({
      url: withQuery(`${url}/res/v1/web/search`, { q: query, count: `${hitsMax}` }),
      headers: { ...json, "x-subscription-token": key },
    }),
    read: (answer) =>
      hitsOf(
        z
          .object({
            type: z.string(),
            web: z.object({ results: z.array(z.object({ title: text, url: text, description: text })) }).nullish(),
          })
          .transform(({ web }) => web?.results ?? [])
          .safeParse(answer)
          .data?.map(({ title, url, description }) => ({ title, url, text: description })),
      ),
  },
  // https://docs.tavily.com/documentation/api-reference/endpoint/search
  tavily: {
    name: "Tavily",
    setting: "TAVILY_API_KEY",
    isOn: ({ tavily }) => tavily.key !== undefined,
    request: ({ query, hitsMax }, { tavily: { url, key = "" } }) => ({
      url: `${url}/search`,
      method: "POST",
      headers: { ...json, "content-type": "application/json", authorization: `Bearer ${key}` },
      body: JSON.stringify({ query, max_results: hitsMax }),
    }),
    read: (answer) =>
      hitsOf(
        z
          .object({ results: z.array(z.object({ title: text, url: text, content: text })) })
          .safeParse(answer)
          .data?.results.map(({ title, url, content }) => ({ title, url, text: content })),
      ),
  },
  // https://jina.ai/reader: without the pages themselves, which nobody may want to read.
  jina: {
    name: "Jina",
    setting: "JINA_API_KEY",
    isOn: ({ jina }) => jina.key !== undefined,
    request: ({ query }, { jina: { searchUrl, key = "" } }) => ({
      url: withQuery(`${searchUrl}/`, { q: query }),
      headers: { ...json, authorization: `Bearer ${key}`, "x-respond-with": "no-content" },
    }),
    read: (answer) =>
      hitsOf(
        z
          .object({ data: z.array(z.object({ title: text, url: text, description: text, content: text })) })
          .safeParse(answer)
          .data?.data.map(({ title, url, description, content }) => ({ title, url, text: description || content })),
      ),
  },
  // https://docs.searxng.org/dev/search_api: the server must allow the format json, else it answers 403.
  searxng: {
    name: "SearXNG",
    setting: "SEARXNG_URL",
    isOn: ({ searxng }) => searxng.url !== "",
    request: ({ query }, { searxng: { url } }) => ({
      url: withQuery(`${url}/search`, { q: query, format: "json" }),
      headers: json,
    }),
    read: (answer) =>
      hitsOf(
        z
          .object({ results: z.array(z.object({ title: text, url: text, content: text })) })
          .safeParse(answer)
          .data?.results.map(({ title, url, content }) => ({ title, url, text: content })),
      ),
  },
};

function withQuery(address: string, query: Readonly<Record<string, string>>): string {
  return `${address}?${new URLSearchParams(query)}`;
}

type RawHit = { readonly [key in keyof SearchHit]?: string | null | undefined };

/** Only what leads somewhere in the web; each address once. */
function hitsOf(found: readonly RawHit[] | undefined): SearchHit[] | undefined {
  const seen = new Set<string>();
  return found?.flatMap(({ title, url, text: words }) => {
    if (typeof url !== "string" || !/^https?:\/\//i.test(url) || seen.has(url)) return [];
    seen.add(url);
    return [{ title: plain(title ?? ""), url, text: plain(words ?? "") }];
  });
}

/** Services mark the words they found with tags, and leave entities as they are. */
function plain(marked: string): string {
  const words = marked
    .replaceAll(/<\/?(?:b|strong|em|mark|span|br|p)\b[^<>]*>/gi, "")
    .replaceAll(/&(?:amp|lt|gt|quot|#39|#x27|nbsp);/g, (one) => entities[one] ?? one);
  return words.replaceAll(/\s+/g, " ").trim();
}

const entities: Readonly<Record<string, string>> = {
  ...{ "&amp;": "&", "&lt;": "<", "&gt;": ">", "&quot;": '"', "&#39;": "'", "&#x27;": "'", "&nbsp;": " " },
};
