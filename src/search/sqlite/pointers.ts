import type { Statements } from "./statements.ts";

/** What a document is called by one of its owners. */
export type Pointer = { readonly owner: string; readonly kind: string; readonly place: string };

export type Pointers = ReturnType<typeof openPointers>;

/** Who has which content under which name. */
export function openPointers({ read, write }: Statements) {
  const pointersAt = ({ owner, kind, place }: Pointer) =>
    read("SELECT place, content FROM pointer WHERE owner = ? AND kind = ? AND place = ?").all(owner, kind, place);
  const pointersBelow = ({ owner, kind, place }: Pointer) =>
    read("SELECT place, content FROM pointer WHERE owner = ? AND kind = ? AND substr(place, 1, length(?3)) = ?3").all(
      owner,
      kind,
      place,
    );
  return {
    /** Answers the other content that was there before. */
    set(pointer: Pointer, content: number): number | undefined {
      const [before] = pointersAt(pointer);
      const { owner, kind, place } = pointer;
      write("REPLACE INTO pointer (owner, kind, place, content) VALUES (?, ?, ?, ?)").run(owner, kind, place, content);
      return before === undefined || Number(before.content) === content ? undefined : Number(before.content);
    },
    /** One, or all whose place begins so. */
    find(pointer: Pointer, isPrefix: boolean): { place: string; content: number }[] {
      const rows = isPrefix ? pointersBelow(pointer) : pointersAt(pointer);
      return rows.map((row) => ({ place: String(row.place), content: Number(row.content) }));
    },
    delete({ owner, kind, place }: Pointer): void {
      write("DELETE FROM pointer WHERE owner = ? AND kind = ? AND place = ?").run(owner, kind, place);
    },
    deleteTo(content: number): void {
      write("DELETE FROM pointer WHERE content = ?").run(content);
    },
    isPointedAt: (content: number) =>
      read("SELECT 1 FROM pointer WHERE content = ? LIMIT 1").get(content) !== undefined,
  };
}
