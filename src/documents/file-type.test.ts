import assert from "node:assert/strict";
import { test } from "node:test";
import { fileTypeOf } from "./file-type.ts";
import { isWholeImage } from "./image.ts";

const csv = Buffer.from("name,age\nAda,36\n");
const png = Buffer.from("\x89PNG\r\n\x1a\n\0\0\0\rIHDR", "latin1");
const program = Buffer.from("MZ\x90\0\x03\0\0\0\x04\0\0\0\xff\xff\0\0", "latin1");

const files: [name: string, head: Buffer, type: string][] = [
  ["a.csv", csv, "csv"],
  ["A.CSV", csv, "csv"],
  ["a.txt", csv, "text"],
  ["README", csv, "text"],
  [".bashrc", csv, "text"],
  ["empty.md", Buffer.alloc(0), "markdown"],
  ["server.log", csv, "text"],
  ["a.py", Buffer.from("print(1)\n"), "python"],
  ["a.json", Buffer.from("{}"), "json"],
  ["笔记.markdown", Buffer.from("# 标题\n"), "markdown"],
  ["a.csv", Buffer.from("姓名\n", "utf16le"), "csv"],
  ["a.csv", program, "program"],
  ["a.csv", Buffer.from("a,b\n\0\0\0\0"), "unknown"],
  ["a.csv", png, "image"],
  ["picture.png", Buffer.from("I am a text\n"), "text"],
  ["photo.jpeg", Buffer.from("\xff\xd8\xff\xe0\0\x10JFIF", "latin1"), "image"],
  ["a.gif", Buffer.from("GIF89a\x01\0\x01\0", "latin1"), "image"],
  ["a.webp", Buffer.from("RIFF\x24\0\0\0WEBPVP8 ", "latin1"), "image"],
  ["manual", Buffer.from("%PDF-1.7\n%\xe2\xe3\xcf\xd3\n", "latin1"), "pdf"],
  ["BMW.txt", Buffer.from("BMW sells cars\n"), "text"],
  ["MZ.txt", Buffer.from("MZ is short for Mark Zbikowski\n"), "text"],
  ["model.pkl", Buffer.from("\x80\x04K\x01.", "latin1"), "pickle"],
  ["old.pkl", Buffer.from("(lp0\nI1\naI2\na."), "pickle"],
  ["data.sqlite", Buffer.from("SQLite format 3\0\x10\0", "latin1"), "database"],
  ["logs.gz", Buffer.from("\x1f\x8b\x08\0\0\0", "latin1"), "archive"],
  ["tool", Buffer.from("\x7fELF\x02\x01\x01\0", "latin1"), "program"],
  ["report.docx", zip("[Content_Types].xml", "_rels/.rels", "word/document.xml"), "document"],
  ["report.zip", zip("[Content_Types].xml", "word/document.xml"), "document"],
  ["table.xlsx", zip("[Content_Types].xml", "xl/workbook.xml"), "spreadsheet"],
  ["talk.pptx", zip("[Content_Types].xml", "ppt/presentation.xml"), "presentation"],
  ["table.xlsx", zip("[Content_Types].xml", "docProps/app.xml"), "spreadsheet"],
  ["book.epub", zip("mimetype=application/epub+zip", "META-INF/container.xml"), "ebook"],
  ["letter.odt", zip("mimetype=application/vnd.oasis.opendocument.text", "content.xml"), "document"],
  ["files.xlsx", zip("a.txt", "b.txt"), "archive"],
  ["table.xls", Buffer.from("\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", "latin1"), "spreadsheet"],
  ["locked.xlsx", Buffer.from("\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", "latin1"), "unknown"],
];

test("a file's type follows from its content, and from its name among what the content allows [F3]", () => {
  assert.deepEqual(
    files.map(([name, head]) => [name, fileTypeOf(name, head).type]),
    files.map(([name, , type]) => [name, type]),
  );
});

test("a type says whether it is text, how it is sent, and which ending goes with it [F3]", () => {
  assert.deepEqual(fileTypeOf("photo.JPEG", Buffer.from("\xff\xd8\xff\xe0", "latin1")), {
    ...{ type: "image", isText: false, mime: "image/jpeg", ending: "jpg" },
  });
  assert.deepEqual(fileTypeOf("page.htm", Buffer.from("<p>hi</p>")), {
    ...{ type: "html", isText: true, mime: "text/html", ending: "html" },
  });
  assert.deepEqual(fileTypeOf("not.png", Buffer.from("text")), {
    ...{ type: "text", isText: true, mime: "text/plain", ending: "" },
  });
});

/** The beginnings of the entries of an archive; `name=content` gives one a content. */
function zip(...entries: string[]): Buffer {
  return Buffer.concat(
    entries.map((entry) => {
      const [name = "", content = ""] = entry.split("=");
      const header = Buffer.alloc(30);
      header.write("PK\x03\x04", "latin1");
      header.writeUInt32LE(content.length, 18);
      header.writeUInt32LE(content.length, 22);
      header.writeUInt16LE(name.length, 26);
      return Buffer.concat([header, Buffer.from(name + content)]);
    }),
  );
}

const pngImage = Buffer.from(
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==",
  "base64",
);
const gif = Buffer.from("R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7", "base64");
const webp = Buffer.from("UklGRiIAAABXRUJQVlA4IBYAAAAwAQCdASoBAAEADsD+JaQAA3AAAAAA", "base64");
const jpeg = Buffer.concat([
  Buffer.from([0xff, 0xd8, 0xff, 0xe0, 0, 4, 0, 0]),
  Buffer.from([0xff, 0xc0, 0, 11, 8, 0, 1, 0, 1, 1, 1, 0x11, 0, 0xff, 0xd9]),
]);

test("a picture is told from a file that only begins like one [F3]", () => {
  const whole = { "image/png": pngImage, "image/gif": gif, "image/webp": webp, "image/jpeg": jpeg } as const;
  assert.ok(isWholeImage(pngImage, "image/png"));
  assert.ok(isWholeImage(gif, "image/gif"));
  assert.ok(isWholeImage(webp, "image/webp"));
  assert.ok(isWholeImage(jpeg, "image/jpeg"));
  for (const [mime, bytes] of Object.entries(whole))
    for (const kept of [0, 2, 8, 14]) {
      const known = mime === "image/png" || mime === "image/gif" || mime === "image/webp" ? mime : "image/jpeg";
      assert.equal(isWholeImage(bytes.subarray(0, kept), known), false, `${mime}, ${kept} bytes`);
    }
});
