export type ByteRange = { readonly offset: number; readonly length: number };

/**
 * The one range that is asked for, cut to the size of the file. Undefined: the whole file, also where the header is
 * none of ours (several ranges, another unit, nonsense) or the caller has the beginning of another content.
 */
export function rangeWanted(
  { range, ifRange }: { range: string | undefined; ifRange: string | undefined },
  sizeBytes: number,
  tag: string,
): ByteRange | "unfit" | undefined {
  if (ifRange !== undefined && ifRange !== tag) return undefined;
  const [, first = "", last = ""] = /^\s*bytes\s*=\s*(\d*)-(\d*)\s*$/i.exec(range ?? "") ?? [];
  if (first === "" && last === "") return undefined;
  if (first === "") return part(sizeBytes - Math.min(sizeBytes, Number(last)), sizeBytes);
  if (last !== "" && Number(last) < Number(first)) return undefined;
  return part(Number(first), last === "" ? sizeBytes : Math.min(sizeBytes, Number(last) + 1));
}

function part(start: number, end: number): ByteRange | "unfit" {
  return start < end ? { offset: start, length: end - start } : "unfit";
}
