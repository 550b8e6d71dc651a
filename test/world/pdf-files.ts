import { constants, deflateRawSync } from "node:zlib";

/** A page of a PDF that is written by hand: what is printed on it, in the language of pages. */
export type PdfPage = { readonly content: string; readonly more?: string };

export type PdfOptions = {
  /** Further objects, numbered from 100 on. */
  readonly objects?: Readonly<Record<number, string>>;
  /** Added to the catalogue of the document. */
  readonly catalogue?: string;
  readonly info?: string;
  readonly trailer?: string;
};

/** Whole PDFs, with the table of their objects: letters in Helvetica (F1), bold (F2) and of one width (F3). */
export function pdf(pages: readonly PdfPage[], { objects = {}, catalogue = "", info, trailer = "" }: PdfOptions = {}) {
  const kids = pages.map((_, index) => `${10 + index * 2} 0 R`).join(" ");
  const all: Record<number, string> = {
    1: `<< /Type /Catalog /Pages 2 0 R ${catalogue} >>`,
    2: `<< /Type /Pages /Kids [${kids}] /Count ${pages.length} >>`,
    3: "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>",
    4: "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica-Bold >>",
    5: "<< /Type /Font /Subtype /Type1 /BaseFont /Courier >>",
    ...(info === undefined ? {} : { 6: info }),
    ...objects,
  };
  const resources = "/Resources << /Font << /F1 3 0 R /F2 4 0 R /F3 5 0 R >> >>";
  for (const [index, { content, more = "" }] of pages.entries()) {
    const number = 10 + index * 2;
    all[number] =
      `<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] ${resources} /Contents ${number + 1} 0 R ${more} >>`;
    all[number + 1] = `<< /Length ${Buffer.byteLength(content, "latin1")} >>\nstream\n${content}\nendstream`;
  }
  return written(all, `${info === undefined ? "" : "/Info 6 0 R "}${trailer}`);
}

function written(objects: Readonly<Record<number, string>>, trailer: string): Uint8Array<ArrayBuffer> {
  let text = "%PDF-1.7\n";
  const places = new Map<number, number>();
  for (const [number, body] of Object.entries(objects)) {
    places.set(Number(number), text.length);
    text += `${number} 0 obj\n${body}\nendobj\n`;
  }
  const size = Math.max(...places.keys()) + 1;
  const rows = Array.from({ length: size }, (_, number) => {
    const place = places.get(number);
    return place === undefined ? "0000000000 65535 f \n" : `${String(place).padStart(10, "0")} 00000 n \n`;
  });
  const table = text.length;
  text += `xref\n0 ${size}\n${rows.join("")}trailer\n<< /Size ${size} /Root 1 0 R ${trailer} >>\nstartxref\n${table}\n%%EOF\n`;
  return new Uint8Array(Buffer.from(text, "latin1"));
}

export type Printed = {
  readonly text: string;
  readonly at: readonly [left: number, height: number];
  readonly font?: string;
  readonly size?: number;
};

/** Lines at their places; what cannot be printed in Latin letters is for other fonts. */
export function printed(lines: readonly Printed[]): string {
  return lines
    .map(({ text, at, font = "F1", size = 10 }) => {
      const escaped = text.replaceAll(/[\\()]/g, (sign) => `\\${sign}`);
      return `BT /${font} ${size} Tf ${at[0]} ${at[1]} Td (${escaped}) Tj ET`;
    })
    .join("\n");
}

/** Lines of one paragraph from a height on, 12 points apart. */
export function paragraph(height: number, texts: readonly string[], font = "F1"): Printed[] {
  return texts.map((text, index) => ({ text, at: [72, height - index * 12], font }));
}

const foldedBytes = 8 * 1024 * 1024;

/** A small PDF whose one page unfolds to so many times 8 MiB of spaces. */
export function unfoldingPdf(times: number): Uint8Array<ArrayBuffer> {
  const piece = deflateRawSync(Buffer.alloc(foldedBytes, " "), { finishFlush: constants.Z_FULL_FLUSH });
  const folded = Buffer.concat([Buffer.of(0x78, 0x01), ...Array.from({ length: times }, () => piece)]);
  const content = `<< /Length ${folded.length} /Filter /FlateDecode >>\nstream\n${folded.toString("latin1")}\nendstream`;
  return pdf([{ content: "", more: "/Contents 100 0 R" }], { objects: { 100: content } });
}
