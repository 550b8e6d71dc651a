import { z } from "zod";
import { ok, type Result } from "../../base/result.ts";
import { type Failure, failure } from "../../protocol/failure.ts";
import { type Page, readPage, type WebAnswer } from "../../web/web.ts";
import { forModels } from "../../words/words.ts";
import { headOf } from "../output.ts";
import { defineTool, type ToolContext, type ToolOutput } from "../tool.ts";
import { isHtml, keepDownload, textOf } from "../web-text.ts";

const charactersDefault = 20_000;
/** For what stands around the text. */
const frameBytes = 3_000;

export const fetchWeb = defineTool({
  name: "fetch_web",
  description:
    "Read one page of the web as Markdown, with its title and links; texts and JSON as they are; other files are saved to temp/downloads/. Use it for addresses from the user, from web_search or from a page. Not for APIs that need methods or headers: use http_fetch. Returns up to 20000 characters; read on with offset.",
  class: "idempotent",
  isOutside: true,
  input: z.object({
    url: z.string().min(1).describe("A whole address, such as https://example.com/page."),
    offset: z.int().min(0).optional().describe("The character to begin with. Left out: 0."),
    max_chars: z.int().min(100).optional().describe("At most 20000, which is also the default."),
  }),
  otherNames: {
    ...{ link: "url", uri: "url", address: "url", href: "url", page: "url", website: "url" },
    ...{ start: "offset", start_index: "offset", from: "offset" },
    ...{ max_length: "max_chars", limit: "max_chars", max_characters: "max_chars" },
  },
  async run({ url, offset = 0, max_chars = charactersDefault }, context) {
    const { web, signal } = context;
    const answer = await web.fetch({
      url,
      headers: { accept: acceptedTypes, "accept-language": "en,zh;q=0.9,*;q=0.5" },
      signal,
    });
    if (!answer.ok) return answer;
    const { status, url: found } = answer.value;
    if (status < 200 || status >= 300) return failure("web_page_failed", { host: new URL(found).host, status });
    const page = await pageOf(answer.value, context);
    if (page === undefined) return keepDownload(answer.value, context);
    return shownPart(page, { url: found, offset, charactersMax: Math.min(max_chars, charactersDefault) }, context);
  },
});

const acceptedTypes = "text/html,application/xhtml+xml,text/markdown;q=0.9,text/plain;q=0.9,*/*;q=0.8";

/** `isThin`: it says hardly anything by itself. */
type FetchedPage = Page & { readonly isThin: boolean };

async function pageOf(answer: WebAnswer, { clock, signal }: ToolContext): Promise<FetchedPage | undefined> {
  const text = textOf(answer);
  if (text === undefined) return undefined;
  if (!isHtml(answer)) return { ...plain, markdown: text, isCut: answer.isCut };
  const page = await readPage(text, { url: answer.url, clock, signal });
  const isShort = page.markdown.length < textCharactersFew && /<script\b/i.test(text);
  return { ...page, isCut: page.isCut || answer.isCut, isThin: isShort || page.markdown === "" };
}

const plain = { title: "", byline: "", published: "", isThin: false };
const textCharactersFew = 40;

type Part = { readonly url: string; readonly offset: number; readonly charactersMax: number };

/** A page from a place on, as much as there is room for, with the way to the rest. */
function shownPart(
  page: FetchedPage,
  { url, offset, charactersMax }: Part,
  context: ToolContext,
): Result<ToolOutput, Failure> {
  const { web: words } = forModels;
  const { title, byline, published, markdown, isCut, isThin } = page;
  const total = markdown.length;
  if (offset > 0 && offset >= total)
    return failure("tool_arguments_unfit", {
      ...{ tool: "fetch_web", what: words.offsetPast(offset, total) },
      form: "{url: string, offset?: integer, max_chars?: integer}",
    });
  const bytesMax = Math.max(context.outputBytesMax - frameBytes, 0);
  const part = headOf(markdown.slice(offset).toWellFormed(), { bytesMax, unitsMax: charactersMax });
  const end = offset + part.length;
  const about = [title === "" ? "" : `Title: ${title}`, byline === "" ? "" : `By: ${byline}`, published];
  const said = [...(offset === 0 ? about.filter((line) => line !== "") : []), part].join("\n");
  const notes = [
    ...(end < total ? [words.morePage({ from: offset, to: end, total, url })] : []),
    ...(isCut && end === total ? [words.pageCut] : []),
    ...(isThin ? [words.noText] : []),
  ];
  const heading = words.page(url);
  const from = heading.length + 1;
  return ok({
    text: [heading, said, ...notes].join("\n"),
    outside: [{ source: new URL(url).host, from, to: from + said.length }],
  });
}
