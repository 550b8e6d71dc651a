export function nameOf(path: string): string {
  return path.slice(path.lastIndexOf("/") + 1);
}

/** Signs that turn the order of letters around, or that nobody sees: an `.exe` would end in `gpj`, read backwards. */
const misleading = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu;

/** The name of a file as people are shown it. */
export function shownName(path: string): string {
  return nameOf(path).replaceAll(misleading, "\u{fffd}");
}

export function folderOf(path: string): string {
  const end = path.lastIndexOf("/");
  return end < 0 ? "" : path.slice(0, end);
}
