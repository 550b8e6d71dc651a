import type { ReporterOptions } from "knip";

/** Prints how many files knip read, which its own reporters do not say. */
export default function countFiles({ counters }: ReporterOptions): void {
  console.log(`knip read ${counters.processed} files`);
}
