import { createContext } from "react";
import { basePath } from "../app/router.ts";

/** The conversation whose files a text may show; undefined where it has none. */
export const FilesOf = createContext<string | undefined>(undefined);

/** Where a file of a conversation is shown as what it is. */
export function previewAddress(conversation: string, path: string): string {
  return `${filesAddress(conversation)}/preview?path=${encodeURIComponent(path)}`;
}

/** `agent`: of the files that this one works with, where they are not the conversation's own. */
export function downloadAddress(conversation: string, path: string, agent?: string): string {
  const whose = agent === undefined ? "" : `&agent=${encodeURIComponent(agent)}`;
  return `${filesAddress(conversation)}/content?path=${encodeURIComponent(path)}${whose}`;
}

export function archiveAddress(conversation: string, path: string): string {
  return `${filesAddress(conversation)}/archive?path=${encodeURIComponent(path)}`;
}

function filesAddress(conversation: string): string {
  return `${basePath}/api/v1/conversations/${encodeURIComponent(conversation)}/files`;
}

/** What a link in a text leads to. */
export type Target =
  | { readonly kind: "web"; readonly address: string; readonly host: string }
  | { readonly kind: "file"; readonly path: string; readonly spot: string | undefined }
  | { readonly kind: "picture"; readonly address: string }
  | { readonly kind: "none" };

const roots =
  /^(?:sandbox:|file:)?\/{0,3}(?:\.\/)?(?:workspace\/|mnt\/data\/)?((?:uploads|outputs|temp)\/[^?#]*)(?:\?[^#]*)?(?:#(.*))?$/i;
const pictures = /^data:image\/(?:png|jpeg|gif|webp);base64,[a-z0-9+/=\s]*$/i;
const pictureCharactersMax = 4_000_000;

/** Only the web, mail, and the conversation's own files: no other scheme, and no address of ours that a text could have called. */
export function targetOf(address: string): Target {
  const [, path, spot] = roots.exec(address) ?? [];
  if (path !== undefined)
    return { kind: "file", path: decoded(path), spot: spot === undefined ? undefined : decoded(spot) };
  if (address.length <= pictureCharactersMax && pictures.test(address)) return { kind: "picture", address };
  const url = parsed(address);
  if (url === undefined || !["http:", "https:", "mailto:"].includes(url.protocol)) return { kind: "none" };
  return { kind: "web", address: url.href, host: url.host || url.pathname };
}

/** Absolute addresses alone. */
function parsed(address: string): URL | undefined {
  return URL.canParse(address) ? new URL(address) : undefined;
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
