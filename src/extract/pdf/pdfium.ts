import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { PDFiumModule } from "@hyzyla/pdfium";
import { assert } from "../../base/assert.ts";

/** PDFium as it stands in its memory: its functions by name, and that memory. */
export type Pdfium = {
  call(name: string, ...values: readonly number[]): number;
  readonly memory: Memory;
  /** A place for small answers, in `memory`. */
  readonly scratch: number;
  /** What is asked for every word of a file, without the way through a list of arguments. */
  readonly quick: Quick;
};

export type Quick = {
  readonly charBox: (text: number, index: number, left: number, right: number, bottom: number, top: number) => number;
  readonly charIndex: (text: number, index: number) => number;
};

// Of the platform, but not in the library of types that we compile with, which is without a browser.
declare const WebAssembly: {
  readonly Module: new (binary: Uint8Array) => object;
  readonly Instance: new (module: object, imports: Imports) => Instance;
};
type Memory = { readonly buffer: ArrayBuffer };
type Instance = { readonly exports: Readonly<Record<string, unknown>> };
type Imports = { readonly env?: Readonly<Record<string, unknown>> };

/** What PDFium may have in all: the file, its fonts, and a page at a time. */
const memoryBytesMax = 1024 * 1024 * 1024;
export const scratchBytes = 16_384;

/** The functions of PDFium are called as it exports them: the wrapper's own checks of each call cost more than the call. */
export async function loadPdfium(): Promise<Pdfium> {
  const binary = readFileSync(fileURLToPath(import.meta.resolve("@hyzyla/pdfium/pdfium.wasm")));
  let found: Instance | undefined;
  await PDFiumModule({
    instantiateWasm(imports: Imports, received: (instance: Instance) => void) {
      const instance: Instance = new WebAssembly.Instance(
        new WebAssembly.Module(binary),
        bounded(imports, () => memoryOf(instance)),
      );
      found = instance;
      received(instance);
      return instance.exports;
    },
  });
  assert(found !== undefined, "PDFium is an instance");
  const { exports } = found;
  const functions = new Map<string, (...values: readonly number[]) => number>();
  const call = (name: string, ...values: readonly number[]) => {
    let known = functions.get(name);
    if (known === undefined) {
      const exported = exports[name];
      assert(isFunction(exported), `PDFium has ${name}`);
      known = exported;
      functions.set(name, known);
    }
    return Number(known(...values));
  };
  call("FPDF_InitLibrary");
  return { call, memory: memoryOf(found), scratch: call("malloc", scratchBytes), quick: quickOf(exports) };
}

function quickOf({
  FPDFText_GetCharBox: charBox,
  FPDFText_GetCharIndexFromTextIndex: charIndex,
}: Instance["exports"]): Quick {
  assert(isFunction(charBox) && isFunction(charIndex), "PDFium knows the places of characters");
  return { charBox, charIndex };
}

/** What PDFium exports takes and gives numbers. */
function isFunction(value: unknown): value is (...values: readonly number[]) => number {
  return typeof value === "function";
}

function memoryOf({ exports: { memory } }: Instance): Memory {
  assert(isMemory(memory), "PDFium has a memory");
  return memory;
}

function isMemory(value: unknown): value is Memory {
  return typeof value === "object" && value !== null && "buffer" in value && value.buffer instanceof ArrayBuffer;
}

/** Memory is refused beyond the bound; PDFium then gives up on what it was doing. */
function bounded(imports: Imports, memory: () => Memory): Imports {
  const { env = {} } = imports;
  const grow = env.emscripten_resize_heap;
  assert(typeof grow === "function", "PDFium asks for memory");
  const bound = (bytes: number) => {
    const isTooMuch = bytes >>> 0 > memoryBytesMax || memory().buffer.byteLength > memoryBytesMax;
    return isTooMuch ? 0 : Number(Reflect.apply(grow, undefined, [bytes]));
  };
  return { ...imports, env: { ...env, emscripten_resize_heap: bound } };
}

/** What PDFium writes as UTF-16 with a NUL at its end; `write` answers the bytes of it. */
export function utf16(pdfium: Pdfium, write: (place: number, bytes: number) => number): string {
  const bytes = write(0, 0);
  if (bytes <= 2) return "";
  const isSmall = bytes <= scratchBytes;
  const place = isSmall ? pdfium.scratch : pdfium.call("malloc", bytes);
  if (place === 0) return "";
  write(place, bytes);
  const text = Buffer.from(pdfium.memory.buffer, place, bytes - 2).toString("utf16le");
  if (!isSmall) pdfium.call("free", place);
  return text;
}
