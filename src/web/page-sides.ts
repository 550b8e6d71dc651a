type Attributes = Readonly<Record<string, string>>;

/** Nobody who looks at the page sees it: what stands there is meant for somebody else. */
export function isHidden({ hidden, style = "", "aria-hidden": ariaHidden, class: names = "" }: Attributes): boolean {
  return hidden !== undefined || ariaHidden === "true" || unseenStyle.test(style) || unseenNames.test(names);
}

/** For programs that read aloud, and the little signs beside headings. */
const unseenNames =
  /(^|\s)(sr-only|visually-?hidden|screen-reader-text|skip-link|headerlink|header-anchor|anchor-?link|anchorjs-link|mw-editsection)(\s|$)/i;

const unseenStyle =
  /display\s*:\s*none|visibility\s*:\s*hidden|font-size\s*:\s*0(?![.\d]*[1-9])|opacity\s*:\s*0(?![.\d]*[1-9])/i;

/** Around the content. A header or footer inside of the content belongs to it. */
export function isSide(
  name: string,
  { class: names = "", id = "", role = "" }: Attributes,
  isInMain: boolean,
): boolean {
  if (sideTags.has(name) || sideRoles.has(role)) return true;
  if ((name === "header" || name === "footer") && !isInMain) return true;
  if (name === "body" || name === "html" || name === "main" || name === "article") return false;
  return sideNames.test(` ${names} ${id} `.replaceAll(/[-_]/g, " "));
}

const sideTags = new Set(["nav", "aside", "form", "dialog", "menu"]);
const sideRoles = new Set(["navigation", "banner", "contentinfo", "search", "complementary", "dialog", "alert"]);
/** As people name the parts of their pages, the world over. */
const sideNames = new RegExp(
  " (cookies?|consent|advert\\w*|ads?|sponsor\\w*|promo\\w*|sidebar|side|share|sharing|social|newsletter|subscribe|related|similar|" +
    "recommend\\w*|breadcrumbs?|crumbs?|path|pagination|pager|toolbar|nav|navbar|navigation|footer|comments?|disqus|popup|modal|toc|" +
    "login|signin|avatar|actions) ",
  "i",
);
