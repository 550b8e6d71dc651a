import assert from "node:assert/strict";
import { test } from "node:test";
import { browserCommand } from "../../src/open-browser.ts";

test("a browser is opened where somebody sits before a screen, and nowhere else [B1][P1]", () => {
  const on = (platform: string, env: Record<string, string>) => browserCommand({ platform, env })?.[0];
  assert.deepEqual(
    [
      ...[on("linux", {}), on("linux", { DISPLAY: ":0" }), on("linux", { WAYLAND_DISPLAY: "wayland-0" })],
      ...[on("darwin", {}), on("win32", {})],
      ...[on("linux", { DISPLAY: ":0", CI: "1" }), on("darwin", { SSH_CONNECTION: "10.0.0.1" })],
      on("darwin", { BROWSER: "none" }),
    ],
    [undefined, "xdg-open", "xdg-open", "open", "rundll32", undefined, undefined, undefined],
  );
});
