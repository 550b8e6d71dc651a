import { isBelow, placesOf } from "./paths.ts";
import { any, type Run, type Scene, type Stream, unknownStream, unreadScript } from "./scene.ts";

/** What is longer nobody has read. */
export const fileCharactersMax = 262_144;
/** Files that are read to be run, also when no program is named that runs them. */
export const scriptNames = /\.(sh|bash|py|js|mjs|cjs|ts|sql|pl|rb|php|awk)$/;

/**
 * What a file holds, when the text itself wrote it or somebody read it for us. `unseen`: fetched, decoded, or there and
 * read by nobody. `undefined`: it is not there. `isRun`: it is about to be run.
 */
export function fileText(run: Run, path: string, isRun = false): { readonly text: string } | "unseen" | undefined {
  const { scene, state } = run;
  const isScript = isRun || scriptNames.test(path);
  const texts: string[] = [];
  for (const place of placesOf(scene, state, path)) {
    const text = textAt(scene, place, path, isScript);
    if (text === "unseen" || (text === undefined && isRun && isHidden(scene, place))) return "unseen";
    if (text !== undefined) texts.push(text.text);
  }
  return texts.length === 0 ? undefined : { text: texts.join("\n") };
}

function textAt(scene: Scene, place: string, path: string, isScript: boolean) {
  const { root, scripts } = scene.facts;
  if (scene.open.has(place)) return "unseen";
  if (scene.files.has(place)) {
    const text = scene.files.get(place);
    return text === undefined ? "unseen" : { text };
  }
  const named = isBelow(place, root) ? place.slice(root.length + 1) : place;
  if (isScript && named !== "" && !/[\uE000\uE001*?[]/.test(named)) scene.scripts.add(named);
  const text = scripts.get(named) ?? scripts.get(place) ?? scripts.get(path);
  if (text === unreadScript) return "unseen";
  return text === undefined ? undefined : { text };
}

/** Where programs of earlier calls write and nobody else can look. What was written in this call is known. */
export function isHidden({ facts }: Scene, place: string): boolean {
  if (isBelow(place, facts.root) || place.includes(any)) return false;
  return ["/tmp", "/var/tmp", "/dev/shm"].some((folder) => isBelow(place, folder));
}

/** Keeps what a command writes, so that it is judged when it is run. */
export function writeFile({ scene, state }: Run, path: string, stream: Stream, appends: boolean): void {
  for (const place of placesOf(scene, state, path)) writeAt(scene, { place, path, appends }, stream);
}

/** From here on somebody writes this file, and nobody knows what is in it; until the answer is called with all of it. */
export function openFile({ scene, state }: Run, path: string, appends: boolean): (stream: Stream) => void {
  const places = placesOf(scene, state, path).filter((place) => !isBelow(place, "/dev"));
  // A path of which nothing is known would be every other such path, too.
  const own = places.filter((place) => !scene.open.has(place) && place !== `/${any}`);
  for (const place of own) scene.open.set(place, { isShared: false });
  return (stream) => {
    for (const place of places) {
      const isShared = scene.open.get(place)?.isShared === true;
      if (own.includes(place)) scene.open.delete(place);
      writeAt(scene, { place, path, appends }, isShared ? unknownStream : stream);
    }
  };
}

type Target = { readonly place: string; readonly path: string; readonly appends: boolean };

function writeAt(scene: Scene, { place, path, appends }: Target, stream: Stream): void {
  if (isBelow(place, "/dev")) return;
  if (scene.open.has(place)) scene.open.set(place, { isShared: true });
  const known = appends ? textAt(scene, place, path, scriptNames.test(path)) : undefined;
  const before = known === "unseen" ? undefined : (known?.text ?? "");
  const isKnown = !stream.unseen && stream.text !== undefined && before !== undefined;
  const text = isKnown ? before + (stream.text ?? "") : undefined;
  // What was made by a program, nobody has read when it is run.
  scene.files.set(place, text !== undefined && text.length <= fileCharactersMax ? text : undefined);
}
