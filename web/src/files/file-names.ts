export function nameOf(path: string): string {
  return path.slice(path.lastIndexOf("/") + 1);
}

/** Signs that turn the order of letters around, or that nobody sees: an `.exe` would end in `gpj`, read backwards. */
const misleading = /[\p{Cc}\p{Zl}\p{Zp}\u00ad\u061c\u200b\u200e\u200f\u202a-\u202e\u2060-\u2069\ufeff]/gu;

/** A path as people are shown it. */
export function shownPath(path: string): string {
  return path.replaceAll(misleading, "\u{fffd}");
}

export function shownName(path: string): string {
  return shownPath(nameOf(path));
}

export function folderOf(path: string): string {
  const end = path.lastIndexOf("/");
  return end < 0 ? "" : path.slice(0, end);
}
