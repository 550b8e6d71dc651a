const kilobyte = 1024;
const units = ["KB", "MB", "GB", "TB"];

/** 3.4 KB, 100 MB: in steps of 1024, as limits are set. Smaller than a KB: in the words of each language. */
export function sizeText(bytes: number, inBytes: (p: { count: number }) => string): string {
  if (bytes < kilobyte) return inBytes({ count: bytes });
  let [size, unit] = [bytes / kilobyte, 0];
  // As it will be shown: 1023.99 KB is 1 MB.
  while (Number(size.toFixed(1)) >= kilobyte && unit < units.length - 1) [size, unit] = [size / kilobyte, unit + 1];
  return `${Number.isInteger(size) ? size : size.toFixed(1)} ${units[unit]}`;
}
