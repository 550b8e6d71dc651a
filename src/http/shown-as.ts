import type { Shown } from "./download.ts";

/** What a browser shows by itself. */
const media = /^(image\/(png|jpeg|gif|webp|bmp|avif|x-icon)|(audio|video)\/[\w.+-]+)$/;

/** Nothing is loaded, nothing runs, and only our own pages show it. */
const still = "default-src 'none'; sandbox; frame-ancestors 'self'";
/** A drawing has styles and pictures inside of itself; opened as a page, too, it runs nothing. */
const drawing = "default-src 'none'; style-src 'unsafe-inline'; img-src data:; sandbox; frame-ancestors 'self'";
/** A page has its own styles and pictures; it leads nowhere by itself, and as nothing of it runs, it tells nobody anything. */
const stillPage = [
  ...["default-src 'none'", "style-src 'unsafe-inline'", "img-src data: blob:", "font-src data:"],
  ...["media-src data: blob:", "form-action 'none'", "base-uri 'none'", "sandbox", "frame-ancestors 'self'"],
].join("; ");
/**
 * It may run its own scripts where somebody wants that, in an origin of its own: it has neither our cookies nor our storage,
 * loads nothing and opens nothing. But browsers have no policy that keeps scripts from WebRTC: they can tell others what
 * stands in the page. `srcdoc` and `blob:` would take over the policy of the app, under which it could not run at all.
 */
const page = stillPage
  .replace("default-src 'none'", "default-src 'none'; script-src 'unsafe-inline' 'unsafe-eval'")
  .replace("; sandbox;", "; sandbox allow-scripts;");
/** The browser's own viewer stands still under `sandbox`; a PDF is no page of ours, and runs nothing of it. */
const pdf = "frame-ancestors 'self'";

/** As what a file is shown, by its content; undefined where it is only to be saved. `runs`: with the scripts of a page. */
export function shownAs(mime: string | undefined, { runs }: { readonly runs: boolean }): Shown | undefined {
  if (mime === undefined) return undefined;
  if (mime === "text/html") return { type: "text/html; charset=utf-8", policy: runs ? page : stillPage };
  if (mime === "image/svg+xml") return { type: mime, policy: drawing };
  if (mime === "application/pdf") return { type: mime, policy: pdf };
  return media.test(mime) ? { type: mime, policy: still } : undefined;
}
