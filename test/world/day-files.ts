import { zipped } from "./packed-files.ts";
import { paragraph, pdf, printed } from "./pdf-files.ts";

/** What the handbook says of money, on its second page. */
export const refunds = "Refunds are paid within fourteen days of the return.";

const months = ["Jan", "Feb", "Mar"];

/** The files of a user's day, by their names. */
export const dayFiles: Readonly<Record<string, Uint8Array>> = {
  "sales.xlsx": workbook(),
  "handbook.pdf": handbook(),
  "old-1.csv": Buffer.from("a\n1\n"),
  "old-2.csv": Buffer.from("a\n2\n"),
};

function handbook(): Uint8Array {
  return pdf(
    ["About us", "Returns", "Contact"].map((title) => ({
      content: printed([
        { text: title, at: [72, 780], font: "F2", size: 18 },
        ...paragraph(740, title === "Returns" ? [refunds] : [`${title}: nothing about money stands here.`]),
      ]),
    })),
  );
}

/** As Excel's own format asks for it: libraries that are stricter than ours open it, too. */
function workbook(): Uint8Array {
  const xml = '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>';
  const main = "http://schemas.openxmlformats.org/spreadsheetml/2006/main";
  const office = "http://schemas.openxmlformats.org/officeDocument/2006/relationships";
  const [packed, types] = ["relationships", "content-types"].map(
    (name) => `http://schemas.openxmlformats.org/package/2006/${name}`,
  );
  const kind = "application/vnd.openxmlformats-officedocument.spreadsheetml";
  const cell = (text: string) => `<c t="inlineStr"><is><t>${text}</t></is></c>`;
  const rows = [
    `<row>${cell("month")}${cell("units")}</row>`,
    ...months.map((month, at) => `<row>${cell(month)}<c><v>${10 * (at + 1)}</v></c></row>`),
  ];
  const related = (type: string, target: string) =>
    `${xml}<Relationships xmlns="${packed}"><Relationship Id="r1" Type="${office}/${type}" Target="${target}"/></Relationships>`;
  return zipped({
    "[Content_Types].xml": `${xml}<Types xmlns="${types}"><Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/><Override PartName="/xl/workbook.xml" ContentType="${kind}.sheet.main+xml"/><Override PartName="/xl/worksheets/sheet1.xml" ContentType="${kind}.worksheet+xml"/></Types>`,
    "_rels/.rels": related("officeDocument", "xl/workbook.xml"),
    "xl/workbook.xml": `${xml}<workbook xmlns="${main}" xmlns:r="${office}"><sheets><sheet name="Sales" sheetId="1" r:id="r1"/></sheets></workbook>`,
    "xl/_rels/workbook.xml.rels": related("worksheet", "worksheets/sheet1.xml"),
    "xl/worksheets/sheet1.xml": `${xml}<worksheet xmlns="${main}"><sheetData>${rows.join("")}</sheetData></worksheet>`,
  });
}
