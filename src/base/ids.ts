import { createHash, randomBytes, randomUUID } from "node:crypto";

/** Makes ids. Handed down from main.ts, so that tests and replays can make the same ones twice. */
export interface Ids {
  uuid(): string;
  /** Lower-case hexadecimal characters. */
  hex(characters: number): string;
}

export const systemIds: Ids = {
  uuid: () => randomUUID(),
  hex: (characters) =>
    randomBytes(Math.ceil(characters / 2))
      .toString("hex")
      .slice(0, characters),
};

/** The same parts give the same id: for what must not be made twice after a crash. */
export function derivedHex(characters: number, ...parts: string[]): string {
  return createHash("sha256").update(JSON.stringify(parts)).digest("hex").slice(0, characters);
}
