/** Which file of this machine lies under which name in the uploads of a conversation, as far as this terminal put it there. */
export class SentFiles {
  /** By conversation, the local path by the name there. */
  readonly #paths = new Map<string, Map<string, string>>();

  /** Under which the same file was sent before: sent again, it takes its own place and no other's. */
  nameOf(conversation: string, path: string): string | undefined {
    const names = this.#paths.get(conversation) ?? [];
    return [...names].find(([, sent]) => sent === path)?.[0];
  }

  add(conversation: string, name: string, path: string): void {
    const names = this.#paths.get(conversation) ?? new Map<string, string>();
    this.#paths.set(conversation, names.set(name, path));
  }

  forget(conversation: string, name: string): void {
    this.#paths.get(conversation)?.delete(name);
  }
}
