import type { Shown } from "./download.ts";

/** What a browser shows by itself. */
const media = /^(image\/(png|jpeg|gif|webp|bmp|avif|x-icon)|(audio|video)\/[\w.+-]+)$/;

/** Nothing is loaded, nothing runs, and only our own pages show it. */
const still = "default-src 'none'; sandbox; frame-ancestors 'self'";
/** A drawing has styles and pictures inside of itself; opened as a page, too, it runs nothing. */
const drawing = "default-src 'none'; style-src 'unsafe-inline'; img-src data:; sandbox; frame-ancestors 'self'";
/**
 * A page may run its own scripts, in an origin of its own: it has neither our cookies nor our storage, reaches nobody, and
 * opens nothing. `srcdoc` and `blob:` would take over the policy of the app, under which it could not run at all.
 */
const page = [
  ...["default-src 'none'", "script-src 'unsafe-inline' 'unsafe-eval'", "style-src 'unsafe-inline'"],
  ...["img-src data: blob:", "font-src data:", "media-src data: blob:", "form-action 'none'", "base-uri 'none'"],
  ...["sandbox allow-scripts", "frame-ancestors 'self'"],
].join("; ");
/** The browser's own viewer stands still under `sandbox`; a PDF is no page of ours, and runs nothing of it. */
const pdf = "frame-ancestors 'self'";

/** As what a file is shown, by its content; undefined where it is only to be saved. */
export function shownAs(mime: string | undefined): Shown | undefined {
  if (mime === undefined) return undefined;
  if (mime === "text/html") return { type: "text/html; charset=utf-8", policy: page };
  if (mime === "image/svg+xml") return { type: mime, policy: drawing };
  if (mime === "application/pdf") return { type: mime, policy: pdf };
  return media.test(mime) ? { type: mime, policy: still } : undefined;
}
