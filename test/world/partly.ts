/** What a test gives of a whole: who asks it for more fails there. What is done answers whatever the test says. */
export type Some<T> = unknown extends T
  ? T
  : T extends string | number | boolean | null | undefined
    ? T
    : T extends (...given: infer Given) => unknown
      ? (...given: Given) => unknown
      : { readonly [K in keyof T]?: Some<T[K]> | undefined };

/** Of a whole that has many parts, those that what is tested asks for. */
export function partly<T>(own: Some<T>): T;
export function partly(own: unknown): unknown {
  return own;
}
