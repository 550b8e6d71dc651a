/** What may be uploaded. */
export type UploadPolicy = {
  readonly fileBytesMax: number;
  /** Files in one upload folder. */
  readonly filesMax: number;
  /** Endings such as `csv`; `text` stands for every valid text. */
  readonly types: readonly string[];
  /** The names under which people change it, where they are not those of `uploads`. */
  readonly settings?: { readonly fileBytesMax: string; readonly filesMax: string; readonly types: string } | undefined;
};
