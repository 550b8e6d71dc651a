/**
 * What the system said to a call (`ENOENT`, `ENOSPC`). Undefined for everything else: Node gives its own errors a code
 * too, and those of wrong arguments are our mistakes, so only what names its call of the system counts.
 */
export function systemCode(error: unknown): string | undefined {
  if (!(error instanceof Error) || !("code" in error) || typeof error.code !== "string") return undefined;
  return "syscall" in error ? error.code : undefined;
}

/** For a catch that takes what the system says, and nothing else: the rest is thrown on. */
export function systemCodeOrThrow(error: unknown): string {
  const code = systemCode(error);
  if (code === undefined) throw error;
  return code;
}

/** The words of what was thrown, which need not be an error. */
export function thrownText(thrown: unknown): string {
  return thrown instanceof Error ? thrown.message : String(thrown);
}
