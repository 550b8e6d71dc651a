import assert from "node:assert/strict";
import { test } from "node:test";
import { epub } from "../../../test/world/packed-files.ts";
import type { Extracted } from "../extracted.ts";
import type { Unreadable } from "../reading.ts";
import { readEpub } from "./epub.ts";
import { depthMax, readHtml } from "./html.ts";

async function html(text: string | Uint8Array): Promise<Extracted> {
  const bytes = typeof text === "string" ? Buffer.from(text) : text;
  const found = await readHtml({ name: "a.html", bytes }, { onProgress() {} });
  assert(found.ok);
  return found.value;
}

async function book(bytes: Uint8Array): Promise<Extracted | Unreadable> {
  const found = await readEpub({ name: "a.epub", bytes }, { onProgress() {} });
  return found.ok ? found.value : found.failure;
}

test("a page is read with its lines, without what no reader sees, and programs keep their blanks [D1]", async () => {
  const { blocks, receipt } = await html(
    "<!doctype html><html><head><title>The  title</title><style>p{}</style></head>\n<body><script>no()</script><template>no</template><noscript>no</noscript>\n<h2>A <b>head</b>ing</h2>\n<p>One&nbsp;two\nthree<br>four &amp; five</p><pre>  a\n    b</pre><ul><li>x<li>y</ul><img src=a></body></html>",
  );
  assert.deepEqual(blocks, [
    { kind: "heading", text: "A heading", level: 2, from: { line: 3 } },
    { kind: "paragraph", text: "One two three four & five", from: { line: 4 } },
    { kind: "code", text: "  a\n    b", from: { line: 5 } },
    { kind: "list", text: "- x\n- y", from: { line: 6 }, to: { line: 6 } },
  ]);
  assert.deepEqual([receipt.title, receipt.images, receipt.encoding], ["The title", 1, "utf-8"]);
});

test("tables are tables, also inside of tables; what lists the contents is that [D1]", async () => {
  const { blocks } = await html(
    '<div class="toc"><a>One</a><p>Two</p></div><table><tr><th>a<th>b<tr><td>1<td><table><tr><td>x<td>y</table></table><p>After',
  );
  assert.deepEqual(
    blocks.map(({ kind, text, headRows }) => [kind, text, headRows]),
    [
      ["contents", "One\nTwo", undefined],
      ["table", "a\tb\n1\tx y", 1],
      ["paragraph", "After", undefined],
    ],
  );
});

test("an encoding follows from the mark, then from what the page says, then from its bytes [D1]", async () => {
  // 中文 in GBK, Chinese enough to be told apart from other encodings.
  const gbk = Buffer.from("d6d0cec4b5c4cec4b5b5a3acbfc9d2d4b1bbd5fdc8b7b5d8b6c1c8a1a1a3", "hex");
  const said = await html(Buffer.concat([Buffer.from('<meta charset="gb2312"><p>'), gbk]));
  assert.deepEqual([said.blocks[0]?.text, said.receipt.encoding], ["中文的文档，可以被正确地读取。", "gb18030"]);
  const wrong = await html(Buffer.from('<meta charset="shift_jis"><p>中文的文档，可以被正确地读取。🐼'));
  assert.deepEqual([wrong.blocks[0]?.text, wrong.receipt.encoding], ["中文的文档，可以被正确地读取。🐼", "utf-8"]);
  const marked = await html(
    Buffer.concat([Buffer.from([0xff, 0xfe]), Buffer.from('<meta charset="utf-8"><p>Ω', "utf16le")]),
  );
  assert.deepEqual([marked.blocks[0]?.text, marked.receipt.encoding], ["Ω", "utf-16le"]);
});

test("a page that goes down without an end is left where it is too deep, and the rest is kept [D1]", async () => {
  const { blocks, receipt } = await html(`<p>Top</p>\n${"<div>".repeat(20_000)}deep${"</div>".repeat(20_000)}`);
  assert.deepEqual(blocks, [{ kind: "paragraph", text: "Top", from: { line: 1 } }]);
  assert.deepEqual(receipt.stopped, { limit: "depth", at: { line: 2 } });
  const fits = await html(`${"<div>".repeat(depthMax - 1)}deep`);
  assert.deepEqual([fits.blocks[0]?.text, fits.receipt.stopped], ["deep", undefined]);
});

const chapter = (id: string, html: string) => ({ id, href: `${id}.xhtml`, html });

test("a book is read along its spine, from where its package lies, with titles of its own contents [D1]", async () => {
  const toc = '<html><body><nav><ol><li><a href="ch%20two.xhtml#x">Second</a></li></ol></nav></body></html>';
  const bytes = epub(
    [
      chapter("b", "<h1>Beginning</h1><p>One</p>"),
      { id: "a", href: "ch%20two.xhtml", html: "<p>Two</p>" },
      { id: "gone", href: "gone.xhtml" },
      { id: "nav", href: "nav.xhtml", properties: "nav" },
    ],
    { parts: { "OEBPS/nav.xhtml": toc }, spine: ["nav", "b", "a", "gone"] },
  );
  const found = await book(bytes);
  assert("blocks" in found);
  assert.deepEqual(found.blocks, [
    { kind: "contents", text: "Second", from: { chapter: 1 } },
    { kind: "heading", text: "Beginning", level: 1, from: { chapter: 2 } },
    { kind: "paragraph", text: "One", from: { chapter: 2 } },
    { kind: "heading", text: "Second", level: 1, from: { chapter: 3 } },
    { kind: "paragraph", text: "Two", from: { chapter: 3 } },
  ]);
  assert.deepEqual(found.receipt, {
    ...{ title: "A book", parts: { kind: "chapter", count: 4 }, characters: 27, tables: 0, images: 0 },
    losses: [{ kind: "missing_chapters", count: 1, places: [{ chapter: 4 }] }],
  });
});

test("an old book's contents name its chapters, with the usual declaration in front [D1]", async () => {
  const ncx =
    '<?xml version="1.0"?><!DOCTYPE ncx PUBLIC "-//NISO//DTD ncx 2005-1//EN" "http://www.daisy.org/z3986/2005/ncx-2005-1.dtd"><ncx><navMap><navPoint><navLabel><text>Old one</text></navLabel><content src="a.xhtml"/></navPoint></navMap></ncx>';
  const opf =
    '<package><metadata><dc:title>Old</dc:title></metadata><manifest><item id="a" href="a.xhtml"/><item id="n" href="toc.ncx" media-type="application/x-dtbncx+xml"/></manifest><spine><itemref idref="a"/></spine></package>';
  const found = await book(
    epub([chapter("a", "<p>Text</p>")], { parts: { "OEBPS/book.opf": opf, "OEBPS/toc.ncx": ncx } }),
  );
  assert("blocks" in found);
  assert.deepEqual(
    found.blocks.map(({ text }) => text),
    ["Old one", "Text"],
  );
});

test("a book with protected text says so; hidden fonts alone are no protection [D1]", async () => {
  const encrypted = (algorithm: string) => ({
    "META-INF/encryption.xml": `<encryption><EncryptedData><EncryptionMethod Algorithm="${algorithm}"/></EncryptedData></encryption>`,
  });
  const one = [chapter("a", "<p>Text</p>")];
  assert.deepEqual(await book(epub(one, { parts: encrypted("http://www.w3.org/2001/04/xmlenc#aes128-cbc") })), {
    why: "rights",
  });
  assert("blocks" in (await book(epub(one, { parts: encrypted("http://www.idpf.org/2008/embedding") }))));
});
