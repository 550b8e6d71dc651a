import assert from "node:assert/strict";
import { test } from "node:test";
import { pptx, relations } from "../../../test/world/packed-files.ts";
import { readPptx } from "./pptx.ts";

const words = (text: string) => `<a:p><a:r><a:t>${text}</a:t></a:r></a:p>`;
const shape = (text: string, place = "") =>
  `<p:sp><p:nvSpPr><p:nvPr>${place === "" ? "" : `<p:ph type="${place}"/>`}</p:nvPr></p:nvSpPr><p:txBody>${words(text)}</p:txBody></p:sp>`;

test("slides come in the order in which they are shown, with notes, tables, diagrams and charts [D1]", async () => {
  const table = `<p:graphicFrame><a:tbl><a:tr><a:tc><a:txBody>${words("Year")}</a:txBody></a:tc><a:tc><a:txBody>${words("Sum")}</a:txBody></a:tc></a:tr><a:tr><a:tc><a:txBody>${words("2024")}</a:txBody></a:tc><a:tc><a:txBody>${words("5")}</a:txBody></a:tc></a:tr></a:tbl></p:graphicFrame>`;
  const bytes = pptx(
    [
      [2, `${shape("Plan", "title")}${shape("First point")}${shape("7", "sldNum")}${table}<p:pic/>`],
      [1, `${shape("Body first")}${shape("Then the title", "ctrTitle")}`],
    ],
    {
      hidden: [1],
      parts: {
        "ppt/slides/_rels/slide2.xml.rels": relations({
          n: ["notesSlide", "../notesSlides/notesSlide1.xml"],
          d: ["diagramData", "../diagrams/data1.xml"],
          c: ["chart", "../charts/chart1.xml"],
          l: ["slideLayout", "../slideLayouts/layout1.xml"],
        }),
        "ppt/notesSlides/notesSlide1.xml": `<p:notes>${shape("", "sldImg")}${shape("Say hello", "body")}${shape("2", "sldNum")}</p:notes>`,
        "ppt/diagrams/data1.xml": `<dgm:dataModel>${words("Step one")}</dgm:dataModel>`,
        "ppt/charts/chart1.xml": "<c:chart><c:v>North</c:v><c:v>12</c:v></c:chart>",
        "ppt/slideLayouts/layout1.xml": shape("Click to add a title", "title"),
      },
    },
  );
  const found = await readPptx({ name: "a.pptx", bytes }, { onProgress() {} });
  assert(found.ok);
  assert.deepEqual(found.value.blocks, [
    { kind: "heading", text: "Plan", level: 1, from: { slide: 1 } },
    { kind: "paragraph", text: "First point", from: { slide: 1 } },
    { kind: "table", text: "Year\tSum\n2024\t5", headRows: 1, from: { slide: 1 } },
    { kind: "paragraph", text: "Step one", from: { slide: 1 } },
    { kind: "paragraph", text: "North\n12", from: { slide: 1 } },
    { kind: "note", text: "Say hello", from: { slide: 1 } },
    { kind: "heading", text: "Then the title", level: 1, from: { slide: 2 } },
    { kind: "paragraph", text: "Body first", from: { slide: 2 } },
  ]);
  assert.deepEqual(found.value.receipt, {
    ...{ parts: { kind: "slide", count: 2 }, characters: 79, tables: 1, images: 1 },
    losses: [{ kind: "hidden_slides", count: 1, places: [{ slide: 2 }] }],
  });
});
