const bytesMax = 8 * 1024;

/** The beginning of what the first process of a guest says for itself, where it says anything. */
export function keepFirstWords() {
  const kept: Buffer[] = [];
  let room = bytesMax;
  return {
    add(bytes: Buffer): void {
      if (room > 0) kept.push(bytes.subarray(0, room));
      room -= bytes.length;
    },
    text: () => Buffer.concat(kept).toString("utf8").trim(),
  };
}
