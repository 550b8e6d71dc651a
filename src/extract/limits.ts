// What a file may cost. Over one of these, what was read is kept, and the receipt says which it was and where.

export const fileBytesMax = 100 * 1024 * 1024;
/** Of the text of one document. */
export const charactersMax = 20_000_000;
export const pagesMax = 10_000;
export const slidesMax = 5_000;
export const rowsMax = 1_000_000;
export const cellsMax = 5_000_000;
export const columnsMax = 16_384;
export const lineCharactersMax = 1_000_000;
/** What PDFium may have: the file, its fonts, and a page at a time. At its last step it takes up to a fifth more than it asks for. */
export const pdfiumBytesMax = 384 * 1024 * 1024;
export const pdfiumOverstep = 1.2;
