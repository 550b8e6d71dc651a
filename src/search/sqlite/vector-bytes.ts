/**
 * How a vector is kept: its signs in bits, by which the nearest are found among very many, and its numbers in a byte each,
 * by which these are put in order. One of 1,536 numbers takes 1,728 bytes.
 */
const bitsPerWord = 32;
const most = 127;

function wordsOf(size: number): number {
  return Math.ceil(size / bitsPerWord);
}

export function signsOf(vector: Float32Array): Uint32Array {
  const words = new Uint32Array(wordsOf(vector.length));
  for (const [index, number] of vector.entries())
    if (number > 0)
      words[Math.floor(index / bitsPerWord)] = (words[Math.floor(index / bitsPerWord)] ?? 0) | bitOf(index);
  return words;
}

function bitOf(index: number): number {
  return (1 << (index % bitsPerWord)) >>> 0;
}

export function numbersOf(vector: Float32Array): Int8Array {
  const largest = vector.reduce((max, number) => Math.max(max, Math.abs(number)), 0);
  return Int8Array.from(vector, (number) => (largest === 0 ? 0 : Math.round((number / largest) * most)));
}

/** In how many signs they differ; `signs` holds many vectors one behind another. */
export function differing(asked: Uint32Array, signs: Uint32Array, place: number): number {
  let count = 0;
  const from = place * asked.length;
  for (let word = 0; word < asked.length; word += 1) count += onesIn((asked[word] ?? 0) ^ (signs[from + word] ?? 0));
  return count;
}

/** Bits in a word of 32, by halves: https://graphics.stanford.edu/~seander/bithacks.html#CountBitsSetParallel. */
function onesIn(word: number): number {
  const pairs = word - ((word >>> 1) & 0x55555555);
  const fours = (pairs & 0x33333333) + ((pairs >>> 2) & 0x33333333);
  return Math.imul((fours + (fours >>> 4)) & 0x0f0f0f0f, 0x01010101) >>> 24;
}

/** The cosine of the angle between them; what has no numbers is near to nothing. */
export function nearnessOf(asked: Float32Array, numbers: Int8Array): number {
  let [product, square] = [0, 0];
  for (let index = 0; index < asked.length; index += 1) {
    const number = numbers[index] ?? 0;
    product += (asked[index] ?? 0) * number;
    square += number * number;
  }
  return square === 0 ? -1 : product / Math.sqrt(square);
}
