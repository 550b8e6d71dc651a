/** What this browser keeps for itself. Where it keeps nothing (private windows, a full disk), nothing is lost but comfort. */
export function readKept(name: string): string | undefined {
  try {
    return localStorage.getItem(`agentyard.${name}`) ?? undefined;
  } catch {
    return undefined;
  }
}

export function keep(name: string, value: string | undefined): void {
  try {
    if (value === undefined) localStorage.removeItem(`agentyard.${name}`);
    else localStorage.setItem(`agentyard.${name}`, value);
  } catch {
    // As above.
  }
}

/** A kept value of JSON; undefined where there is none, or somebody else wrote it. */
export function readKeptJson(name: string): unknown {
  const text = readKept(name);
  if (text === undefined) return undefined;
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
