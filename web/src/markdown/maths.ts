import temml, { type Options } from "temml";
import "temml/dist/Temml-Local.css";

/** Undefined where the library does not understand it. */
export function renderMaths(tex: string, options: Options): Node | undefined {
  const place = document.createElement("span");
  try {
    temml.render(tex, place, options);
  } catch {
    return undefined;
  }
  return place.firstChild ?? undefined;
}
