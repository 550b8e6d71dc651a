const regions = ["North", "South", "East", "West"];
const products = ["Tea", "Coffee", "Cocoa"];

/** The table of the tour: a year of sales, the same each time. */
export function tourTable(): string {
  const rows = ["month,region,product,units,revenue"];
  for (let month = 1; month <= 12; month += 1)
    for (const [at, region] of regions.entries())
      for (const [kind, product] of products.entries()) {
        const season = 1 + 0.3 * Math.cos((month - 1) * (Math.PI / 6)) * (kind === 0 ? 1 : -1);
        const units = Math.round((120 + 35 * at + 20 * kind) * season);
        const price = [4.2, 6.5, 5.1][kind] ?? 0;
        rows.push(`2026-${String(month).padStart(2, "0")},${region},${product},${units},${(units * price).toFixed(2)}`);
      }
  return `${rows.join("\n")}\n`;
}
