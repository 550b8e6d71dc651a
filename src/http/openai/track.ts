type Place = {
  readonly step: number;
  readonly attempt: number;
  /** Where the text begins in what this attempt says. */
  readonly offset: number;
  /** It is all that the attempt said. */
  readonly isWhole?: boolean;
};

type Said = { readonly part: number; readonly text: string };

/**
 * The words of one kind, step by step. What was sent cannot be taken back: a second try says only what goes beyond the
 * first where it begins alike, and else begins a new part. `parts` counts those of all kinds.
 */
export function openTrack(parts: { count: number }) {
  let place: Pick<Place, "step" | "attempt"> | undefined;
  let part = 0;
  /** What this attempt said so far. */
  let said = "";
  /** What earlier attempts of the step have sent and this one has yet to say. */
  let sent = "";

  function startAt({ step, attempt }: Place): void {
    if (place?.step === step && place.attempt === attempt) return;
    if (place?.step !== step) {
      part = 0;
      sent = "";
    } else if (sent.length < said.length) sent = said;
    place = { step, attempt };
    said = "";
  }

  function begin(text: string): Said {
    parts.count += 1;
    part = parts.count;
    sent = "";
    return { part, text };
  }

  return {
    add(next: Place, text: string): Said | undefined {
      startAt(next);
      if (next.isWhole && !text.startsWith(said)) {
        said = text;
        return text === "" ? undefined : begin(text);
      }
      // Words that were missed come with the whole answer.
      if (next.offset > said.length) return undefined;
      const before = said.length;
      const fresh = text.slice(before - next.offset);
      if (fresh === "") return undefined;
      said += fresh;
      if (before >= sent.length) return part === 0 ? begin(fresh) : { part, text: fresh };
      const due = sent.slice(before);
      if (due.startsWith(fresh)) return undefined;
      return fresh.startsWith(due) ? { part, text: fresh.slice(due.length) } : begin(said);
    },
  };
}
