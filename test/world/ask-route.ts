import type { App } from "../../src/http/http.ts";
import type { Route } from "../../src/protocol/route.ts";
import { pathOf, sampleOf, type Wanted } from "./route-samples.ts";

/** Stands in everything that is Ann's. */
export const mark = "annsown7351";
/** What a body or a query says where it may or must. */
const usual: Wanted = {
  code: "at once",
  path: "uploads/a.txt",
  text: "hello",
  query: "hello",
  messages: [{ role: "user", content: "hello" }],
  model: "general",
  title: "t",
  name: "n",
  user: "ann",
  password: "a good password",
  stream: false,
  data: JSON.stringify({ openapi: "3.1.0", servers: [{ url: "http://127.0.0.1:1" }], paths: { "/a": { get: {} } } }),
  sync_timeout: 5,
  wait_seconds: 1,
};

type Asking = {
  readonly key?: string;
  readonly params: Readonly<Record<string, string>>;
  readonly wanted?: Wanted;
  readonly headers?: Readonly<Record<string, string>>;
};

/** Calls a route as its schemas say, from outside. A stream is opened and left. */
export async function ask(app: App, route: Route, { key, params, wanted = {}, headers = {} }: Asking) {
  const all = { ...usual, ...wanted };
  const sent = new Headers({ host: "127.0.0.1:7420", ...tus, ...headers });
  if (params.conversation !== undefined) sent.set("x-conversation-id", params.conversation);
  if (key !== undefined) sent.set("authorization", `Bearer ${key}`);
  const { method } = route;
  sent.set("content-type", typeOf(route));
  const request = new Request(`http://127.0.0.1:7420${pathOf(route, params, all)}`, {
    method,
    headers: sent,
    ...(!["GET", "DELETE", "OPTIONS"].includes(method) && { body: bodyFor(route, all) }),
  });
  const response = await app.fetch(request, { door: "tcp", address: "127.0.0.1" });
  const isStream = response.headers.get("content-type")?.startsWith("text/event-stream") === true;
  if (isStream) await response.body?.cancel();
  return { status: response.status, text: isStream ? "" : await response.text(), headers: response.headers };
}

const tus = {
  "tus-resumable": "1.0.0",
  "upload-length": String(mark.length),
  "upload-offset": "0",
  "upload-metadata": `filename ${btoa("t.txt")}`,
};

function bodyFor(route: Route, wanted: Wanted): string {
  if (route.takesBytes === true) return mark;
  return route.takesForm === true ? form : JSON.stringify(sampleOf(route.body, wanted) ?? {});
}

const part = 'content-disposition: form-data; name="file"; filename="a.txt"';
const form = ["--b", part, "", "x", "--b--", ""].join("\r\n");

function typeOf(route: Route): string {
  if (route.takesForm === true) return "multipart/form-data; boundary=b";
  return route.takesBytes === true ? "application/offset+octet-stream" : "application/json";
}
