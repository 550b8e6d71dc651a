import { z } from "zod";
import { ok, type Result } from "../../base/result.ts";
import { type Failure, failure } from "../../protocol/failure.ts";
import type { WebAnswer } from "../../web/web.ts";
import { forModels } from "../../words/words.ts";
import { unpacked } from "../arguments.ts";
import { shortened } from "../output.ts";
import { isRecord } from "../schema.ts";
import { defineTool } from "../tool.ts";
import { keepDownload, textOf } from "../web-text.ts";

const headersMax = 20;
const headerCharactersMax = 8_192;
const bodyBytesMax = 1024 ** 2;

export const httpFetch = defineTool({
  name: "http_fetch",
  description:
    "Send one HTTP request to an API out in the web and read the answer. Use it where a method, headers or a body matter. Not for pages that people read: use fetch_web. Other methods than GET and HEAD may change something there, so a person is asked. Returns status, a few headers and the body; what is no text is saved to temp/downloads/.",
  class: "unsafe",
  // What only reads may be asked for again after a crash.
  classOf: ({ method }) => (method === "GET" || method === "HEAD" ? "idempotent" : "unsafe"),
  isOutside: true,
  isOnDemand: true,
  input: z.object({
    method: z.enum(["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE"]).describe("The method."),
    url: z.string().min(1).describe("A whole address, such as https://api.example.com/v1/items?id=1."),
    headers: z
      .string()
      .max(headersMax * headerCharactersMax)
      .optional()
      .describe('One "Name: value" a line.'),
    body: z
      .string()
      .max(bodyBytesMax)
      .optional()
      .describe("The body as it is sent. JSON needs the header Content-Type."),
  }),
  otherNames: {
    ...{ verb: "method", http_method: "method", uri: "url", link: "url", address: "url" },
    ...{ header: "headers", data: "body", payload: "body", content: "body", json: "body" },
  },
  otherWords: { get: "GET", head: "HEAD", post: "POST", put: "PUT", patch: "PATCH", delete: "DELETE" },
  async run({ method, url, headers = "", body }, context) {
    const given = headersOf(headers);
    if (!given.ok) return unfit(given.failure);
    if (body !== undefined && (method === "GET" || method === "HEAD")) return unfit(forModels.web.bodyUnwanted(method));
    const { web, signal } = context;
    const answer = await web.fetch({ url, method, headers: { ...contentType(body), ...given.value }, body, signal });
    if (!answer.ok) return answer;
    const { bytes } = answer.value;
    const text = bytes.length === 0 ? forModels.web.noBody : textOf(answer.value);
    return text === undefined ? keepDownload(answer.value, context) : ok(report(answer.value, text));
  },
});

function unfit(what: string): { readonly ok: false; readonly failure: Failure } {
  const form = "{method: string, url: string, headers?: string, body?: string}";
  return failure("tool_arguments_unfit", { tool: "http_fetch", what, form });
}

/** What models send is mostly JSON, and mostly without saying so. */
function contentType(body: string | undefined): Readonly<Record<string, string>> {
  if (body === undefined) return {};
  return {
    "content-type":
      isRecord(unpacked(body)) || Array.isArray(unpacked(body)) ? "application/json" : "text/plain; charset=utf-8",
  };
}

/** They belong to the connection, or say who speaks: a request has them from us. */
const ours =
  /^(host|connection|content-length|transfer-encoding|accept-encoding|upgrade|te|trailer|expect|keep-alive|proxy-.*)$/;

/** Lines of `Name: value`, or the object that some models write instead. */
function headersOf(written: string): Result<Readonly<Record<string, string>>, string> {
  const { web: words } = forModels;
  const object = unpacked(written);
  const lines = isRecord(object)
    ? Object.entries(object).map(([name, value]) => `${name}: ${String(value)}`)
    : written.split(/\r?\n/).filter((line) => line.trim() !== "");
  const headers: Record<string, string> = {};
  for (const line of lines) {
    const isShort = line.length <= headerCharactersMax && lines.length <= headersMax;
    const [, name = "", value = ""] = (isShort && headerLine.exec(line.trim())) || [];
    if (name === "")
      return { ok: false, failure: words.headersUnfit(shortened(line.replaceAll(/\s+/g, " "), shownBytesMax)) };
    if (ours.test(name.toLowerCase())) return { ok: false, failure: words.headerRefused(name) };
    headers[name.toLowerCase()] = value.trim();
  }
  return ok(headers);
}

const shownBytesMax = 60;
const headerLine = /^([!#$%&'*+.^_`|~0-9A-Za-z-]{1,100})\s*:([\t -~\x80-\xff]*)$/;

/** Those that say what comes, how to go on, and when. */
const shownHeaders =
  /^(content-type|location|link|etag|last-modified|retry-after|www-authenticate|allow|x-ratelimit-[\w-]{1,30}|ratelimit[\w-]{0,30})$/;

function report(answer: WebAnswer, body: string) {
  const { web: words } = forModels;
  const { status, url, headers, bytes, isCut } = answer;
  const heading = words.answer(status, url);
  const shown = Object.entries(headers).filter(([name, value]) => shownHeaders.test(name) && value !== undefined);
  const said = [...shown.map(([name, value]) => `${name}: ${value?.slice(0, valueCharactersMax)}`), "", body].join(
    "\n",
  );
  const from = heading.length + 1;
  return {
    text: [heading, said, ...(isCut ? [words.bodyCut(bytes.length)] : [])].join("\n"),
    outside: [{ source: new URL(url).host, from, to: from + said.length }],
  };
}

const valueCharactersMax = 500;
