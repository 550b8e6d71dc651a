/** Of a key that is a hash, enough to tell all documents of a yard apart. */
export const keyCharacters = 16;

/** Whether a hit was found in the content with this key. */
export function isOfKey(hit: string, key: string): boolean {
  return hit.startsWith(`${key.slice(0, keyCharacters)}-`);
}
