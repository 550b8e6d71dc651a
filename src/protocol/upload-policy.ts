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

/** What may be uploaded unless the configuration says otherwise: what agents compute with or can read. */
export const defaultUploadPolicy: UploadPolicy = {
  fileBytesMax: 100 * 1024 * 1024,
  filesMax: 50,
  types: [
    ...["csv", "xlsx", "json", "txt", "pkl", "png", "jpg", "pdf"],
    ...["docx", "pptx", "epub", "html", "md", "xml", "gif", "webp", "text"],
  ],
};
