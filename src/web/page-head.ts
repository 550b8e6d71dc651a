type Attributes = Readonly<Record<string, string>>;

export type PageHead = {
  readonly title: string;
  readonly byline: string;
  /** As the page writes it. */
  readonly published: string;
};

const words = {
  title: "og:title twitter:title",
  byline: "author article:author byl",
  published: "article:published_time date pubdate",
};
const lineCharactersMax = 300;

/** Only what a head has is looked at. */
export function isHeadTag(name: string): boolean {
  return name === "title" || name === "meta" || name === "base" || name === "h1" || name === "time";
}

/** What a page says of itself, collected while it is read. */
export function openPageHead(url: string) {
  let base = url;
  let inside: "title" | "h1" | undefined;
  const texts = { title: "", h1: "" };
  const meta = new Map<string, string>();
  const of = (names: string) => {
    const found = names.split(" ").map((name) => meta.get(name));
    return oneLine(found.find((value) => value !== undefined && !/^https?:/.test(value)) ?? "");
  };
  return {
    open(name: string, attributes: Attributes) {
      const { content, datetime, href } = attributes;
      const key = (attributes.property ?? attributes.name ?? "").toLowerCase();
      if (name === "meta" && content !== undefined && !meta.has(key)) meta.set(key, content);
      if (name === "time" && datetime !== undefined && !meta.has("date")) meta.set("date", datetime);
      if (name === "base" && href !== undefined) base = URL.parse(href, url)?.href ?? base;
      if ((name === "title" || name === "h1") && texts[name] === "") inside = name;
    },
    text(text: string) {
      if (inside !== undefined && texts[inside].length < lineCharactersMax) texts[inside] += text;
    },
    close(name: string) {
      if (name === inside) inside = undefined;
    },
    /** An address of the page as a whole one; undefined for what is none of the web, or leads to the same page. */
    absolute(address: string): string | undefined {
      const written = address.trim();
      if (written === "" || written.startsWith("#")) return undefined;
      const found = URL.parse(written, base);
      return found !== null && /^https?:$/.test(found.protocol) && found.href.length <= addressCharactersMax
        ? found.href.replaceAll("(", "%28").replaceAll(")", "%29")
        : undefined;
    },
    found: (): PageHead => ({
      title: of(words.title) || oneLine(texts.title) || oneLine(texts.h1),
      byline: of(words.byline),
      published: of(words.published),
    }),
  };
}

/** A longer one says nothing to a reader. */
const addressCharactersMax = 2_000;

function oneLine(text: string): string {
  return text
    .replaceAll(/[\s\p{Cc}\p{Cf}]+/gu, " ")
    .trim()
    .slice(0, lineCharactersMax)
    .toWellFormed();
}
