import type { Api } from "./profile.ts";

/** Who is asking, and in which version, as a server of this format wants to be told. */
export function keyHeaders(api: Api, { hostname }: URL, apiKey: string | undefined): Record<string, string> {
  const bearer: Record<string, string> = apiKey ? { authorization: `Bearer ${apiKey}` } : {};
  switch (api) {
    case "chat":
    case "responses":
      return bearer;
    case "google":
      return apiKey ? { "x-goog-api-key": apiKey } : {};
    case "anthropic": {
      // The vendor takes one header only; others that speak its API look into either.
      const isVendor = /(^|\.)anthropic\.com$/.test(hostname);
      const key = apiKey ? { "x-api-key": apiKey, ...(isVendor ? {} : bearer) } : {};
      return { "anthropic-version": "2023-06-01", ...key };
    }
  }
}
