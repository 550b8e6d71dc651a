/** The file that people see worked on in the pictures. */
export function salesTable(): string {
  const rows = ["01", "02", "03", "04", "05", "06"].flatMap((month, at) => [
    `2026-${month},North,${120 + at * 14},${(2400.5 + at * 310).toFixed(2)}`,
    `2026-${month},South,${80 + at * 11},${(1610 + at * 205).toFixed(2)}`,
  ]);
  return ["month,region,units,revenue", ...rows, ""].join("\n");
}
