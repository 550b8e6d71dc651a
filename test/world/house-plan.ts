// Where everything stands. CONTRIBUTING.md and ARCHITECTURE.md tell it to people, house.ts and house-imports.ts hold it.

/** The wiring stands above all: the command, the process, and the parts put together. It alone knows the adapters. */
export const WIRING = [
  ...[
    "main.ts",
    "command.ts",
    "first-draw.ts",
    "reload-settings.ts",
    "notes.ts",
    "machine.ts",
    "look.ts",
    "remote.ts",
    "host-sandboxes.ts",
    "doctor.ts",
    "model-test.ts",
    "approvals-test.ts",
    "backup-commands.ts",
    "restore.ts",
    "backup.ts",
    "move-data.ts",
  ],
  ...[
    "extend.ts",
    "attach.ts",
    "own-yard.ts",
    "onto-database.ts",
    "peers.ts",
    "sandbox-provider.ts",
    "open-storage.ts",
    "agreement.ts",
    "yard.ts",
    "close-in-order.ts",
    "providers.ts",
    "data-place.ts",
    "search-documents.ts",
    "secret-key.ts",
    "openable-address.ts",
    "open-browser.ts",
  ],
];
/** The page: a file imports from its own folder or from folders further down. */
export const PAGE = (
  `${WIRING.join(" ")} config ` +
  "terminal http mcp-server " +
  "loop " +
  "context operators mcp tools approvals skills lookup documents search extract " +
  "sandbox web workspace models users observe " +
  "homes log storage " +
  "client protocol words base"
).split(" ");
/** The rooms of the browser app, below web/src/. They import each other's files as they need them. */
export const WEB_ROOMS =
  "app chat conversations files preview markdown decisions settings first-run tasks timeline parts words".split(" ");
/** Folders without a front file: one file per word. */
export const OPEN = ["protocol", "base"];
/**
 * Ports, what of the client runs under Node only and must not reach a browser, and what a thread, or the settings that
 * every command reads, should get without the whole room.
 */
export const FREE_FILES = [
  "src/models/provider.ts",
  "src/models/profile.ts",
  "src/client/socket-fetch.ts",
  "src/client/socket-path.ts",
  // The few words that a client has of its own, without the whole catalogue: a browser loads them.
  "src/words/client-failures.ts",
  // Why a call needs a decision: the browser says the same.
  ...["src/words/en-approvals.ts", "src/words/zh-approvals.ts", "src/words/en-team.ts", "src/words/zh-team.ts"],
  "src/sandbox/provider.ts",
  "src/workspace/files-below.ts",
  // What reading hands to searching, as types.
  "src/extract/extracted.ts",
  "src/extract/decode.ts",
  "src/extract/magic.ts",
  // The bench compares pages as they are read, before running heads are taken out.
  ...["src/extract/pdf/pdfium.ts", "src/extract/pdf/pdf-document.ts"],
  "src/http/settings.ts",
  // What is read before a chat is drawn, and draws it: the rooms behind their front files take three times as long.
  ...["src/config/first-look.ts", "src/terminal/typed-chat.ts"],
  "src/terminal/rich/first-prompt.ts",
  "src/approvals/pattern.ts",
  "src/approvals/rules.ts",
  "src/web/search-services.ts",
  // The front file has its types: who only reads settings need not load all that speaks with a model.
  "src/models/embedding/embedding.ts",
  // Read by the build only, and by the page of all failures; and what operators import, which brings nothing else along.
  ...[
    "src/terminal/man-page.ts",
    "src/http/status.ts",
    "src/approvals/checker-definition.ts",
    "src/tools/custom-tool.ts",
  ],
];
/** Folders that have a port: each of their rooms stands behind it and is an adapter, but for those that are named. */
const PORTS = ["storage", "models", "sandbox"];
const NO_ADAPTERS = ["src/sandbox/network/", "src/models/embedding/"];
/** What a provider brings into a guest is the same for all of them, and so is most of speaking with a model of any kind. */
export const ADAPTERS_OF_ADAPTERS = {
  "src/sandbox/local/": "src/sandbox/guest/",
  "src/sandbox/docker/": "src/sandbox/guest/",
  "src/sandbox/kubernetes/": "src/sandbox/guest/",
  "src/sandbox/remote/": "src/sandbox/guest/",
  "src/models/openai/": "src/models/wire/",
  "src/models/anthropic/": "src/models/wire/",
  "src/models/google/": "src/models/wire/",
  "src/models/responses/": "src/models/wire/",
  "src/models/embedding/": "src/models/wire/",
};
/**
 * All rooms inside a room, from the top down; `.` are the files beside them, the front file stands above all. In approvals/
 * and loop/ there is no such order: a command may run code, and code commands; agents are driven by the loop, and are calls of its steps.
 */
export const INNER_PAGES: Readonly<Record<string, readonly string[]>> = {
  terminal: ["rich", "."],
  http: ["docs", "homes", "bind", "routes", "openai", "chat", "operators", "sandbox", "peers", "."],
  tools: ["builtin", "edit", "."],
  loop: ["agents ."],
  approvals: ["code shell ."],
  sandbox: ["local", "docker", "kubernetes", "remote", "guest", ".", "network"],
  models: ["demo", "openai", "responses", "anthropic", "google", "embedding", "wire", "."],
  search: [".", "sqlite", "text"],
  storage: ["sqlite", "postgres", "."],
  extract: ["threads", "pdf", "office", "pages", "plain", "packed", "."],
};
/** Rooms deeper still. */
export const DEEP_ROOMS = ["src/storage/sqlite/migrations", "src/storage/postgres/migrations"];
/** Clients of the API, which know nothing of what is behind it: they import only what browsers run as well, too. */
export const CLIENT_ROOMS = ["terminal", "mcp-server"];
/** What browsers run as well. */
export const BROWSER_ROOMS = ["client", "protocol", "words", "base"];
/** What of these rooms runs under Node only; no other file of them imports it. */
export const NODE_FILES = ["src/client/socket-fetch.ts", "src/client/socket-path.ts", "src/base/ids.ts"];
/** Libraries of Node that reach outside the process, or around our rules, with the rooms and files of src/ that may. */
export const NODE_HOMES: Readonly<Record<string, readonly string[]>> = {
  "node:sqlite": ["storage/sqlite/", "search/sqlite/"],
  "node:child_process": [
    "sandbox/local/",
    "mcp/child-transport.ts",
    "workspace/image-programs.ts",
    "doctor.ts",
    "machine.ts",
    "open-browser.ts",
  ],
  "node:worker_threads": [
    ...["documents/", "extract/threads/", "search/thread.ts", "search/worker.ts"],
    "storage/sqlite/",
    "sandbox/local/",
    "config/read-yaml.ts",
    "config/yaml-worker.ts",
  ],
  "node:fs": [
    ...[
      "workspace/",
      "storage/sqlite/",
      "sandbox/local/",
      "sandbox/docker/",
      "sandbox/kubernetes/",
      "sandbox/remote/",
      "config/",
      "terminal/",
      "observe/",
      ...WIRING,
    ],
    // A socket and its folder; the page of the documents, and the program of a guest, which lie beside them.
    ...[
      "client/socket-path.ts",
      "http/server.ts",
      "http/docs/docs.ts",
      "http/web-app.ts",
      // The program of a guest, what is mounted into it, and what the kernel counts of it.
      "sandbox/guest/",
    ],
    // The index is a cache of its own beside the data; whether it is there is asked without what opens it.
    ...["search/sqlite/", "search/open-search.ts"],
    // What is known of servers of others, which nobody reads but that file.
    "mcp/known-tools.ts",
    // Packages are no files of a user: they lie outside of every workspace.
    "sandbox/package-folders.ts",
    // The program of PDFium, which lies in its package.
    "extract/pdf/pdfium.ts",
    // Skills lie where the operator put them, and copies of them beside all workspaces.
    "skills/",
  ],
  "node:http": [
    ...["http/server.ts", "http/peers/send.ts", "client/socket-fetch.ts", "models/", "web/"],
    ...["sandbox/docker/", "sandbox/kubernetes/", "sandbox/remote/", "sandbox/guest/http-call.ts"],
  ],
  "node:https": ["models/", "sandbox/docker/", "sandbox/kubernetes/", "sandbox/remote/"],
  // Most only ask whether a text is an address.
  "node:net": [
    ...[
      "http/",
      "sandbox/network/",
      "sandbox/remote/",
      "web/",
      "config/kinds.ts",
      "models/profiles.ts",
      "terminal/program-commands.ts",
    ],
  ],
  "node:tls": ["web/", "sandbox/guest/pem.ts"],
  "node:dns": ["web/"],
  "node:os": [
    ...["config/", "terminal/", "sandbox/local/", "web/", ...WIRING],
    // Threads that give way to others.
    ...["search/worker.ts", "extract/threads/extract-worker.ts"],
    // As many as there is memory for.
    "extract/threads/pool.ts",
  ],
  // Loads what the operator wrote; asks for memory back.
  "node:vm": ["approvals/checkers.ts", "http/garbage.ts"],
  "node:v8": ["http/garbage.ts"],
  // Loads a large package late, in a function that cannot wait; and one that is only there where somebody installed it.
  "node:module": ["extract/guess.ts", "search/text/segment.ts"],
};
export const HARMLESS_LIBRARIES =
  "path url crypto stream zlib buffer util events async_hooks string_decoder readline tty process assert".split(" ");
/** All SQL of the house: the data, and the index, which is none. */
export const SQL_HOMES = ["src/storage/sqlite/", "src/storage/postgres/", "src/search/sqlite/"];
/** Every text for people stands in words/. These read what people, models and servers write, in Chinese too. */
export const READERS_OF_CHINESE = [
  ...["src/words/", "src/models/demo/", "src/models/wire/", "src/models/complexity.ts", "src/extract/"],
  "src/search/text/",
  "src/protocol/form.ts",
  ...["src/approvals/secrets.ts", "src/tools/builtin/todo-write.ts", "src/context/instructions.ts"],
  "src/context/summarise.ts",
];
/** What a process has once, and what is only remembered of a value: all other state belongs to somebody who opened it. */
export const STATEFUL_FILES = [
  ...["src/http/garbage.ts", "src/workspace/owner.ts", "src/extract/word-share.ts", "src/loop/call-order.ts"],
  // A thread is opened as a whole.
  ...["src/storage/sqlite/copy-worker.ts", "src/search/worker.ts"],
  "src/extract/threads/extract-worker.ts",
  "src/search/text/fold.ts",
];

export function folderOf(path: string): string {
  return path.split("/")[1] ?? "";
}

/** The room inside its folder that a file stands in; undefined for the front file, which stands above all. */
export function roomOf(path: string): string | undefined {
  const [, folder, inner = "", below] = path.split("/");
  if (inner === `${folder}.ts`) return undefined;
  return below === undefined ? "." : inner;
}

export function adapterOf(path: string): string | undefined {
  const [, adapter, folder = ""] = /^(src\/([^/]+)\/[^/]+\/)/.exec(path) ?? [];
  return adapter !== undefined && PORTS.includes(folder) && !NO_ADAPTERS.includes(adapter) ? adapter : undefined;
}

/** A test, or what the tests of one room share: that may see the room from inside, as they do. */
export function isTest(path: string): boolean {
  return /\.(?:test|testing)\.ts$/.test(path);
}

export function isBelow(path: string, places: readonly string[]): boolean {
  return places.some((place) => path === place || (place.endsWith("/") && path.startsWith(place)));
}
