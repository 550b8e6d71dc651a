import { z } from "zod";
import { ok } from "../../base/result.ts";
import { forModels } from "../../words/words.ts";
import { headOf } from "../output.ts";
import { defineTool } from "../tool.ts";

const charactersMax = 20_000;
const frameBytes = 3_000;

/** The name that older agents know; only with Jina's key. */
export const jinaReader = defineTool({
  name: "jina_reader",
  description:
    "Read a page of the web through Jina's reader, which also runs the programs of the page. Use it where fetch_web finds hardly any text. Not for private addresses: Jina's servers fetch the page. Returns up to 20000 characters of Markdown.",
  class: "idempotent",
  isOutside: true,
  isOnDemand: true,
  input: z.object({ url: z.string().min(1).describe("A whole address, such as https://example.com/page.") }),
  otherNames: { link: "url", uri: "url", address: "url", href: "url", page: "url" },
  async run({ url }, { web, signal, outputBytesMax }) {
    const page = await web.readByJina({ url, signal });
    if (!page.ok) return page;
    const bytesMax = Math.max(outputBytesMax - frameBytes, 0);
    const said = headOf(page.value.toWellFormed(), { bytesMax, unitsMax: charactersMax });
    const heading = forModels.web.page(url.trim());
    const from = heading.length + 1;
    const note = said.length < page.value.length ? `\n${forModels.web.pageCut}` : "";
    return ok({
      text: `${heading}\n${said}${note}`,
      outside: [{ source: "jina_reader", from, to: from + said.length }],
    });
  },
});
