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

/** For a catch around a stream of Node that may be taken away: that it ended is left to the caller; the rest is thrown on. */
export function throwUnlessStream(error: unknown): void {
  if (!isOfStream(error)) throw error;
}

/**
 * For a catch around a fetch, be it the platform's, one over a socket or one in this process: what the network did, or the
 * signal, is left to the caller; the rest is thrown on.
 */
export function throwUnlessNetwork(error: unknown, signal?: AbortSignal): void {
  if (signal?.aborted && error === signal.reason) return;
  if (!isOfStream(error) && !(error instanceof TypeError && unreached.test(error.message))) throw error;
}

/** Also of one that was destroyed while somebody waited for more of it. Node's other codes are of wrong arguments. */
function isOfStream(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  const hasCode = "code" in error && /^(?!ERR_)|^ERR_(?:STREAM|SOCKET|TLS|SSL)_/.test(String(error.code));
  return hasCode || error.name === "AbortError";
}

/** So say Node's, Chrome's, Safari's and Firefox's own fetch, whatever it was. */
const unreached = /^(?:fetch failed|Failed to fetch|Load failed|NetworkError when attempting to fetch resource\.?)$/;

/** The words of what was thrown, which need not be an error. */
export function thrownText(thrown: unknown): string {
  return thrown instanceof Error ? thrown.message : String(thrown);
}

/** Why nobody can be called at an address; `other` is what only the system has words for. */
export type AddressFault = "taken" | "needs_root" | "not_here" | "unknown_name" | "other";

const addressFaults: Readonly<Record<string, AddressFault>> = {
  EADDRINUSE: "taken",
  EACCES: "needs_root",
  EADDRNOTAVAIL: "not_here",
  ENOTFOUND: "unknown_name",
  EAI_AGAIN: "unknown_name",
};

/** By the code that the system gives whoever wants to listen there. */
export function addressFault(code = ""): AddressFault {
  return addressFaults[code] ?? "other";
}
