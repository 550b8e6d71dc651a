import { type RefObject, useEffect, useMemo, useRef, useState } from "react";
import type { FileView } from "../../../src/protocol/file-view-routes.ts";
import { createStore, type Store, useStore } from "../app/store.ts";
import { useYard } from "../app/yard.ts";

export type ViewOf<K extends FileView["kind"]> = Extract<FileView, { kind: K }>;

export type Wanted = {
  readonly conversation: string;
  readonly path: string;
  readonly sheet?: string | undefined;
  readonly plain?: boolean | undefined;
  /** Where to begin. */
  readonly first?: number | undefined;
};

export type Pages = {
  readonly first: FileView | undefined;
  readonly failure: string | undefined;
  readonly loaded: ReadonlyMap<number, FileView>;
  /** Asks for pages that are not here yet. */
  readonly want: (from: number, to: number) => void;
};

/** Rows, lines or blocks of one answer. */
export const pageItems = 200;

type State = Pick<Pages, "first" | "failure" | "loaded">;

/** What is in a file, page by page as it is looked at. */
export function usePages({ conversation, path, sheet, plain, first = 0 }: Wanted, changes: number): Pages {
  const { client } = useYard();
  // biome-ignore lint/correctness/useExhaustiveDependencies: a file that was changed is read anew.
  const { state, want } = useMemo(() => {
    const made: Store<State> = createStore<State>({ first: undefined, failure: undefined, loaded: new Map() });
    const asked = new Set<number>();
    const load = async (page: number) => {
      if (asked.has(page)) return;
      asked.add(page);
      const answer = await client().call("viewFile", {
        params: { id: conversation },
        query: {
          path,
          from: page * pageItems,
          limit: pageItems,
          ...(sheet !== undefined && { sheet }),
          ...(plain === true && { plain }),
        },
      });
      const before = made.get();
      if (!answer.ok) {
        asked.delete(page);
        return made.set({ ...before, failure: answer.failure.detail });
      }
      const loaded = new Map(before.loaded).set(page, answer.value);
      made.set({ first: before.first ?? answer.value, failure: undefined, loaded });
    };
    const wantPages = (from: number, to: number) => {
      for (let page = Math.floor(Math.max(0, from) / pageItems); page <= Math.floor(to / pageItems); page += 1)
        void load(page);
    };
    return { state: made, want: wantPages };
  }, [client, conversation, path, sheet, plain, changes]);
  useEffect(() => want(first, first), [want, first]);
  return { ...useStore(state), want };
}

/** How much of a box is looked at, and from where on. */
export function useWindow(): {
  readonly seen: { readonly top: number; readonly left: number; readonly height: number; readonly width: number };
  readonly box: (element: HTMLElement | null) => (() => void) | undefined;
  /** The box itself, once it is there. */
  readonly place: RefObject<HTMLElement | null>;
} {
  const [seen, setSeen] = useState({ top: 0, left: 0, height: 600, width: 800 });
  const place = useRef<HTMLElement>(null);
  const box = useMemo(
    () => (element: HTMLElement | null) => {
      place.current = element;
      if (element === null) return undefined;
      const look = () => {
        const { scrollTop: top, scrollLeft: left, clientHeight: height, clientWidth: width } = element;
        setSeen((before) =>
          before.top === top && before.left === left && before.height === height && before.width === width
            ? before
            : { top, left, height, width },
        );
      };
      const resized = new ResizeObserver(look);
      resized.observe(element);
      element.addEventListener("scroll", look, { passive: true });
      return () => {
        resized.disconnect();
        element.removeEventListener("scroll", look);
      };
    },
    [],
  );
  return { seen, box, place };
}
