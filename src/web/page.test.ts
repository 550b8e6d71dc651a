import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { systemClock } from "../base/clock.ts";
import { readPage } from "./page.ts";

const { signal } = new AbortController();
const folder = join(import.meta.dirname, "..", "..", "test", "data", "pages");
const read = (html: string) =>
  readPage(html, { url: "https://site.example/dir/page.html", clock: systemClock, signal });

/** Pages as people make them: the content stays, with its links, tables and programs; what is around it goes. */
const pages: Readonly<Record<string, readonly [title: string, byline: string, published: string]>> = {
  article: ["A century of tides, corrected", "Jonas Feld", "2026-03-04T08:00:00Z"],
  docs: ["openStore() — Kelp 4.2 documentation", "", ""],
  chinese: ["渡口三十七年_江城日报网", "", ""],
  listing: ["Front page | Links", "", ""],
  forum: ["Roof sensor stops at night - Hobby Electronics Forum", "", ""],
  broken: ["Reisebericht & Karte", "", ""],
};
for (const [name, [title, byline, published]] of Object.entries(pages)) {
  test(`a page is read as Markdown, without menus and advertisements: ${name} [T2]`, async () => {
    const html = new TextDecoder(name === "chinese" ? "gb18030" : "utf-8").decode(
      readFileSync(join(folder, `${name}.html`)),
    );
    const markdown = readFileSync(join(folder, `${name}.md`), "utf8");
    assert.deepEqual(await read(html), { title, byline, published, markdown: markdown.trimEnd(), isCut: false });
  });
}

test("what nobody sees on a page is not read either [T2][R1]", async () => {
  const unseen = [
    ...[
      '<p style="display: none">no</p>',
      "<p hidden>no</p>",
      '<span aria-hidden="true">no</span>',
      "<script>no</script>",
    ],
    ...[
      '<p style="font-size:0">no</p>',
      '<div style="opacity: 0.0">no</div>',
      "<template>no</template>",
      "<!-- no -->",
    ],
    ...[
      "<noscript>no</noscript>",
      '<i class="sr-only">no</i>',
      "<svg><text>no</text></svg>",
      "<textarea>no</textarea>",
    ],
  ];
  const { markdown } = await read(`<p>Seen${unseen.join("")}, o\u200bn\u{e0041}ly.</p><p style="opacity:0.5">Pale</p>`);
  assert.equal(markdown.replaceAll(/\s+/g, " "), "Seen , only. Pale");
});

test("links and images have whole addresses, and none that is not of the web [T2]", async () => {
  const { markdown } = await read(
    `<base href="/b/"><p><a href="x?a=(1)">one</a> <a href="javascript:alert(1)">two</a> <a href="#top">three</a>
     <a href="data:text/html,x">four</a> <img src="i.png" alt="pic [1]"> <img src="data:image/png;base64,AA" alt="big"></p>`,
  );
  assert.equal(
    markdown,
    "[one](https://site.example/b/x?a=%281%29) two three four ![pic 1](https://site.example/b/i.png)",
  );
});

const hostile: Readonly<Record<string, readonly [html: string, begins: RegExp, isCut: boolean]>> = {
  "100,000 tags deep": [`<p>first</p>${"<div>".repeat(100_000)}deep`, /^first/, true],
  "a hundred thousand ends of nothing": [`<p>first</p>${"</b>".repeat(100_000)}<p>last`, /^first\n\nlast$/, false],
  "tables in tables": [`<p>first</p>${"<table><tr><td>x".repeat(50)}`, /^first\n\nx/, false],
  "a row of 2,000 cells": [`<table><tr>${"<td>a</td>".repeat(2_000)}</tr></table>`, /^a\n\na/, false],
  "one line of links": ['<a href="/x">y</a>'.repeat(5_000), /^\[y\]/, false],
  "more text than is kept": [`<p>${"word ".repeat(20)}</p>`.repeat(10_000), /^word word/, true],
  "a program of fences": [`<pre>${"`".repeat(50_000)}</pre>`, /^`{16}\n`/, false],
  "a program of blanks": [`<p>first</p><pre>${" ".repeat(150_000)}x</pre>`, /^first\n\n```\n {9}/, false],
  "beginnings of links": [`<p>first</p><p>${"](".repeat(100_000)}`, /^first\n\n\]\(/, false],
  "blanks in a link": [`<p>first</p><a href="/x">${"<b> </b>".repeat(50_000)}y</a>`, /^first\n\n\[y\]/, false],
  "a row of 50,000 blocks": [`<table><tr><td>${"<p>x</p>".repeat(50_000)}`, /^x\n\nx/, false],
  nothing: ["", /^$/, false],
  "half a tag": ["<p>first</p><a href='", /^first$/, false],
};
// What takes time in the square of its length takes minutes here.
for (const [what, [html, begins, isCut]] of Object.entries(hostile))
  test(`a hostile page comes to an end, with what could be read of it: ${what} [T7]`, {
    timeout: 120_000,
  }, async () => {
    const page = await read(html);
    assert.match(page.markdown, begins);
    assert.equal(page.isCut, isCut);
  });
