/** The platform's fetch, and with which authorisation each answer was asked for. */
export type NotedFetch = {
  readonly fetch: (where: string | URL, init?: RequestInit) => Promise<Response>;
  askedWith(response: Response): string | undefined;
};

/**
 * A 401 may come in after another call has renewed the token: then the answer is about the old one. This is the place
 * from which MCP servers are reached; the client would take the same fetch by itself.
 */
export function openNotedFetch(): NotedFetch {
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
