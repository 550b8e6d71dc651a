import { posix } from "node:path";
import { any, name, type Scene, type State, spend } from "./scene.ts";

const pathCharactersMax = 4096;

/** Where a path can lead, as absolute paths; more than one when the shell can be in several folders. */
export function placesOf(scene: Scene, state: Pick<State, "folders">, path: string): string[] {
  return [...new Set(state.folders.map((folder) => placeOf(scene, folder, path)))];
}

/** The absolute path, through the links that the text itself has made. */
function placeOf(scene: Scene, folder: string, path: string): string {
  if (path.length > pathCharactersMax) return any;
  const absolute = posix.normalize(posix.join("/", withHome(scene, folder, path)));
  const place = absolute.length > 1 && absolute.endsWith("/") ? absolute.slice(0, -1) : absolute;
  return through(scene, own(scene, climbing(place)));
}

const folders = ["uploads", "outputs", "temp", "skills"];

/** `/workspace/uploads` is `/workspace/{id}/uploads`. Folders of another conversation are not there: ours are meant. */
function own({ facts }: Scene, place: string): string {
  const parent = posix.dirname(facts.root);
  if (!facts.contained || parent === "/" || !place.startsWith(`${parent}/`)) return place;
  const [first = "", second = "", ...rest] = place.slice(parent.length + 1).split("/");
  if (folders.includes(first)) return [facts.root, first, ...(second === "" ? [] : [second]), ...rest].join("/");
  const isOurs = folders.includes(second) && (second === "uploads" || !first.includes(any));
  return isOurs ? [facts.root, second, ...rest].join("/") : place;
}

function withHome(scene: Scene, folder: string, path: string): string {
  if (path === "~" || path.startsWith("~/")) return home(scene) + path.slice(1);
  if (path.startsWith("~")) return `/${name}${path.includes("/") ? path.slice(path.indexOf("/")) : ""}`;
  // It may begin with a slash or not.
  if (path.startsWith(any)) return `/${path}`;
  return path.startsWith("/") ? path : `${folder}/${path}`;
}

/** Programs of a sandbox are at home in their files. */
export function home(scene: Scene): string {
  return scene.facts.contained ? scene.facts.root : `/${name}`;
}

/** `.?` and `[.]*` can stand for `..`, so nobody knows where the rest leads. */
function climbing(place: string): string {
  if (!/\/[.[?*][^/]*[?*\]]|\/[?*]{2}(\/|$)/.test(place)) return place;
  const pieces = place.split("/");
  return pieces.map((piece) => (/^[.[]/.test(piece) && isGlob(piece) && matches(piece, "..") ? any : piece)).join("/");
}

function through(scene: Scene, place: string): string {
  let at = place;
  spend(scene, scene.links.size);
  // A link may lead to a link.
  for (let turns = 0; turns < 8; turns += 1) {
    const link = [...scene.links.keys()].find((one) => at === one || at.startsWith(`${one}/`));
    if (link === undefined) return at;
    at = posix.normalize(`${scene.links.get(link) ?? any}${at.slice(link.length)}`);
  }
  return any;
}

/** What lies there may go: below `temp/`, or in a sandbox's own `/tmp`. */
export function isTemporary(scene: Scene, place: string): boolean {
  if (place.includes(any)) return false;
  if (isBelow(place, `${scene.facts.root}/temp`)) return true;
  // Files of the user may themselves lie below the machine's /tmp.
  const holdsFiles = isBelow(scene.facts.root, place) || isBelow(place, scene.facts.root) || isGlob(place.slice(0, 5));
  return scene.facts.contained && isBelow(place, "/tmp") && !holdsFiles;
}

/** Whether it is, lies in, or can stand for `uploads/`. */
export function isOfUploads(scene: Scene, place: string): boolean {
  const { root } = scene.facts;
  if (isBelow(place, `${root}/uploads`)) return true;
  if (!place.startsWith(`${root}/`)) return false;
  const first = place.slice(root.length + 1).split("/")[0] ?? "";
  return isGlob(first) && !first.includes(any) && matches(first, "uploads");
}

/** The files as a whole, or something that they lie in. */
export function holdsAll(scene: Scene, place: string): boolean {
  return isBelow(scene.facts.root, place) || [".", "..", "*", "**"].includes(place.slice(scene.facts.root.length + 1));
}

export function isBelow(place: string, folder: string): boolean {
  return place === folder || place.startsWith(folder === "/" ? folder : `${folder}/`);
}

export function isGlob(text: string): boolean {
  return /[*?[]/.test(text);
}

/** Whether a pattern of the shell stands for a text. Takes a step for each pair of characters at the most. */
export function matches(pattern: string, text: string): boolean {
  let [at, from, star, mark] = [0, 0, -1, 0];
  while (from < text.length) {
    const length = stepOf(pattern, at, text[from] ?? "");
    if (pattern[at] === "*" || pattern[at] === name || pattern[at] === any) {
      [star, mark] = [at, from];
      at += 1;
    } else if (length > 0) {
      at += length;
      from += 1;
    } else if (star !== -1) {
      mark += 1;
      [at, from] = [star + 1, mark];
    } else return false;
  }
  while ([..."*", name, any].includes(pattern[at] ?? "")) at += 1;
  return at === pattern.length;
}

/** How many characters of the pattern stand for this one; none when they do not. */
function stepOf(pattern: string, at: number, character: string): number {
  const one = pattern[at];
  if (one === "?") return 1;
  if (one !== "[") return one === character ? 1 : 0;
  classes.lastIndex = at;
  const [found = ""] = classes.exec(pattern) ?? [];
  if (found === "") return character === "[" ? 1 : 0;
  const inside = found.slice(1, -1);
  // `[[:alpha:]]`: taken as any character.
  if (inside.includes("[:")) return found.length;
  const isNegated = /^[!^]/.test(inside);
  const isIn = inClass(isNegated ? inside.slice(1) : inside, character);
  return isIn !== isNegated ? found.length : 0;
}

/** A bracket that stands first is one of the characters. */
const classes = /\[[!^]?\]?(?:\[:\w+:\]|[^\]])*\]/y;

function inClass(set: string, character: string): boolean {
  for (let at = 0; at < set.length; at += 1) {
    const [low, dash, high] = [set[at] ?? "", set[at + 1], set[at + 2]];
    if (dash === "-" && high !== undefined) {
      if (low <= character && character <= high) return true;
      at += 2;
    } else if (low === character) return true;
  }
  return false;
}
