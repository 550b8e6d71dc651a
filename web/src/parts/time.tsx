import { fullTimeText, timeText } from "../app/format.ts";
import { useWords } from "../words/words.ts";

/** Of today the hour alone; all of it, with the zone, when one waits over it. */
export function Time({ at }: { readonly at: number }) {
  const { language } = useWords();
  return (
    <time dateTime={new Date(at).toISOString()} title={fullTimeText(at, language)}>
      {timeText(at, language)}
    </time>
  );
}
