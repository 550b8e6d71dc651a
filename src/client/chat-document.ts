import type { ChatIncrement } from "../protocol/chat.ts";

/**
 * How a client carries out frames. `web`: as the service's own page does, which leaves a hole where an element is
 * removed; `docs`: as the sample in its documentation, where elements move up and an append to an array pushes.
 */
type IncrementVariant = "web" | "docs";

type Holder = Record<string | number, unknown>;

/**
 * A document with one more frame of a stream carried out: begin with `{}` and hand in what the last call gave. The
 * document itself is changed. Where a stream was cut off, the frames of the next one go over what is there.
 */
export function applyIncrement(
  document: unknown,
  { key, content, action }: ChatIncrement,
  variant: IncrementVariant = "web",
): unknown {
  if (action === "end") return document;
  const last = key.at(-1);
  if (last === undefined) return ofRoot(document, content, action);
  // A name that means something else than a member of an object is no place in a document.
  if (key.some((name) => name === "__proto__")) return document;
  const root = isHolder(document) ? document : {};
  const parent = parentOf(root, key);
  // Other names of an array are its own business.
  if (Array.isArray(parent) && typeof last !== "number") return root;
  if (action === "remove") remove(parent, last, variant);
  else parent[last] = action === "append" ? appended(parent[last], content, variant) : content;
  return root;
}

function ofRoot(document: unknown, content: unknown, action: "upsert" | "append" | "remove"): unknown {
  if (action === "remove") return {};
  return action === "append" && typeof document === "string" && typeof content === "string"
    ? document + content
    : content;
}

/** What is missing on the way is made: an array where the next step is a number. */
function parentOf(root: Holder, key: ChatIncrement["key"]): Holder {
  let holder = root;
  for (const [index, name] of key.slice(0, -1).entries()) {
    const member = Object.hasOwn(holder, name) ? holder[name] : undefined;
    const next: Holder = isHolder(member) ? member : emptyFor(key[index + 1]);
    if (next !== member && !(Array.isArray(holder) && typeof name !== "number")) holder[name] = next;
    holder = next;
  }
  return holder;
}

function emptyFor(name: string | number | undefined): Holder {
  const array: unknown[] = [];
  return typeof name === "number" && isHolder(array) ? array : {};
}

function appended(before: unknown, content: unknown, variant: IncrementVariant): unknown {
  if (typeof before === "string" && typeof content === "string") return before + content;
  if (variant === "docs" && Array.isArray(before)) {
    before.push(content);
    return before;
  }
  return content;
}

function remove(parent: Holder, last: string | number, variant: IncrementVariant): void {
  if (Array.isArray(parent) && typeof last === "number" && variant === "docs") parent.splice(last, 1);
  else delete parent[last];
}

function isHolder(value: unknown): value is Holder {
  return typeof value === "object" && value !== null;
}
