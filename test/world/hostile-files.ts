import { docx, epub, pptx, relations, xlsx, zipped } from "./packed-files.ts";
import { paragraph, pdf, printed } from "./pdf-files.ts";

/** What a file may come to: the beginning of what is read, or the code of the failure. */
export type Hostile = readonly [what: string, name: string, bytes: () => Uint8Array, becomes: string | RegExp];

const text = (words: string) => () => Buffer.from(words);
const p = (words: string) => `<w:p><w:r><w:t>${words}</w:t></w:r></w:p>`;
const cell = (reference: string, words: string) => `<c r="${reference}" t="inlineStr"><is><t>${words}</t></is></c>`;
const page = (words: string) => ({ content: printed(paragraph(700, [words])) });
const deflatedBomb = (megabytes: number) => Buffer.alloc(megabytes * 1024 * 1024, "a");

/** Bytes that differ from what was made, in one place. */
function changed(bytes: Uint8Array, find: string, put: string): Uint8Array {
  const copy = Buffer.from(bytes);
  for (let at = copy.indexOf(find, 0, "latin1"); at !== -1; at = copy.indexOf(find, at + put.length, "latin1"))
    copy.write(put, at, "latin1");
  return copy;
}

const archives: readonly Hostile[] = [
  ["1 a bomb of 30 MB", "a.docx", () => docx(`<w:p><w:r><w:t>${"a".repeat(30_000_000)}`), /^a{100}/],
  ["2 an archive in an archive", "a.docx", () => zipped({ "a.zip": zipped({ b: "x" }) }), "document_unknown"],
  [
    "5 a size that is not true",
    "a.docx",
    () => changed(docx(p("small")), "PK\x01\x02\x14\0", "PK\x01\x02\xff\0"),
    /^small/,
  ],
  [
    "6 a directory that says something else",
    "a.docx",
    () => changed(docx(p("twice")), "PK\x03\x04", "PK\x03\x05"),
    "document_unknown",
  ],
  [
    "8 names that lead elsewhere",
    "a.docx",
    () => docx(p("ours"), { parts: { "../../etc/passwd": "x", "/abs": "y" } }),
    /^ours/,
  ],
  ["10 cut off", "a.docx", () => docx(p("cut")).subarray(0, 400), "document_damaged"],
  ["11 something behind the end", "a.docx", () => Buffer.concat([docx(p("before")), Buffer.from("behind")]), /^before/],
  ["15 odd names", "a.docx", () => docx(p("odd"), { parts: { "a\0b": "x", "word\\other.xml": "y" } }), /^odd/],
];

const markup: readonly Hostile[] = [
  [
    "16 entities that grow",
    "a.docx",
    () => entities('<!DOCTYPE a [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;&a;">]>'),
    "document_damaged",
  ],
  [
    "17 an entity from outside",
    "a.docx",
    () => entities('<!DOCTYPE a [<!ENTITY a SYSTEM "file:///etc/passwd">]>'),
    "document_damaged",
  ],
  [
    "18 a parameter entity",
    "a.docx",
    () => entities('<!DOCTYPE a [<!ENTITY % a SYSTEM "http://localhost/a">%a;]>'),
    "document_damaged",
  ],
  ["19 50,000 nested tables", "a.docx", () => docx(`${p("top")}${"<w:tbl><w:tr><w:tc>".repeat(50_000)}`), /^top/],
  ["20 an attribute of 10 MB", "a.docx", () => docx(`<w:p w:a="${"x".repeat(10_000_000)}"/>${p("after")}`), /^after/],
  [
    "21 100,000 attributes",
    "a.docx",
    () => docx(`<w:p ${Array.from({ length: 100_000 }, (_, n) => `a${n}="1"`).join(" ")}/>${p("after")}`),
    /^after/,
  ],
  [
    "22 an encoding that is declared and not so",
    "a.docx",
    () =>
      docx(p("as it is"), {
        parts: { "word/document.xml": `<?xml version="1.0" encoding="UTF-7"?><d>${p("as it is")}</d>` },
      }),
    /^as it is/,
  ],
  ["23 tags without an end", "a.docx", () => docx("<w:p><w:r><w:t>open"), /^open/],
  ["24 another prefix", "a.docx", () => docx("<x:p><x:r><x:t>prefix</x:t></x:r></x:p>"), /^prefix/],
];

function entities(declared: string): Uint8Array {
  return docx("", {
    parts: { "word/document.xml": `${declared}<w:document><w:body>${p("&a;&b;")}</w:body></w:document>` },
  });
}

const circle =
  '<w:styles><w:style w:styleId="a"><w:basedOn w:val="b"/></w:style><w:style w:styleId="b"><w:basedOn w:val="a"/></w:style></w:styles>';
const manyStrings = () => `<sst>${"<si><t/></si>".repeat(300_000)}</sst>`;

const office: readonly Hostile[] = [
  [
    "25 a sheet that says it is full",
    "a.xlsx",
    () => xlsx([{ name: "S", rows: `<dimension ref="A1:XFD1048576"/><row>${cell("A1", "one")}</row>` }]),
    /^S\none/,
  ],
  [
    "26 a far cell",
    "a.xlsx",
    () => xlsx([{ name: "S", rows: `<row r="1048576">${cell("XFD1048576", "far")}</row>` }]),
    /^S\nfar$/,
  ],
  [
    "27 a text that is not there",
    "a.xlsx",
    () => xlsx([{ name: "S", rows: '<row><c t="s"><v>99</v></c><c><v>5</v></c></row>' }]),
    /^S\n5/,
  ],
  [
    "28 many texts",
    "a.xlsx",
    () =>
      xlsx([{ name: "S", rows: `<row>${cell("A1", "few")}</row>` }], {
        parts: { "xl/sharedStrings.xml": manyStrings() },
        links: { t: ["sharedStrings", "sharedStrings.xml"] },
      }),
    /^S\nfew/,
  ],
  [
    "29 styles in a circle",
    "a.docx",
    () =>
      docx(`<w:p><w:pPr><w:pStyle w:val="a"/></w:pPr><w:r><w:t>round</w:t></w:r></w:p>`, {
        parts: { "word/styles.xml": circle },
        links: { s: ["styles", "styles.xml"] },
      }),
    /^round/,
  ],
  [
    "30 parts in a circle",
    "a.pptx",
    () =>
      pptx([[1, `<p:sp>${"<a:p><a:r><a:t>slide</a:t></a:r></a:p>"}</p:sp>`]], {
        parts: {
          "ppt/slides/_rels/slide1.xml.rels": relations({
            a: ["notesSlide", "slide1.xml"],
            b: ["chart", "slide1.xml"],
          }),
        },
      }),
    /^slide/,
  ],
  [
    "31 a template elsewhere",
    "a.docx",
    () =>
      docx(p("here"), {
        links: { t: ["attachedTemplate", "http://localhost:1/t.dotx"], i: ["image", "file:///etc/passwd"] },
      }),
    /^here/,
  ],
  ["32 macros", "a.docm", () => docx(p("macro"), { parts: { "word/vbaProject.bin": deflatedBomb(1) } }), /^macro/],
  [
    "33 a password",
    "a.docx",
    () => Buffer.concat([oldOffice(), Buffer.from("EncryptedPackage", "utf16le")]),
    "document_locked",
  ],
  ["34 an old document with a new name", "a.docx", oldOffice, "document_unknown"],
  [
    "35 no main part",
    "a.docx",
    () => zipped({ "[Content_Types].xml": "<Types/>", "word/other.xml": "x" }),
    "document_damaged",
  ],
  [
    "35 a main part that is only named",
    "a.docx",
    () => zipped({ "word/x": "", "_rels/.rels": relations({ r: ["officeDocument", "word/none.xml"] }) }),
    "document_damaged",
  ],
];

function oldOffice(): Uint8Array {
  return Buffer.concat([Buffer.from("d0cf11e0a1b11ae1", "hex"), Buffer.alloc(512)]);
}

const loop = "<< /Type /Pages /Kids [2 0 R 10 0 R] /Count 3 >>";
const claim = "<< /Type /Pages /Kids [10 0 R] /Count 1000000 >>";
const bombStream = (content: Buffer) =>
  Buffer.concat([
    Buffer.from(`<< /Filter [/ASCIIHexDecode /ASCIIHexDecode] /Length ${content.length} >>\nstream\n`),
    content,
    Buffer.from("\nendstream"),
  ]).toString("latin1");
const toUnicodeless = {
  100: "<< /Type /Font /Subtype /Type0 /BaseFont /X /Encoding /Identity-H /DescendantFonts [101 0 R] >>",
  101: "<< /Type /Font /Subtype /CIDFontType2 /BaseFont /X /CIDSystemInfo << /Registry (Adobe) /Ordering (Identity) /Supplement 0 >> >>",
};

const pdfs: readonly Hostile[] = [
  ["36 cut off", "a.pdf", () => pdf([page("whole before")]).subarray(0, 700), /^$|^whole|document_damaged/],
  [
    "37 nothing behind the mark",
    "a.pdf",
    () =>
      Buffer.concat([Buffer.from("%PDF-1.7\n"), Buffer.from(Array.from({ length: 5_000 }, (_, n) => (n * 31) % 256))]),
    "document_damaged",
  ],
  ["38 a document with another name", "a.pdf", () => docx(p("really a document")), /^really a document/],
  ["39 empty", "a.pdf", () => new Uint8Array(), "document_damaged"],
  [
    "40 a password",
    "a.pdf",
    () =>
      pdf([page("secret")], {
        objects: {
          100: `<< /Filter /Standard /V 2 /R 3 /Length 128 /P -4 /O <${"11".repeat(32)}> /U <${"22".repeat(32)}> >>`,
        },
        trailer: `/Encrypt 100 0 R /ID [<${"33".repeat(16)}> <${"33".repeat(16)}>]`,
      }),
    "document_locked",
  ],
  ["41 pages in a circle", "a.pdf", () => pdf([page("round")], { objects: { 2: loop } }), /^$|^round|document_damaged/],
  [
    "42 a million pages",
    "a.pdf",
    () => pdf([page("one of many")], { objects: { 2: claim } }),
    /^one of many|document_damaged/,
  ],
  [
    "43 a stream behind several filters",
    "a.pdf",
    () => pdf([page("beside")], { objects: { 100: bombStream(Buffer.alloc(1_000_000, "3")) } }),
    /^beside/,
  ],
  [
    "44 bookmarks in a circle",
    "a.pdf",
    () =>
      pdf([page("One")], {
        catalogue: "/Outlines 100 0 R",
        objects: {
          100: "<< /First 101 0 R /Last 101 0 R >>",
          101: "<< /Title (One) /First 101 0 R /Next 101 0 R /Parent 100 0 R /Dest [10 0 R /Fit] >>",
        },
      }),
    /^One$/,
  ],
  [
    "45 letters without a meaning",
    "a.pdf",
    () =>
      pdf([{ content: "BT /F9 12 Tf 72 700 Td <00410042> Tj ET", more: "/Resources << /Font << /F9 100 0 R >> >>" }], {
        objects: toUnicodeless,
      }),
    /^.{0,4}$/,
  ],
  ["46 white text", "a.pdf", () => pdf([{ content: `1 1 1 rg ${page("unseen words").content}` }]), /^unseen words/],
  [
    "47 scripts and files inside",
    "a.pdf",
    () =>
      pdf([page("beside a script")], {
        catalogue: "/OpenAction << /S /JavaScript /JS (app.alert(1)) >> /Names << /EmbeddedFiles << /Names [] >> >>",
      }),
    /^beside a script/,
  ],
  [
    "48 huge coordinates",
    "a.pdf",
    () => pdf([{ content: `1e30 0 0 1e30 0 0 cm ${page("far out").content}` }, page("near")]),
    /near$/,
  ],
  ["49 a scan", "a.pdf", () => pdf([{ content: "q 9 0 0 9 0 0 cm BI /W 1 /H 1 /BPC 8 /CS /G ID x EI Q" }]), /^$/],
];

const texts: readonly Hostile[] = [
  ["50 one line of 5 MB", "a.txt", () => Buffer.alloc(5_000_000, "x"), /^x{1000}/],
  ["51 NUL bytes", "a.txt", () => Buffer.alloc(5_000), "document_unknown"],
  ["52 half a character", "a.txt", () => Buffer.from(`${"a".repeat(65_535)}中文`), /中文$/],
  ["53 letters without a width", "a.txt", text("a\u202eb\u200bc"), /^a\u202eb\u200bc$/],
  ["54 a million marks", "a.txt", () => Buffer.from(`a${"\u0301".repeat(1_000_000)}`), /^a\u0301/],
  ["55 an open quote", "a.csv", text('a,b\n"c,d\n1,2'), /^a\tb\n"c\td\n1\t2$/],
  [
    "56 mixed encodings",
    "a.txt",
    () => Buffer.concat([Buffer.from("文字".repeat(200)), Buffer.from("d6d0", "hex")]),
    /^文字/,
  ],
  ["57 a page 20,000 deep", "a.html", () => Buffer.from(`<p>top</p>${"<div>".repeat(20_000)}`), /^top/],
  [
    "58 an image of 5 MB in a page",
    "a.html",
    () => Buffer.from(`<p>before<img src="data:image/png;base64,${"A".repeat(5_000_000)}">after</p>`),
    /^beforeafter$/,
  ],
  [
    "59 a chapter that is not there",
    "a.epub",
    () =>
      epub([
        { id: "a", href: "a.xhtml", html: "<p>here</p>" },
        { id: "b", href: "b.xhtml" },
      ]),
    /^here$/,
  ],
  [
    "60 a protected book",
    "a.epub",
    () =>
      epub([{ id: "a", href: "a.xhtml", html: "x" }], {
        parts: { "META-INF/encryption.xml": '<e><EncryptionMethod Algorithm="aes"/></e>' },
      }),
    "document_locked",
  ],
  ["blanks without an end", "a.html", () => Buffer.from(`<pre>a${" ".repeat(2_000_000)}b</pre>`), /^a .* b$|^a +b$/],
  [
    "blanks in a paragraph",
    "a.docx",
    () => docx(`<w:p><w:r><w:t>a${" ".repeat(2_000_000)}b</w:t></w:r></w:p>`),
    /^a +b$/,
  ],
  ["a hundred thousand cells", "a.html", () => Buffer.from(`<table><tr>${"<td>x".repeat(100_000)}</table>`), /^x\tx/],
  ["end tags alone", "a.html", () => Buffer.from("</div>".repeat(500_000)), /^$/],
  ["marks of a list", "a.md", () => Buffer.from(`${"> ".repeat(300_000)}end`), /end$/],
];

/** By the numbers of the list that they come from, where they have one. */
export const hostileFiles: readonly Hostile[] = [...archives, ...markup, ...office, ...pdfs, ...texts];
