import type { ServiceFetch } from "../web/web.ts";

/** A fetch, and with which authorisation each answer was asked for. */
export type NotedFetch = {
  readonly fetch: ServiceFetch;
  askedWith(response: Response): string | undefined;
};

/** A 401 may come in after another call has renewed the token: then the answer is about the old one. */
export function openNotedFetch(fetch: ServiceFetch): NotedFetch {
  const noted = new WeakMap<Response, string>();
  return {
    async fetch(where, init) {
      const response = await fetch(where, init);
      noted.set(response, new Headers(init?.headers).get("authorization") ?? "");
      return response;
    },
    askedWith: (response) => noted.get(response),
  };
}
