import type { Result } from "../base/result.ts";
import type { Extracted } from "./extracted.ts";

/** What a reader is given. */
export type Source = { readonly name: string; readonly bytes: Uint8Array };

/** What a reader says while it reads; pages, sheets, slides or chapters. `total` is 0 while it is not known. */
export type Progress = { readonly done: number; readonly total: number };

export type Reading = { readonly onProgress: (progress: Progress) => void };

/**
 * Why a file gives nothing: it has a password or rights that keep it shut, it is not what it says, it is of a kind that
 * is not read here, or a part of it would need more memory than there is.
 */
export type Unreadable =
  | { readonly why: "password" | "rights" | "memory" }
  | { readonly why: "damaged"; readonly type: string }
  | { readonly why: "unknown"; readonly type: string };

export type Reader = (source: Source, reading: Reading) => Promise<Result<Extracted, Unreadable>>;
