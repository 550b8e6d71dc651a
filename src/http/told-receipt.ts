import type { FileDetails } from "../documents/documents.ts";
import { failureWordsOverHttp, type Language, type Words, wordsFor } from "../words/words.ts";

type Receipt = NonNullable<FileDetails["receipt"]>;
type Loss = Receipt["losses"][number];

/** What became of a file in the language of whoever asks: in one line, and what could not be read, a sentence each. */
export function toldReceipt(
  { receipt, failure }: Pick<FileDetails, "receipt" | "failure">,
  language: Language,
): { summary: string; notes: string[] } {
  const words = wordsFor(language);
  const broken = failure === undefined ? [] : [failureWordsOverHttp(words, failure).join(language === "zh" ? "" : " ")];
  if (receipt === undefined) return { summary: "", notes: broken };
  const { losses, stopped } = receipt;
  const cut = stopped === undefined ? [] : [words.receipts.stopped({ limit: stopped.limit })];
  return {
    summary: summaryOf(receipt, words, language),
    notes: [...losses.flatMap((loss) => toldLoss(loss, words)), ...cut, ...broken],
  };
}

function summaryOf(
  { parts, characters, tables, language: written, encoding }: Receipt,
  words: Words,
  language: Language,
) {
  const texts = words.receipts;
  return [
    ...(parts === undefined ? [] : [texts.parts[parts.kind]({ count: parts.count })]),
    texts.characters({ count: characters }),
    ...(tables === 0 ? [] : [texts.tables({ count: tables })]),
    ...(written === undefined ? [] : [new Intl.DisplayNames(language, { type: "language" }).of(written) ?? written]),
    // That of nearly all texts need not be told.
    ...(encoding === undefined || encoding === "utf-8" ? [] : [encoding]),
  ].join(texts.and);
}

/** Heads and feet that stand on every page are no loss. */
const unsaid = new Set(["running_heads"]);

function toldLoss({ kind, count, places }: Loss, { receipts: texts }: Words): string[] {
  if (unsaid.has(kind)) return [];
  const numbers = places.flatMap(({ page, slide }) => page ?? slide ?? []);
  const pages = numbers.length === 0 ? "" : `${numbers.join(", ")}${numbers.length < count ? ", …" : ""}`;
  return [isKnown(kind, texts.losses) ? texts.losses[kind]({ count, pages }) : texts.otherLoss({ kind, count })];
}

function isKnown<T extends object>(kind: string, all: T): kind is string & keyof T {
  return Object.hasOwn(all, kind);
}
