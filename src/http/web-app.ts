import { readFile } from "node:fs/promises";
import { extname, join } from "node:path";
import { systemCodeOrThrow } from "../base/fault.ts";
import { makeFailure } from "../protocol/failure.ts";
import type { App, HttpCall } from "./door.ts";
import { refuse } from "./problem.ts";

/** The page of the browser app, where it was built: undefined where it was not. */
export type WebApp = { readonly page: (c: HttpCall) => Promise<Response | undefined> };

/** Addresses that a person may open, go back to or pass on: the app itself knows what to show there. */
const places = ["/c/:id", "/c/:id/*", "/inbox", "/tasks", "/tasks/*", "/files", "/settings", "/settings/*", "/setup"];
/** Files beside the page; those in assets/ have the hash of their content in their name. */
const fileForm = /^[A-Za-z0-9_-][A-Za-z0-9._-]{0,200}$/;
const besidePage = ["favicon.svg", "theme.js"];

/** Serves what `scripts/build-web.mjs` made. Nobody gets more of the folder than the files that are named there. */
export function bindWebApp(app: App, folder: string | undefined): WebApp {
  const page = async (c: HttpCall) => {
    const html = folder === undefined ? undefined : await read(join(folder, "index.html"));
    return html === undefined ? undefined : sendPage(c, html.toString("utf8"));
  };
  // Without a build the first page says what to do about it.
  for (const place of places) app.get(place, async (c) => (await page(c)) ?? c.redirect(`${c.get("arrival").prefix}/`));
  app.get("/assets/:file", (c) => sendFile(c, folder, ["assets", c.req.param("file")], immutable));
  for (const file of besidePage) app.get(`/${file}`, (c) => sendFile(c, folder, [file], "no-cache"));
  return { page };
}

const immutable = "private, max-age=31536000, immutable";

/**
 * Nothing comes from elsewhere, and no text becomes markup: the app makes its elements one by one. `base-uri 'self'`: the
 * page names the path below which it is served, which a deep link could not know.
 */
const policy = [
  "default-src 'none'",
  ...["script-src 'self'", "style-src 'self'", "img-src 'self' data: blob:", "font-src 'self'", "connect-src 'self'"],
  ...["worker-src 'self'", "frame-src 'self'", "manifest-src 'self'", "media-src 'self' blob:"],
  ...["base-uri 'self'", "form-action 'self'", "object-src 'none'", "frame-ancestors 'self'"],
  ...["require-trusted-types-for 'script'", "trusted-types 'none'"],
].join("; ");

function sendPage(c: HttpCall, html: string): Response {
  const { prefix } = c.get("arrival");
  // The prefix was checked to be a plain path before it was believed.
  return c.body(html.replace("<!--base-->", `<base href="${prefix}/">`), 200, {
    "content-type": "text/html; charset=utf-8",
    "content-security-policy": policy,
    "cache-control": "no-store",
    "referrer-policy": "same-origin",
    "cross-origin-opener-policy": "same-origin",
  });
}

async function sendFile(
  c: HttpCall,
  folder: string | undefined,
  names: readonly string[],
  caching: string,
): Promise<Response> {
  const type = types[extname(names.at(-1) ?? "")];
  const isNamed = folder !== undefined && type !== undefined && names.every((name) => fileForm.test(name));
  if (!isNamed) return missing(c);
  const path = join(folder, ...names);
  for (const [encoding, ending] of packings) {
    if (encoding !== undefined && !accepts(c, encoding)) continue;
    const bytes = await read(path + ending);
    if (bytes === undefined) continue;
    return c.body(new Uint8Array(bytes), 200, {
      ...{ "content-type": type, "cache-control": caching, vary: "accept-encoding" },
      ...(encoding !== undefined && { "content-encoding": encoding }),
    });
  }
  return missing(c);
}

const packings = [
  ["br", ".br"],
  ["gzip", ".gz"],
  [undefined, ""],
] as const;

const types: Readonly<Record<string, string>> = {
  ".js": "text/javascript; charset=utf-8",
  ".css": "text/css; charset=utf-8",
  ".svg": "image/svg+xml",
  ".json": "application/json",
  ".woff2": "font/woff2",
  ".csv": "text/csv; charset=utf-8",
  ".txt": "text/plain; charset=utf-8",
  ".png": "image/png",
};

function accepts(c: HttpCall, encoding: string): boolean {
  const named = c.req.header("accept-encoding") ?? "";
  return named.split(",").some((one) => {
    const [name = "", ...parameters] = one.split(";").map((part) => part.trim().toLowerCase());
    return name === encoding && !parameters.some((parameter) => /^q=0(\.0*)?$/.test(parameter));
  });
}

function missing(c: HttpCall): Response {
  return refuse(c, makeFailure("route_not_found", { path: c.req.path.slice(0, 200) }));
}

async function read(path: string): Promise<Buffer | undefined> {
  try {
    return await readFile(path);
  } catch (error) {
    systemCodeOrThrow(error);
    return undefined;
  }
}
