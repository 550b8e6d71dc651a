import type { IncomingHttpHeaders } from "node:http";
import { parsedJson } from "../../base/json.ts";
import type { ModelError } from "../provider.ts";
import type { BodyReader } from "../wire/body.ts";
import { carriedError } from "../wire/error-body.ts";
import { failure, judge } from "../wire/errors.ts";
import { isObject } from "../wire/json.ts";

/** What an answer holds: a vector for each text, or an error and none. */
export type Embedded = { readonly vectors: readonly Float32Array[]; readonly error?: ModelError | undefined };

const answerBytesMax = 32 * 1024 * 1024;
/** The largest models have half as many. */
const dimensionsMax = 8_192;

/** Reads the body of an answer when it is whole: half a vector is none. */
export function openVectorReader(
  count: number,
  { headers, now }: { readonly headers: IncomingHttpHeaders; readonly now: number },
): BodyReader<Embedded> {
  const pieces: Uint8Array[] = [];
  let bytesRead = 0;
  return {
    read(bytes) {
      pieces.push(bytes);
      bytesRead += bytes.length;
      if (bytesRead <= answerBytesMax) return undefined;
      return broken(failure("protocol", false, "too_long", `> ${answerBytesMax} B`));
    },
    end(cut) {
      if (cut !== undefined) return broken(failure("network", true, cut.because, cut.said));
      const value = parsedJson(Buffer.concat(pieces).toString("utf8"));
      if (!isObject(value)) return broken(failure("protocol", value === undefined, "not_json"));
      const carried = carriedError(value, Array.isArray(value.data));
      if (carried !== undefined) return broken(judge(carried, headers, now).error);
      const vectors = vectorsIn(value.data, count);
      return vectors === undefined ? broken(failure("protocol", false, "no_vectors")) : { vectors };
    },
  };
}

function broken(error: ModelError): Embedded {
  return { vectors: [], error };
}

/** Undefined unless there is just one for each text, all of one size, with numbers that can be reckoned with. */
function vectorsIn(data: unknown, count: number): readonly Float32Array[] | undefined {
  if (!Array.isArray(data) || data.length !== count) return undefined;
  const vectors = new Map<number, Float32Array>();
  for (const [place, entry] of data.entries()) {
    const vector = isObject(entry) ? vectorOf(entry.embedding) : undefined;
    if (vector === undefined) return undefined;
    const { index = place } = entry;
    if (typeof index === "number") vectors.set(index, vector);
  }
  const size = vectors.get(0)?.length;
  const inOrder = Array.from({ length: count }, (_, index) => vectors.get(index)).filter((each) => each !== undefined);
  return inOrder.length === count && inOrder.every(({ length }) => length === size) ? inOrder : undefined;
}

/** Of length one. Undefined where a number is none, or all are nothing. */
function vectorOf(embedding: unknown): Float32Array | undefined {
  const numbers = typeof embedding === "string" ? decoded(embedding) : embedding;
  const isList = Array.isArray(numbers) || numbers instanceof Float32Array;
  if (!isList || numbers.length < 2 || numbers.length > dimensionsMax) return undefined;
  let largest = 0;
  for (const number of numbers) {
    if (typeof number !== "number" || !Number.isFinite(number)) return undefined;
    largest = Math.max(largest, Math.abs(number));
  }
  if (largest === 0) return undefined;
  // By the largest first: squares of large numbers are none any more, and those of small ones nothing.
  const scaled = Float64Array.from(numbers, (number) => number / largest);
  const length = Math.sqrt(scaled.reduce((sum, number) => sum + number * number, 0));
  return Float32Array.from(scaled, (number) => number / length);
}

/** Some servers send the bytes of the numbers, asked or not. */
function decoded(text: string): Float32Array | undefined {
  const bytes = Buffer.from(text, "base64");
  if (bytes.length === 0 || bytes.length % 4 !== 0) return undefined;
  return Float32Array.from({ length: bytes.length / 4 }, (_, index) => bytes.readFloatLE(4 * index));
}
