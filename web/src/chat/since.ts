import { useEffect, useState } from "react";

const tickMs = 1_000;

/** How long ago that was, counted on while it is looked at; undefined where there is nothing to count. */
export function useSince(at: number | undefined): number | undefined {
  const [now, setNow] = useState(() => Date.now());
  useEffect(() => {
    if (at === undefined) return;
    setNow(Date.now());
    const timer = setInterval(() => setNow(Date.now()), tickMs);
    return () => clearInterval(timer);
  }, [at]);
  return at === undefined ? undefined : Math.max(0, now - at);
}
