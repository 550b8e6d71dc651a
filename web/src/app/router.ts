import { createStore, useStore } from "./store.ts";

/** What the address says is to be shown. */
export type Place =
  | {
      readonly page: "chat";
      readonly conversation: string | undefined;
      /** The file that is looked at, by its path; empty: the list of files. */
      readonly file?: string | undefined;
      /** Where in the file: `page=3`, `line=12`. */
      readonly spot?: string | undefined;
      /** A message of it that is looked for: its place in the log. */
      readonly at?: number | undefined;
      /** What else stands beside the messages. */
      readonly panel?: "timeline" | undefined;
    }
  | { readonly page: "inbox" }
  | { readonly page: "files" }
  | {
      readonly page: "tasks";
      /** Undefined: the one where something happens. */
      readonly conversation: string | undefined;
      /** The one that is looked at. */
      readonly agent?: string | undefined;
    }
  | { readonly page: "settings"; readonly section: string | undefined }
  | { readonly page: "setup" }
  | { readonly page: "unknown" };

/** The path below which we are served, without a slash at its end: the server writes it into the page. */
export const basePath = new URL(document.baseURI).pathname.replace(/\/$/, "");

const current = createStore(placeAt(location));

addEventListener("popstate", () => current.set(placeAt(location)));

function placeAt({ pathname, hash }: Pick<Location, "pathname" | "hash">): Place {
  const path = pathname.startsWith(basePath) ? pathname.slice(basePath.length) : pathname;
  const [first = "", second, third, ...rest] = path.split("/").slice(1).map(decoded);
  switch (first) {
    case "":
      return { page: "chat", conversation: undefined };
    case "c":
      if (!second) return { page: "chat", conversation: undefined };
      if (third === "timeline") return { page: "chat", conversation: second, panel: third };
      if (third !== "f") return { page: "chat", conversation: second, at: placeIn(hash) };
      return { page: "chat", conversation: second, file: rest.join("/"), spot: decoded(hash.slice(1)) || undefined };
    case "settings":
      return { page: "settings", section: second || undefined };
    case "tasks":
      return { page: "tasks", conversation: second || undefined, agent: third || undefined };
    case "inbox":
    case "files":
    case "setup":
      return { page: first };
    default:
      return { page: "unknown" };
  }
}

/** Whose tasks are meant by who asks for them here: those of the conversation that is shown. */
export function tasksAt(place: Place): Place {
  const conversation = place.page === "chat" || place.page === "tasks" ? place.conversation : undefined;
  return { page: "tasks", conversation };
}

export function addressOf(place: Place): string {
  return `${basePath}/${partsOf(place)
    .map((part) => encodeURIComponent(part))
    .join("/")}${spotOf(place)}`;
}

function spotOf(place: Place): string {
  if (place.page !== "chat") return "";
  if (place.at !== undefined) return `#at=${place.at}`;
  return place.spot === undefined ? "" : `#${encodeURIComponent(place.spot)}`;
}

function partsOf(place: Place): readonly string[] {
  switch (place.page) {
    case "chat":
      if (place.conversation === undefined) return [];
      if (place.panel !== undefined) return ["c", place.conversation, place.panel];
      return [
        "c",
        place.conversation,
        ...(place.file === undefined ? [] : ["f", ...place.file.split("/").filter((part) => part !== "")]),
      ];
    case "settings":
      return place.section === undefined ? ["settings"] : ["settings", place.section];
    case "tasks":
      return ["tasks", ...[place.conversation, place.agent].filter((part) => part !== undefined)];
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
  if (address !== location.pathname + location.hash)
    history[options.instead === true ? "replaceState" : "pushState"](null, "", address);
  current.set(place);
}

export function usePlace(): Place {
  return useStore(current);
}

/** `#at=12` */
function placeIn(hash: string): number | undefined {
  const [, digits] = /^#at=(\d{1,15})$/.exec(hash) ?? [];
  return digits === undefined ? undefined : Number(digits);
}

function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part; // Typed by hand: `%` alone stands for itself.
  }
}
