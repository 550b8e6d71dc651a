import { strToU8, zipSync } from "fflate";

export type Parts = Readonly<Record<string, string | Uint8Array>>;

/** An archive with these parts, in this order. */
export function zipped(parts: Parts): Uint8Array<ArrayBuffer> {
  const files = Object.entries(parts).map(([name, part]) => [name, typeof part === "string" ? strToU8(part) : part]);
  return new Uint8Array(zipSync(Object.fromEntries(files)));
}

const xml = '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>';
const office = "http://schemas.openxmlformats.org/officeDocument/2006/relationships";

export type Relations = Readonly<Record<string, readonly [type: string, target: string]>>;

export function relations(found: Relations): string {
  const rows = Object.entries(found).map(
    ([id, [type, target]]) => `<Relationship Id="${id}" Type="${office}/${type}" Target="${target}"/>`,
  );
  return `${xml}<Relationships>${rows.join("")}</Relationships>`;
}

const types = `${xml}<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types"/>`;

/** A document of Word with this body; other parts by their path. */
export function docx(body: string, { parts = {}, links = {} }: { parts?: Parts; links?: Relations } = {}) {
  return zipped({
    "[Content_Types].xml": types,
    "_rels/.rels": relations({ r1: ["officeDocument", "word/document.xml"] }),
    "word/document.xml": `${xml}<w:document xmlns:w="w"><w:body>${body}</w:body></w:document>`,
    "word/_rels/document.xml.rels": relations(links),
    ...parts,
  });
}

export type SheetPart = {
  readonly name: string;
  readonly rows: string;
  readonly state?: string;
  readonly part?: string;
};

/** A workbook: sheets with the XML of their rows. */
export function xlsx(
  sheets: readonly SheetPart[],
  { parts = {}, links = {}, book = "" }: { parts?: Parts; links?: Relations; book?: string } = {},
) {
  const files = sheets.map(({ part }, index) => part ?? `worksheets/sheet${index + 1}.xml`);
  const listed = sheets.map(
    ({ name, state }, index) =>
      `<sheet name="${name}" sheetId="${index + 1}" r:id="s${index}"${state === undefined ? "" : ` state="${state}"`}/>`,
  );
  const bodies = sheets.map(({ rows }, index) => [
    `xl/${files[index]}`,
    `${xml}<worksheet><sheetData>${rows}</sheetData></worksheet>`,
  ]);
  return zipped({
    "[Content_Types].xml": types,
    "_rels/.rels": relations({ r1: ["officeDocument", "xl/workbook.xml"] }),
    "xl/workbook.xml": `${xml}<workbook xmlns:r="r">${book}<sheets>${listed.join("")}</sheets></workbook>`,
    "xl/_rels/workbook.xml.rels": relations({
      ...Object.fromEntries(files.map((file, index) => [`s${index}`, ["worksheet", file] as const])),
      ...links,
    }),
    ...Object.fromEntries(bodies),
    ...parts,
  });
}

/** Slides in the order in which they are shown; each is the XML of its shapes, if it is there, under the number of its part. */
export function pptx(
  slides: readonly (readonly [number: number, shapes: string | undefined])[],
  { parts = {}, hidden = [] }: { parts?: Parts; hidden?: readonly number[] } = {},
) {
  const ids = slides.map(([number]) => `<p:sldId id="${255 + number}" r:id="r${number}"/>`);
  return zipped({
    "[Content_Types].xml": types,
    "_rels/.rels": relations({ r1: ["officeDocument", "ppt/presentation.xml"] }),
    "ppt/presentation.xml": `${xml}<p:presentation><p:sldIdLst>${ids.join("")}</p:sldIdLst></p:presentation>`,
    "ppt/_rels/presentation.xml.rels": relations(
      Object.fromEntries(slides.map(([number]) => [`r${number}`, ["slide", `slides/slide${number}.xml`] as const])),
    ),
    ...Object.fromEntries(
      slides
        .filter(([, shapes]) => shapes !== undefined)
        .map(([number, shapes]) => [
          `ppt/slides/slide${number}.xml`,
          `${xml}<p:sld${hidden.includes(number) ? ' show="0"' : ""}><p:cSld><p:spTree>${shapes}</p:spTree></p:cSld></p:sld>`,
        ]),
    ),
    ...parts,
  });
}

export type Chapter = {
  readonly id: string;
  readonly href: string;
  readonly html?: string;
  readonly properties?: string;
};

/** A book whose package lies in a folder of its own. */
export function epub(
  chapters: readonly Chapter[],
  { parts = {}, spine }: { parts?: Parts; spine?: readonly string[] } = {},
) {
  const items = chapters.map(
    ({ id, href, properties = "" }) =>
      `<item id="${id}" href="${href}" media-type="application/xhtml+xml" properties="${properties}"/>`,
  );
  const order = (spine ?? chapters.map(({ id }) => id)).map((id) => `<itemref idref="${id}"/>`);
  return zipped({
    mimetype: "application/epub+zip",
    "META-INF/container.xml": `${xml}<container><rootfiles><rootfile full-path="OEBPS/book.opf"/></rootfiles></container>`,
    "OEBPS/book.opf": `${xml}<package><metadata><dc:title>A book</dc:title></metadata><manifest>${items.join("")}</manifest><spine>${order.join("")}</spine></package>`,
    ...Object.fromEntries(
      chapters
        .filter(({ html }) => html !== undefined)
        .map(({ href, html = "" }) => [`OEBPS/${decodeURIComponent(href)}`, `<html><body>${html}</body></html>`]),
    ),
    ...parts,
  });
}
