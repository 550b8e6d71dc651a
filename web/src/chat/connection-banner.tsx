import { useWords } from "../words/words.ts";
import { useSince } from "./since.ts";

const sayAfterMs = 2_000;
const longMs = 30_000;

/** Said after a moment: a short break is nobody's concern. */
export function ConnectionBanner({ lostAt }: { readonly lostAt: number | undefined }) {
  const words = useWords().shell;
  const since = useSince(lostAt);
  if (since === undefined || since < sayAfterMs) return null;
  return (
    <p className="banner" role="status">
      {since < longMs ? words.lost : words.lostLong}
    </p>
  );
}
