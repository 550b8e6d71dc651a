import { posix } from "node:path";
import type { Archive } from "../packed/archive.ts";
import { readXml } from "../packed/xml.ts";

export type BookPackage = {
  readonly title: string;
  /** Paths in the archive. */
  readonly spine: readonly { readonly path: string; readonly isContents: boolean }[];
  readonly navigation: string | undefined;
};

const chaptersMax = 5_000;

/** What the book says of itself: its parts, and the order in which they are read. */
export function readPackage(archive: Archive): BookPackage | undefined {
  const place = packagePlace(archive);
  if (place === undefined || !archive.has(place)) return undefined;
  const items = new Map<string, { readonly path: string; readonly type: string; readonly isNavigation: boolean }>();
  const order: string[] = [];
  let [title, inTitle] = ["", false];
  const end = readXml(archive, place, {
    open(name, attributes) {
      const id = attributes.get("id") ?? "";
      const href = attributes.get("href");
      if (name === "title" && title === "") inTitle = true;
      else if (name === "item" && href !== undefined) {
        const isNavigation = (attributes.get("properties") ?? "").split(/\s+/).includes("nav");
        items.set(id, { path: pathOf(place, href), type: attributes.get("media-type") ?? "", isNavigation });
      } else if (name === "itemref" && order.length < chaptersMax) order.push(attributes.get("idref") ?? "");
    },
    close: () => {
      inTitle = false;
    },
    text: (text) => {
      if (inTitle) title += text;
    },
  });
  if (end === "refused" || order.length === 0) return undefined;
  const all = [...items.values()];
  const navigation = all.find(({ isNavigation }) => isNavigation) ?? all.find(({ type }) => type.includes("dtbncx"));
  const spine = order.map((id) => {
    const item = items.get(id);
    return { path: item?.path ?? "", isContents: item?.isNavigation ?? false };
  });
  return { title, spine, navigation: navigation?.path };
}

function packagePlace(archive: Archive): string | undefined {
  let place: string | undefined;
  readXml(archive, "META-INF/container.xml", {
    open(name, attributes) {
      if (name === "rootfile") place ??= attributes.get("full-path");
    },
  });
  return place;
}

/** From the part that names it, without what comes after `#`, as the archive writes it. */
function pathOf(from: string, href: string): string {
  const bare = href.split("#")[0] ?? "";
  return posix.normalize(posix.join(posix.dirname(from), decoded(bare))).replace(/^(?:\.\.?\/)+/, "");
}

function decoded(href: string): string {
  try {
    return decodeURIComponent(href);
  } catch {
    return href;
  }
}

/** Titles of chapters by path, from the book's own contents: `navPoint` in old books, links in new ones. */
export function titlesOf(archive: Archive, { navigation }: BookPackage): ReadonlyMap<string, string> {
  const titles = new Map<string, string>();
  if (navigation === undefined) return titles;
  let [text, href, isInside] = ["", "", false];
  const add = () => {
    const title = text.replaceAll(/\s+/g, " ").trim();
    const path = pathOf(navigation, href);
    if (title !== "" && href !== "" && !titles.has(path)) titles.set(path, title);
  };
  readXml(archive, navigation, {
    open(name, attributes) {
      if (name === "a" || name === "navLabel") [text, isInside] = ["", true];
      if (name === "a") href = attributes.get("href") ?? "";
      if (name === "content") {
        href = attributes.get("src") ?? "";
        add();
      }
    },
    close(name) {
      if (name === "a" || name === "navLabel") isInside = false;
      if (name === "a") add();
    },
    text: (more) => {
      if (isInside) text += more;
    },
  });
  return titles;
}
