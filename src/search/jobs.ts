import type { Block } from "../extract/extracted.ts";
import type { FindLimits, Found, Meant, PlainHit } from "./find.ts";
import type { Having, HavingQuery } from "./having.ts";
import type { ScanLimits, Stopped } from "./scan.ts";
import type { Scope } from "./sqlite/bounds.ts";
import type { Pointer } from "./sqlite/pointers.ts";
import type { Followed, Gap, NewEntries, Series } from "./sqlite/series.ts";
import type { Kept, Spending, Unembedded, VectorState } from "./sqlite/vectors.ts";
import type { Segmentation } from "./text/segment.ts";

/** What a thread is started with. */
export type ThreadTask = {
  readonly file: string;
  readonly segmentation: Segmentation;
};

/** What the thread that writes is asked; one document may come in many pieces, between those of others. */
type WritingJob =
  /** Opens the index or makes it; what a kill left behind is removed. A damaged one is thrown away. */
  | { readonly do: "open" }
  | { readonly do: "tidy" }
  | { readonly do: "reset" }
  | { readonly do: "begin"; readonly writing: number; readonly key: string }
  | { readonly do: "add"; readonly writing: number; readonly blocks: readonly Block[] }
  | {
      readonly do: "end";
      readonly writing: number;
      readonly pointer: Pointer;
      readonly now: number;
      readonly note?: string | undefined;
    }
  | { readonly do: "giveUp"; readonly writing: number }
  | { readonly do: "point"; readonly pointer: Pointer; readonly key: string; readonly now: number }
  | { readonly do: "drop"; readonly pointer: Pointer; readonly isPrefix: boolean }
  | { readonly do: "markUsed"; readonly contents: readonly number[]; readonly now: number }
  | { readonly do: "follow"; readonly series: Series; readonly more: NewEntries; readonly now: number }
  | { readonly do: "followed"; readonly owner: string; readonly now: number }
  | { readonly do: "cutGap"; readonly series: Series; readonly gap: Gap }
  | { readonly do: "unfollow"; readonly series: Series }
  | { readonly do: "unembedded"; readonly model: string; readonly countMax: number }
  | ({ readonly do: "spend" } & Spending)
  | { readonly do: "keepVectors"; readonly model: string; readonly pieces: readonly Kept[] }
  | { readonly do: "sweep"; readonly before: number };

/** What threads that read are asked. `beats` is memory that both sides see. */
type ReadingJob =
  | { readonly do: "hasKey" | "noteOf"; readonly key: string }
  | { readonly do: "having"; readonly query: HavingQuery }
  | { readonly do: "hasVectors" }
  | { readonly do: "vectorState"; readonly owner: string }
  | {
      readonly do: "find";
      readonly query: string;
      readonly scope: Scope;
      readonly limits: FindLimits;
      readonly meant?: Meant | undefined;
    }
  | {
      readonly do: "scan";
      readonly pattern: RegExp;
      readonly scope: Scope;
      readonly limits: ScanLimits;
      readonly beats: Int32Array;
    };

export type Job = WritingJob | ReadingJob | { readonly do: "close" };

export type Answers = {
  open: undefined;
  tidy: undefined;
  reset: undefined;
  begin: undefined;
  add: undefined;
  end: number;
  giveUp: undefined;
  point: boolean;
  drop: number;
  markUsed: undefined;
  follow: undefined;
  followed: Followed[];
  cutGap: undefined;
  unfollow: undefined;
  unembedded: Unembedded[];
  spend: boolean;
  keepVectors: undefined;
  sweep: number;
  close: undefined;
  hasKey: boolean;
  noteOf: string | undefined;
  having: Having;
  hasVectors: boolean;
  vectorState: VectorState;
  find: (Found & { readonly used: readonly number[] }) | undefined;
  scan: Stopped;
};

/** What a thread is told, and what it says. */
export type Order = { readonly id: number; readonly job: Job };
export type News =
  | { readonly id: number; readonly answer: unknown }
  | { readonly id: number; readonly hit: PlainHit }
  /** What the world did to the file, by the code of SQLite or of the system. */
  | { readonly id: number; readonly fault: Fault };
export type Fault = { readonly code: number | string; readonly said: string };
