/** What a file of a conversation is called as a resource. */
const beginning = "agentyard://conversations/";

/** RFC 6570, as clients read it. */
export const fileUriTemplate = `${beginning}{conversation}/files/{+path}`;

export function fileUri(conversation: string, path: string): string {
  const names = path.split("/").map(encodeURIComponent).join("/");
  return `${beginning}${encodeURIComponent(conversation)}/files/${names}`;
}

/** Undefined for what is no part of an address. */
export function decoded(part: string | readonly string[] | undefined): string | undefined {
  try {
    return typeof part === "string" ? decodeURIComponent(part) : undefined;
  } catch {
    return undefined;
  }
}
