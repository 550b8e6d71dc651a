// PostgreSQL takes every character but NUL. In its place stand two others; the first of them, where it stands by itself,
// becomes two as well, so that each text comes back as it was.
const mark = "\u0001";
const nul = `${mark}\u0002`;
const markItself = `${mark}\u0003`;

export function toStored(text: string): string {
  return text.includes("\0") || text.includes(mark) ? text.replaceAll(mark, markItself).replaceAll("\0", nul) : text;
}

export function fromStored(text: string): string {
  return text.includes(mark) ? text.replaceAll(nul, "\0").replaceAll(markItself, mark) : text;
}
