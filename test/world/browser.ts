import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import axe from "axe-core";
import { type Browser, type BrowserContext, chromium, type Page } from "playwright-core";
import { systemClock } from "../../src/base/clock.ts";
import { listen } from "../../src/http/http.ts";
import { startYard, type TestYard, type TestYardOptions } from "./yard.ts";

const root = join(import.meta.dirname, "..", "..");
const program = "/usr/bin/chromium-headless-shell";

/** Why stories of the browser cannot run here; undefined where they can. */
export const noBrowser = existsSync(program)
  ? undefined
  : "there is no Chromium: `apt-get install chromium-headless-shell`";

const quietly = (
  "--no-sandbox --disable-gpu --disable-quic --no-first-run --disable-background-networking " +
  "--disable-component-update --disable-sync --disable-dev-shm-usage"
).split(" ");

/** This machine by a name of a network: to a browser a page from there is one without TLS, which can do less. */
export const lanName = "yard.lan";

/** Debian's headless Chromium. What pages complain about is kept, and no story may end with a complaint. */
export type TestBrowser = {
  /** A person with a browser of their own: another one has other cookies and another memory. */
  person(options?: Parameters<Browser["newContext"]>[0]): Promise<BrowserContext>;
  /** Errors on the console, breaches of the page's policy, requests to elsewhere: since last asked. */
  complaints(): string[];
  close(): Promise<void>;
};

const launch = { executablePath: program, args: [...quietly, `--host-resolver-rules=MAP ${lanName} 127.0.0.1`] };

/** One for a whole run of `npm test`, which names it in AGENTYARD_TEST_BROWSER. */
export async function startBrowser(): Promise<{ readonly address: string; close(): Promise<void> }> {
  buildWeb();
  const server = await chromium.launchServer(launch);
  return { address: server.wsEndpoint(), close: () => server.close() };
}

/** That of the run, or one of its own where a file is run by itself. Nobody sees the pages of another one. */
export async function openBrowser(): Promise<TestBrowser> {
  const { AGENTYARD_TEST_BROWSER: shared } = process.env;
  if (shared === undefined) buildWeb();
  const browser = await (shared === undefined ? chromium.launch(launch) : chromium.connect(shared));
  const heard: string[] = [];
  return {
    async person(options = {}) {
      const context = await browser.newContext({
        ...{ viewport: { width: 1360, height: 860 }, locale: "en-US", reducedMotion: "reduce", colorScheme: "light" },
        ...options,
      });
      context.setDefaultTimeout(60_000);
      context.on("page", (page) => watch(page, heard));
      return context;
    },
    complaints: () => heard.splice(0),
    close: () => browser.close(),
  };
}

/** A server that is away is no fault of the page. */
const isAway = process.env.AGENTYARD_TEST_REPLICAS
  ? /net::ERR_|status of 502/ // A balancer answers for servers that are away.
  : /net::ERR_(CONNECTION_\w+|SOCKET_NOT_CONNECTED|INCOMPLETE_CHUNKED_ENCODING|CONTENT_LENGTH_MISMATCH|EMPTY_RESPONSE)/;

function watch(page: Page, heard: string[]): void {
  page.on("pageerror", (error) => heard.push(`thrown: ${error.message}`));
  page.on("console", (line) => {
    if (line.type() === "error" && !isAway.test(line.text())) heard.push(`console: ${line.text()}`);
  });
  page.on("request", (request) => {
    const { protocol, hostname } = new URL(request.url());
    if (/^https?:$/.test(protocol) && ![lanName, "127.0.0.1"].includes(hostname))
      heard.push(`request: ${request.url()}`);
  });
}

/** The build as the sources are now; a second is all it takes. */
function buildWeb(): void {
  const { status, stderr } = spawnSync(process.execPath, [join(root, "scripts", "build-web.mjs")], {
    encoding: "utf8",
  });
  if (status !== 0) throw new Error(`the browser app could not be built: ${stderr}`);
}

/** A yard with the browser app, on a port of this machine. */
export async function serveYard(
  options: TestYardOptions & { readonly basePath?: string } = {},
): Promise<TestYard & { readonly address: string }> {
  const { basePath = "", ...rest } = options;
  const yard = await startYard({ ...rest, webDir: join(root, "dist-web") });
  const server = await listen(yard.app, { host: "127.0.0.1", port: 0 }, { clock: systemClock, basePath });
  if (!server.ok) throw new Error(server.failure.said);
  const { value } = server;
  return {
    ...yard,
    address: `${value.address}${basePath}`,
    async [Symbol.asyncDispose]() {
      await value.close();
      await yard[Symbol.asyncDispose]();
    },
  };
}

/** Kept where AGENTYARD_SCREENSHOTS names a folder: people look at them. */
export async function picture(page: Page, name: string): Promise<void> {
  const folder = process.env.AGENTYARD_SCREENSHOTS;
  if (folder === undefined || folder === "") return;
  mkdirSync(folder, { recursive: true });
  await page.screenshot({ path: join(folder, `${name}.png`), animations: "disabled", caret: "hide" });
}

/** What axe-core finds on the page, or in a part of it, that keeps somebody from using it. */
export async function seriousIssues(page: Page, within = "html"): Promise<string[]> {
  await page.evaluate(axe.source);
  return page.evaluate(async (part) => {
    const { axe } = globalThis as unknown as {
      axe: { run(part: string): Promise<{ violations: { id: string; impact: string; nodes: { html: string }[] }[] }> };
    };
    const { violations } = await axe.run(part);
    return violations
      .filter(({ impact }) => impact === "serious" || impact === "critical")
      .map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html.slice(0, 120)).join(" · ")}`);
  }, within);
}
