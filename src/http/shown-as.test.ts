import assert from "node:assert/strict";
import { test } from "node:test";
import { shownAs } from "./shown-as.ts";

test("a browser shows pictures, sounds and films of every kind it knows, and what is anything else is only saved [S3][B1]", () => {
  const media = [
    ...["image/png", "image/jpeg", "image/gif", "image/webp", "image/bmp", "image/avif", "image/x-icon"],
    ...["audio/mpeg", "video/mp4", "video/x-matroska"],
  ];
  const policy = "default-src 'none'; sandbox; frame-ancestors 'self'";
  for (const type of media) assert.deepEqual(shownAs(type, { runs: true }), { type, policy });
  for (const type of ["text/plain", "image/tiff", "application/xhtml+xml", "text/xml", "image/png; x", undefined])
    assert.equal(shownAs(type, { runs: true }), undefined, String(type));
});

test("a page, a drawing and a PDF load nothing from elsewhere, and only a page that somebody lets run does [S3][B1]", () => {
  const policy = (mime: string, runs: boolean) => shownAs(mime, { runs })?.policy.split("; ");
  const still = [
    ...["default-src 'none'", "style-src 'unsafe-inline'", "img-src data: blob:", "font-src data:"],
    ...["media-src data: blob:", "form-action 'none'", "base-uri 'none'", "sandbox", "frame-ancestors 'self'"],
  ];
  assert.deepEqual(policy("text/html", false), still);
  const running = still.map((rule) => (rule === "sandbox" ? "sandbox allow-scripts" : rule));
  assert.deepEqual(policy("text/html", true), [
    ...["default-src 'none'", "script-src 'unsafe-inline' 'unsafe-eval'", ...running.slice(1)],
  ]);
  const drawing = [
    "default-src 'none'",
    "style-src 'unsafe-inline'",
    "img-src data:",
    "sandbox",
    "frame-ancestors 'self'",
  ];
  assert.deepEqual(
    [policy("image/svg+xml", true), policy("application/pdf", true)],
    [drawing, ["frame-ancestors 'self'"]],
  );
});
