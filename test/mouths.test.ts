import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { basename, join } from "node:path";
import { test } from "node:test";
import { kindsOfMouths, type Mouth, mouths, pythonMouths } from "./world/known-mouths.ts";
import { inspectCatches } from "./world/mouths.ts";
import { wideExcepts } from "./world/python-mouths.ts";

const root = join(import.meta.dirname, "..");

function filesBelow(folders: readonly string[], ending: RegExp) {
  return folders
    .flatMap((folder) =>
      readdirSync(join(root, folder), { recursive: true, encoding: "utf8" }).map((name) => `${folder}/${name}`),
    )
    .filter((path) => ending.test(path))
    .map((path) => ({ path, text: readFileSync(join(root, path), "utf8") }));
}

test("every catch is a mouth, stands around calls of others alone, or throws on what it does not know", () => {
  const files = filesBelow(["src", "bin", "scripts", "web/src", "web/public"], /\.(tsx?|m?js)$/);
  assert.deepEqual(inspectCatches(files), []);
});

test("there are so many kinds of mouths and no more, and ARCHITECTURE.md names the mouths of each, and no other files", () => {
  const page = readFileSync(join(root, "ARCHITECTURE.md"), "utf8");
  const [, invariant = ""] = /\n## Invariants\n.*?\n8\. (.*?)\n9\. /s.exec(page) ?? [];
  const told = [...invariant.matchAll(/^ {3}- \*\*(\w+)\*\*: (.*(?:\n {5}.*)*)/gm)].map(([, kind = "", text = ""]) => {
    const named = [...text.matchAll(/`([\w/-]+\.(?:tsx?|mjs|py))`/g)].map(([, name = ""]) => name);
    return [kind, named.map((name) => (/^(?:src|web|scripts|skills)\//.test(name) ? name : `src/${name}`)).sort()];
  });
  const known = [mouths, pythonMouths].flatMap((list) => Object.entries<Mouth>(list));
  const filesOf = (kind: string) =>
    new Set(known.filter(([, mouth]) => mouth.kind === kind).map(([place]) => place.replace(/#.*/, "")));
  const real = Object.keys(kindsOfMouths).map((kind) => [kind, [...filesOf(kind)].sort()]);
  assert.equal(real.length, 10);
  // Hono's own mouth, which calls a function of ours.
  const withoutHono = told.map(([kind, files]) => [
    kind,
    [...(files ?? [])].filter((file) => file !== "src/http/http.ts"),
  ]);
  assert.deepEqual(withoutHono, real);
  for (const [place, { becomes }] of known) assert.notEqual(becomes, "", place);
});

test("in the Python of guests and skills, too, everything is taken only where it is known what becomes of it", () => {
  const files = filesBelow(["src", "skills", "deploy"], /\.py$/);
  assert.ok(new Set(files.map(({ path }) => path.split("/")[0])).size >= 2);
  const own = new Set(files.map(({ path }) => basename(path, ".py")));
  const found = files.flatMap((file) => wideExcepts(file, own));
  assert.deepEqual([...new Set(found)].sort(), Object.keys(pythonMouths).sort());
});

const pythonEnds: [what: string, end: string, isFit: boolean][] = [
  ["passes over it", "except:\n    pass", false],
  ["takes everything among others", "except (OSError, Exception) as error:\n    pass", false],
  ["takes one kind", "except OSError:\n    pass", true],
  ["raises it again", "except BaseException:\n    undo()\n    raise", true],
  [
    "raises another with its cause",
    "except Exception as error:\n    raise Refusal(\n      str(error)\n    ) from error",
    true,
  ],
  ["raises another without it", "except Exception as error:\n    raise Refusal(str(error))", false],
  ["raises it sometimes", "except Exception as error:\n    if known:\n      raise", false],
  ["leaves before", "except Exception as error:\n    if known:\n      return\n    raise", false],
];
for (const [what, end, isFit] of pythonEnds)
  test(`an except of Python is ${isFit ? "fit" : "found"}: ${what}`, () => {
    const text = `def run():\n  try:\n    work()\n  ${end}\n  return 1\n`;
    assert.deepEqual(wideExcepts({ path: "a.py", text }), isFit ? [] : ["a.py#run"]);
  });

const pythonGuarded: [what: string, guarded: string, isFit: boolean][] = [
  ["one call of a module of others", "importlib.import_module(name)", true],
  ["a method of what was handed in", "stream.flush()", true],
  ["a field of what was handed in", "return reader.metadata", true],
  ["the language itself, with words that look like calls", 'text = f"{str(name)} (page {len(name)})"  # run()', true],
  ["a method of what others gave", 'Image(name).size().join("", name)', true],
  ["a function of ours", "return work(name)", false],
  ["a function of ours beside one of others", "importlib.import_module(work(name))", false],
  ["a function that was handed in", "main()", false],
  ["a method of our own object", "self.work(name)", false],
  ["what our own object has", "self.stream.flush()", false],
  ["a module of ours", "figures.show(name)", false],
  ["a module of ours by another name", "pdf.open_pdf(name)", false],
  ["an error of ours", "raise Refusal(name)", false],
  ["what comes further down", "stream.flush()\n    other.flush()\n    work(name)", false],
];
for (const [what, guarded, isFit] of pythonGuarded)
  test(`an except of Python around other code is ${isFit ? "fit" : "found"}: ${what}`, () => {
    const text = `import importlib
import figures
import common_pdf as pdf
from pictures import Image, Line
class Refusal(Exception):
  pass
def work(name):
  return name
def run(self, main, stream, other, reader, name):
  try:
    work(name)
  except OSError:
    pass
  try:
    ${guarded}
  except OSError:
    pass
  except Exception:
    return None
`;
    const own = new Set(["figures", "common_pdf"]);
    assert.deepEqual(wideExcepts({ path: "a.py", text }, own), isFit ? [] : ["a.py#run"]);
  });

const planted: [what: string, text: string, isFit: boolean][] = [
  ["one call of the system", "try { readFileSync(path); } catch { return undefined; }", true],
  ["JSON", "try { return JSON.parse(text); } catch { return undefined; }", true],
  ["a call of ours", "try { return look(path); } catch { return undefined; }", false],
  ["a call of ours beside one of the system", "try { look(readFileSync(path)); } catch { return undefined; }", false],
  ["a function that was handed in", "try { work(); } catch { return undefined; }", false],
  ["a promise that was handed in", "try { await promise; } catch { return undefined; }", false],
  ["a method of ours", "try { await storage.append(1); } catch { return undefined; }", false],
  ["a method of ours that Node has too", "try { await storage.read(1); } catch { return undefined; }", false],
  [
    "a method of ours that is called like one of a database",
    "try { storage.get(1); } catch { return undefined; }",
    false,
  ],
  ["a method of ours of a type of ours", "try { await log.run(); } catch { return undefined; }", false],
  ["a method of what we opened ourselves", "const own = look(path); try { own.close(); } catch { return 1; }", false],
  [
    "a method of what Node opened",
    "const file = await open(path); try { await file.read(); } catch { return 1; }",
    true,
  ],
  ["a method of a type of Node", "try { await file.read(); } catch { return undefined; }", true],
  ["a field of ours that is waited for", "try { await storage.promise; } catch { return undefined; }", false],
  ["pieces of ours", "try { for await (const _ of storage.chunks); } catch { return undefined; }", false],
  ["pieces that were handed in", "try { for await (const _ of chunks); } catch { return undefined; }", false],
  [
    "pieces of an answer",
    "const { body } = await globalThis.fetch(path); try { for await (const _ of body); } catch { return 1; }",
    true,
  ],
  ["a function of ours for each of a list", "try { text.split(path).map(mend); } catch { return undefined; }", false],
  ["all of ours, however they end", "await Promise.allSettled([look(path)]);", false],
  ["all of the system's, however they end", "await Promise.allSettled([rm(path)]);", true],
  ["a throw that never comes", "try { look(path); } catch (error) { if (path) throw error; }", false],
  [
    "a throw that comes for some errors",
    "try { look(path); } catch (error) { if (path && known(error)) throw error; }",
    true,
  ],
  [
    "a throw by what was read from the error",
    "try { look(path); } catch (e) { const c = known(e); if (!c) throw e; }",
    true,
  ],
  ["another error in its place", 'try { look(path); } catch { throw new Error("gone"); }', false],
  [
    "another error, after a look at it",
    'try { look(path); } catch (e) { if (known(e)) throw new Error("gone"); }',
    false,
  ],
  ["another error with its cause", 'try { look(path); } catch (cause) { throw new Error("gone", { cause }); }', true],
  ["a log line in place of a throw", "try { look(path); } catch (error) { logger.error(error); }", false],
  ["the rest is thrown on", "try { look(path); } catch (error) { if (!known(error)) throw error; }", true],
  ["what the system did not say is thrown on", "try { look(path); } catch (error) { codeOf(error); }", true],
  ["an assertion about something else", "try { look(path); } catch (error) { assert(path); }", false],
  ["`.catch` around a call of the system", "await rm(path).catch(() => {});", true],
  ["`.catch` around a call of ours", "await look(path).catch(() => {});", false],
  ["`.catch` on a promise that was handed in", "promise.catch(() => {});", false],
  ["`.then` with a second function", "look(path).then(() => {}, () => {});", false],
  ["`.catch` that throws on", "look(path).catch(codeOf);", true],
  ["a method of ours that texts have too", "try { storage.match(path); } catch { return undefined; }", false],
  ["a method of texts", "try { path.match(text); } catch { return undefined; }", true],
  ["a fetch that was handed in", "try { await fetch(path); } catch { return undefined; }", false],
  ["a method of ours called fetch", "try { await storage.fetch(path); } catch { return undefined; }", false],
  ["a way out before the throw", "try { look(path); } catch (error) { if (path) return; throw error; }", false],
  [
    "a way out before a stream is told",
    "try { look(path); } catch (error) { if (path) return; controller.error(error); }",
    false,
  ],
  ["a way out for some errors", "try { look(path); } catch (error) { if (known(error)) return; throw error; }", true],
  ["the first of ours that does not fail", "await Promise.any([look(path)]);", false],
  ["the first of the system's that does not fail", "await Promise.any([rm(path)]);", true],
  ["what nobody caught, passed over", 'process.on("unhandledRejection", () => {});', false],
  ["what nobody caught, thrown on", 'process.on("uncaughtException", codeOf);', true],
  ["a thread whose end is passed over", 'const own = new Worker(path); own.on("error", () => {});', false],
  ["a thread among other listeners", 'worker.on("exit", () => {}).once("error", () => logger.error());', false],
  ["a thread whose end is thrown on", 'worker.on("error", (error) => reject(error));', true],
  ["a socket, which is another's", 'socket.on("error", () => {});', true],
  ["a thread whose end is passed over by its field", "worker.onerror = () => {};", false],
  ["what nobody caught, taken by one function", "process.setUncaughtExceptionCaptureCallback(() => {});", false],
  ["pieces of ours that are sent", "await pipelined(chunks, socket).catch(() => {});", false],
  ["pieces of ours that are sent, with a function at the end", "pipeline(chunks, socket, () => {});", false],
  ["pieces of ours made into a stream", "pipeline(Readable.from(chunks), socket, () => {});", false],
  ["pieces that are written out here", "pipeline(async function* () { yield look(path); }, socket, () => {});", false],
  ["the end of pieces of ours", "finished(Readable.from(storage.chunks), () => {});", false],
  ["pieces of ours, whose end is thrown on", "pipeline(chunks, socket, (error) => reject(error));", true],
  ["pieces of a socket that are sent", "pipeline(socket, socket, () => {});", true],
  ["a list of ours", "try { for (const one of storage.items) one; } catch { return undefined; }", false],
  ["a list of texts", "try { for (const one of [path, text]) one; } catch { return undefined; }", true],
  ["a template of ours", "try { return look`${path}`; } catch { return undefined; }", false],
  ["a template of the platform", "try { return String.raw`${path}`; } catch { return undefined; }", true],
  ["a function of ours that JSON calls", "try { return JSON.parse(text, mend); } catch { return undefined; }", false],
  ["a function of ours in an object", "try { createContext({ mend }); } catch { return undefined; }", false],
  ["one in an object of a list", "try { createContext([path, { run: mend }]); } catch { return 1; }", false],
  ["one that is spread", "try { createContext({ path, ...{ mend } }); } catch { return 1; }", false],
  ["one that there may be", "try { createContext({ run: path ? mend : undefined }); } catch { return 1; }", false],
  ["one in what has a name", "const own = { mend }; try { createContext(own); } catch { return 1; }", false],
  ["one written out in it", "const own = { run: () => look(path) }; try { createContext(own); } catch {}", false],
  ["one written out in an object", "try { createContext({ run: () => look(path) }); } catch { return 1; }", false],
  ["the system's, written out in an object", "try { createContext({ run: () => rm(path) }); } catch {}", true],
  ["texts in an object", "const own = { text }; try { createContext({ path, own: [own] }); } catch {}", true],
  ["a function of ours, called for us", "try { Reflect.apply(look, 1, [path]); } catch { return undefined; }", false],
  ["`.catch` in other letters", 'await look(path)["catch"](() => {});', false],
  ["all of ours, by a name that was taken out", "const { allSettled } = Promise; allSettled([look(path)]);", false],
];
const place = "src/loop/step.ts#begin";
const mouth: Mouth = { kind: "turn", becomes: "the turn ends as failed" };
for (const [what, text, isFit] of planted) {
  test(`a catch is ${isFit ? "fit" : "found"}: ${what}`, () => {
    const parts = `import { readFileSync } from "node:fs";
import { type FileHandle, open, rm } from "node:fs/promises";
import { finished, pipeline, Readable } from "node:stream";
import { pipeline as pipelined } from "node:stream/promises";
import { codeOf } from "../base/fault.ts";
import { assert } from "../base/assert.ts";
import { look } from "./look.ts";
import type { Log } from "./log.ts";
const mend = (text: string) => look(text);
type Handed = { promise: Promise<void>; chunks: AsyncIterable<string>; log: Log; file: FileHandle; path: string };
export async function begin(text: string, path: string, work: () => void, promise: Handed["promise"],
  storage, logger, known, controller, fetch: typeof globalThis.fetch, chunks: AsyncIterable<string>, log: Log, file: FileHandle,
  worker: Worker, socket: Socket, reject: (error: Error) => void) {
  ${text}
}`;
    const fault = "export function codeOf(error) {\n  if (error.syscall === undefined) throw error;\n}";
    const files = [
      { path: "src/loop/step.ts", text: parts },
      { path: "src/base/fault.ts", text: fault },
      { path: "src/base/assert.ts", text: "export function assert(value) {\n  if (!value) throw new Error();\n}" },
    ];
    const sentence = `src/loop/step.ts:14: a catch around our own code that throws nothing on (${place} is no mouth in`;
    assert.deepEqual(inspectCatches(files, {}), isFit ? [] : [`${sentence} test/world/known-mouths.ts)`]);
    if (!isFit) assert.deepEqual(inspectCatches(files, { [place]: mouth }), []);
  });
}

test("a type of a package that we make values of ourselves says nothing of whose a value is, be it called or handed on", () => {
  const catching = (call: string) => ({
    path: "src/mcp/leave.ts",
    text: `import type { Client, Transport } from "protocol-client";
export async function leave(client: Client, transport: Transport) {
  try { await ${call}; } catch {}
}`,
  });
  const found = [
    "src/mcp/leave.ts:3: a catch around our own code that throws nothing on (src/mcp/leave.ts#leave is no mouth in test/world/known-mouths.ts)",
  ];
  const inspect = (call: string, own: string) => {
    const text = `import type { Transport } from "protocol-client";\n${own}`;
    return inspectCatches([catching(call), { path: "src/mcp/own.ts", text }], {});
  };
  for (const own of ["type Own = Transport & { pid: number };", "class Own implements Transport {}"]) {
    assert.deepEqual(inspect("transport.close()", own), found);
    assert.deepEqual(inspect("client.connect(transport)", own), found);
    assert.deepEqual(inspect("client.close()", own), []);
  }
  const none = "type Own = { transport: Transport };";
  for (const call of ["transport.close()", "client.connect(transport)"]) assert.deepEqual(inspect(call, none), []);
});

test("a catch is found, as React has it: a part of a page that takes what others in it throw", () => {
  const taken = "static getDerivedStateFromError() { return { isBroken: true }; }";
  const told = "componentDidCatch(error) { logger.error(error); }";
  const thrown = "componentDidCatch(error) { throw error; }";
  const inspect = (method: string) =>
    inspectCatches([{ path: "web/src/app/part.tsx", text: `export class Part extends Component { ${method} }` }], {});
  const found = (name: string) =>
    `web/src/app/part.tsx:1: a catch around our own code that throws nothing on (web/src/app/part.tsx#${name} is no mouth in test/world/known-mouths.ts)`;
  assert.deepEqual(inspect(taken), [found("getDerivedStateFromError")]);
  assert.deepEqual(inspect(told), [found("componentDidCatch")]);
  assert.deepEqual(inspect(thrown), []);
});

test("a mouth is one function: what else its file catches is found, and so is one where nothing ends any more", () => {
  const text = `function begin(work) {
  try { work(); } catch {}
}
const end = { close(work) {
  try { work(); } catch {}
} };`;
  const files = [
    { path: "src/loop/step.ts", text },
    { path: "src/loop/turn.ts", text: "export const turn = 1;\n" },
  ];
  assert.deepEqual(inspectCatches(files, { [place]: mouth, "src/loop/turn.ts#turn": mouth }), [
    "src/loop/step.ts:5: a catch around our own code that throws nothing on (src/loop/step.ts#close is no mouth in test/world/known-mouths.ts)",
    "src/loop/turn.ts#turn: a mouth where nothing ends (test/world/known-mouths.ts)",
  ]);
});
