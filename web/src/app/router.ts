import { createStore, useStore } from "./store.ts";

/** What the address says is to be shown. */
export type Place =
  | { readonly page: "chat"; readonly conversation: string | undefined; readonly file?: string | undefined }
  | { readonly page: "inbox" }
  | { readonly page: "tasks"; readonly task: string | undefined }
  | { readonly page: "files" }
  | { readonly page: "settings"; readonly section: string | undefined }
  | { readonly page: "setup" }
  | { readonly page: "unknown" };

/** The path below which we are served, without a slash at its end: the server writes it into the page. */
export const basePath = new URL(document.baseURI).pathname.replace(/\/$/, "");

const current = createStore(placeAt(location.pathname));

addEventListener("popstate", () => current.set(placeAt(location.pathname)));

function placeAt(pathname: string): Place {
  const path = pathname.startsWith(basePath) ? pathname.slice(basePath.length) : pathname;
  const [first = "", second, third, ...rest] = path.split("/").slice(1).map(decoded);
  switch (first) {
    case "":
      return { page: "chat", conversation: undefined };
    case "c":
      if (!second) return { page: "chat", conversation: undefined };
      return { page: "chat", conversation: second, file: third === "f" ? rest.join("/") || undefined : undefined };
    case "tasks":
      return { page: "tasks", task: second || undefined };
    case "settings":
      return { page: "settings", section: second || undefined };
    case "inbox":
    case "files":
    case "setup":
      return { page: first };
    default:
      return { page: "unknown" };
  }
}

export function addressOf(place: Place): string {
  return `${basePath}/${partsOf(place)
    .map((part) => encodeURIComponent(part))
    .join("/")}`;
}

function partsOf(place: Place): readonly string[] {
  switch (place.page) {
    case "chat":
      if (place.conversation === undefined) return [];
      return ["c", place.conversation, ...(place.file === undefined ? [] : ["f", ...place.file.split("/")])];
    case "tasks":
      return place.task === undefined ? ["tasks"] : ["tasks", place.task];
    case "settings":
      return place.section === undefined ? ["settings"] : ["settings", place.section];
    case "unknown":
      return [];
    case "inbox":
    case "files":
    case "setup":
      return [place.page];
  }
}

/** Goes there. `instead`: the way back leads past where we are now. */
export function go(place: Place, options: { readonly instead?: boolean } = {}): void {
  const address = addressOf(place);
  if (address !== location.pathname)
    history[options.instead === true ? "replaceState" : "pushState"](null, "", address);
  current.set(place);
}

export function usePlace(): Place {
  return useStore(current);
}

function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part; // Typed by hand: `%` alone stands for itself.
  }
}
