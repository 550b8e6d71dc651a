import { readFileSync } from "node:fs";
import { type Language, languages, wordsFor } from "../../words/words.ts";
import type { App, HttpCall } from "../door.ts";
import type { Parts } from "../handler.ts";
import { describeApi, documentPaths } from "../openapi.ts";
import { wantsPage } from "../origin.ts";
import type { WebApp } from "../web-app.ts";
import { docsPage, welcomePage } from "./page.ts";

/** What people and programs are told about this server: its document, a page made from it, and where to begin. */
export function bindDocs(
  app: App,
  parts: Pick<Parts, "version" | "users" | "signInService">,
  { page: appPage }: WebApp,
): void {
  const { version, users, signInService } = parts;
  const described = once(() => describeApi({ version, prefix: anyPrefix }));
  const document = below(() => JSON.stringify(described()));
  const page = Object.fromEntries(
    languages.map((language) => [
      language,
      below(() => docsPage(described(), { prefix: anyPrefix, words: wordsFor(language).docs })),
    ]),
  );
  for (const path of documentPaths)
    app.get(path, (c) => c.body(document(prefixOf(c) || "/"), 200, { "content-type": "application/json" }));
  app.get("/docs", (c) => html(c, page[languageOf(c)]?.(prefixOf(c)) ?? ""));
  app.get("/", async (c) => {
    const isKnown = c.get("caller").scopes.length > 0;
    const shown = isKnown ? await appPage(c) : undefined;
    if (shown !== undefined) return shown;
    if (!isKnown && wantsPage(c.req.raw)) return c.redirect(`${prefixOf(c)}/sign-in`, 303);
    const user = c.get("caller").by === "cookie" ? c.get("caller").signedIn : undefined;
    const canSignIn = user === undefined && (signInService !== undefined || (await users.exist()));
    const words = wordsFor(languageOf(c)).docs;
    return html(c, welcomePage({ prefix: prefixOf(c), version, words, user, canSignIn, lacksApp: isKnown }));
  });
  for (const [path, file, type] of assets)
    app.get(path, (c) => c.body(readAsset(file), 200, { "content-type": `${type}; charset=utf-8`, ...safe }));
}

const assets = [
  ["/docs/page.js", "page.mjs", "text/javascript"],
  ["/docs/page.css", "page.css", "text/css"],
] as const;

/** Nothing from elsewhere is loaded, and nothing but our own script runs, whatever stands in the page. */
const safe = { "x-content-type-options": "nosniff", "referrer-policy": "no-referrer" };
const policy = [
  "default-src 'none'",
  ...["script-src 'self'", "style-src 'self'", "connect-src 'self'", "img-src data:"],
  ...["base-uri 'none'", "form-action 'none'", "frame-ancestors 'none'"],
].join("; ");

function html(c: HttpCall, text: string): Response {
  const headers = { "content-type": "text/html; charset=utf-8", "content-security-policy": policy, ...safe };
  return c.body(text, 200, { ...headers, "content-language": languageOf(c), vary: "accept-language" });
}

/** A reader can choose it in the address; the browser's own otherwise. */
function languageOf(c: HttpCall): Language {
  const asked = c.req.query("lang");
  return languages.find((language) => language === asked) ?? c.get("language");
}

function prefixOf(c: HttpCall): string {
  return c.get("arrival").prefix;
}

/** Stands where the path below which we are reached will stand; a letter that no text of ours has. */
const anyPrefix = "\u{f8ff}";

/**
 * Made once, whatever paths callers come by: a proxy that does not name its own hands on what anybody sent, and to make
 * it takes a tenth of a second. A path has nothing in it that JSON or HTML would write otherwise.
 */
function below(make: () => string): (prefix: string) => string {
  const parts = once(() => make().split(anyPrefix));
  return (prefix) => parts().join(prefix);
}

function once<T>(make: () => T): () => T {
  let made: { readonly value: T } | undefined;
  return () => {
    made ??= { value: make() };
    return made.value;
  };
}

function readAsset(file: string): string {
  return readFileSync(new URL(`./${file}`, import.meta.url), "utf8");
}
