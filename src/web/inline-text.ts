/** What can be put around a part of a line. */
export type Span = { readonly before: string; readonly after: string; readonly isLink: boolean };
type OpenSpan = Span & { readonly name: string; readonly at: number };

/** A line of Markdown that grows: words with single blanks between them, and marks around some. */
export interface InlineText {
  add(text: string): void;
  /** As it is, with its blanks: inside a program. */
  addRaw(text: string): void;
  open(name: string, span: Span): void;
  close(name: string): void;
  readonly length: number;
  /** All of it, and how many characters stand in links. What is open goes on in the next line. */
  take(): { readonly text: string; readonly linkCharacters: number };
}

/** Marks in marks in marks: nobody who writes for people needs more. */
const spansMax = 16;

export function openInlineText(): InlineText {
  let text = "";
  let linkCharacters = 0;
  let spans: OpenSpan[] = [];
  /** Puts the marks around what came since; blanks at its ends stay outside. */
  const wrap = ({ before, after, at, isLink }: OpenSpan) => {
    const inside = text.slice(at);
    const words = inside.trim();
    if (words === "") return;
    if (isLink) linkCharacters += words.length;
    const lead = inside.slice(0, inside.length - inside.trimStart().length);
    const trail = inside.slice(inside.trimEnd().length);
    text = `${text.slice(0, at)}${lead}${before}${words}${after}${trail}`;
  };
  return {
    get length() {
      return text.length;
    },
    add(raw) {
      const words = raw.replaceAll(unseen, "").replaceAll(/\s+/g, " ");
      // Only the last character is looked at: a page may come in a million pieces.
      text += text === "" || " \n\t".includes(text.at(-1) ?? "") ? words.trimStart() : words;
    },
    addRaw(raw) {
      text += raw;
    },
    open(name, span) {
      if (spans.length < spansMax) spans.push({ ...span, name, at: text.length });
    },
    close(name) {
      const index = spans.findLastIndex((span) => span.name === name);
      const [span] = index < 0 ? [] : spans.splice(index, 1);
      if (span !== undefined) wrap(span);
    },
    take() {
      // A link may have a block inside, a card with its heading; one that nobody ends is over with its first words.
      const hasWords = (span: OpenSpan) => text.slice(span.at).trim() !== "";
      const goesOn = spans.filter((span) => !span.isLink || !hasWords(span));
      for (const span of spans.toReversed()) wrap(span);
      const taken = { text, linkCharacters };
      text = "";
      linkCharacters = 0;
      spans = goesOn.map((span) => ({ ...span, at: 0 }));
      return taken;
    },
  };
}

/** They have no width; some pages break words up with them, and some hide words by them. */
const unseen = /[\u00ad\u200b-\u200f\u202a-\u202e\u2060-\u2064\ufeff\u{e0000}-\u{e007f}]/gu;
