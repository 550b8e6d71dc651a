import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { init } from "@embedpdf/pdfium";
import { assert } from "../../base/assert.ts";
import { pdfiumBytesMax } from "../limits.ts";

/** PDFium as it stands in its memory: its functions by name, and that memory. */
export type Pdfium = {
  call(name: string, ...values: readonly number[]): number;
  readonly memory: Memory;
  /** A place for small answers, in `memory`. */
  readonly scratch: number;
  /** What is asked for every word of a file, without the way through a list of arguments. */
  readonly quick: Quick;
  /** The scratch place as numbers; to be asked for after each call, as the memory moves when it grows. */
  scratchNumbers(): Float64Array;
  /** How often it was refused memory: where it then breaks down, that is why. */
  refusals(): number;
};

export type Quick = {
  readonly charBox: (text: number, index: number, left: number, right: number, bottom: number, top: number) => number;
  readonly charIndex: (text: number, index: number) => number;
  readonly objectAt: (page: number, index: number) => number;
  readonly objectType: (object: number) => number;
};

// Of the platform, but not in the library of types that we compile with, which is without a browser.
declare const WebAssembly: {
  readonly Module: new (binary: Uint8Array) => object;
  readonly Instance: new (module: object, imports: Imports) => Instance;
};
type Memory = { readonly buffer: ArrayBuffer };
type Instance = { readonly exports: Readonly<Record<string, unknown>> };
type Imports = { readonly env?: Readonly<Record<string, unknown>> };

export const scratchBytes = 16_384;

/** The functions of PDFium are called as it exports them: the wrapper's own checks of each call cost more than the call. */
export async function loadPdfium(): Promise<Pdfium> {
  const binary = readFileSync(fileURLToPath(import.meta.resolve("@embedpdf/pdfium/pdfium.wasm")));
  let found: Instance | undefined;
  let refusals = 0;
  await init({
    // Otherwise the path of our program, which it cannot stand where that has a Chinese character in it.
    thisProgram: "pdfium",
    instantiateWasm(imports: Imports, received: (instance: Instance) => void) {
      const instance: Instance = new WebAssembly.Instance(
        new WebAssembly.Module(binary),
        bounded(
          imports,
          () => memoryOf(instance),
          () => (refusals += 1),
        ),
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
  const [memory, scratch] = [memoryOf(found), call("malloc", scratchBytes)];
  const scratchNumbers = numbersAt(memory, scratch);
  return { call, memory, scratch, quick: quickOf(exports), scratchNumbers, refusals: () => refusals };
}

function quickOf({
  FPDFText_GetCharBox: charBox,
  FPDFText_GetCharIndexFromTextIndex: charIndex,
  FPDFPage_GetObject: objectAt,
  FPDFPageObj_GetType: objectType,
}: Instance["exports"]): Quick {
  assert(isFunction(charBox) && isFunction(charIndex), "PDFium knows the places of characters");
  assert(isFunction(objectAt) && isFunction(objectType), "PDFium knows what is on a page");
  return { charBox, charIndex, objectAt, objectType };
}

function numbersAt(memory: Memory, scratch: number): () => Float64Array {
  const length = scratchBytes / Float64Array.BYTES_PER_ELEMENT;
  let numbers = new Float64Array(memory.buffer, scratch, length);
  // A memory that has grown is another one, and what looked at the old one has nothing in it.
  return () => {
    if (numbers.length === 0) numbers = new Float64Array(memory.buffer, scratch, length);
    return numbers;
  };
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
function bounded(imports: Imports, memory: () => Memory, onRefusal: () => void): Imports {
  const { env = {} } = imports;
  const grow = env.emscripten_resize_heap;
  assert(typeof grow === "function", "PDFium asks for memory");
  const bound = (bytes: number) => {
    const isTooMuch = bytes >>> 0 > pdfiumBytesMax || memory().buffer.byteLength > pdfiumBytesMax;
    if (isTooMuch) onRefusal();
    return isTooMuch ? 0 : Number(Reflect.apply(grow, undefined, [bytes]));
  };
  return { ...imports, env: { ...env, emscripten_resize_heap: bound } };
}

/** What PDFium writes as UTF-16 with a NUL at its end; `write` answers the bytes of it. */
export function utf16(pdfium: Pdfium, write: (place: number, bytes: number) => number): string {
  // Where there is too little room it writes nothing, and says how much it takes.
  const bytes = write(pdfium.scratch, scratchBytes);
  if (bytes <= 2) return "";
  const isSmall = bytes <= scratchBytes;
  const place = isSmall ? pdfium.scratch : pdfium.call("malloc", bytes);
  if (place === 0) return "";
  if (!isSmall) write(place, bytes);
  const text = Buffer.from(pdfium.memory.buffer, place, bytes - 2).toString("utf16le");
  if (!isSmall) pdfium.call("free", place);
  return text;
}
