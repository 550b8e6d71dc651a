import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { type Profile, profileTable } from "./profile.ts";
import { parseTable } from "./table.ts";

test("a table with a byte order mark, quotes, line ends of Windows and empty cells is understood [M5]", () => {
  const text = '\uFEFFcity,"units ""sold""",price\r\nOslo,"1,200",9.50\r\n"Rio, Brazil",,10.25\r\n\r\nBern,300,n/a\r\n';
  assert.deepEqual(figures(profileTable(text)), {
    rows: 3,
    columns: [
      ['units "sold"', 2, 300, 1200, 750, 1500],
      ["price", 2, 9.5, 10.25, 9.875, 19.75],
    ],
    others: ["city"],
    unread: 0,
  });
});

test("whatever cells a spreadsheet writes, they are read back [M5]", () => {
  const cell = fc.string({ unit: fc.constantFrom("a", "1", ",", ";", '"', "\n", "\r", " ", "|", "数"), maxLength: 6 });
  const written = (cells: readonly string[], delimiter: string) =>
    cells.map((text) => `"${text.replaceAll('"', '""')}"`).join(delimiter);
  fc.assert(
    fc.property(fc.array(fc.tuple(cell, cell, cell), { minLength: 1, maxLength: 5 }), (rows) => {
      // The first column is never empty, so that no row is.
      const filled = rows.map(([first, ...others]) => [`x${first}`, ...others]);
      for (const delimiter of [",", ";", "\t", "|"]) {
        const text = `sep=${delimiter}\r\n${filled.map((row) => written(row, delimiter)).join("\r\n")}`;
        assert.deepEqual(parseTable(text), { delimiter, rows: filled });
      }
    }),
  );
});

/** The columns as a list: name or place, count, smallest, largest, mean, sum. */
function figures({ columns, ...rest }: Profile) {
  return {
    ...rest,
    columns: columns.map(({ name, place, count, min, max, mean, sum }) => [
      name === "" ? String(place) : name,
      ...[count, min, max, mean, sum],
    ]),
  };
}
