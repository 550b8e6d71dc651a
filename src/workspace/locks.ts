import { whenOver } from "../base/background.ts";
/** Work under the same name runs one after another, in the order it was asked for. */
export type Locks = <T>(name: string, work: () => Promise<T>) => Promise<T>;

export function openLocks(): Locks {
  const last = new Map<string, Promise<unknown>>();
  return (name, work) => {
    const before = last.get(name) ?? Promise.resolve();
    const mine = before.then(work);
    const settled = whenOver(mine);
    last.set(name, settled);
    void settled.then(() => {
      if (last.get(name) === settled) last.delete(name);
    });
    return mine;
  };
}
