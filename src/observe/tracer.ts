/** What a span says about itself, by the names of OpenTelemetry; what is undefined is left out. */
export type SpanFacts = Readonly<Record<string, string | number | boolean | readonly string[] | undefined>>;

/** A span as others name it (W3C Trace Context). */
export type TracePlace = {
  readonly traceId: string;
  readonly spanId: string;
  readonly flags: number;
  /** `tracestate`. */
  readonly state?: string | undefined;
  /** It is the caller's own. */
  readonly isRemote?: boolean | undefined;
};

/** Something that takes time. Safe to use after its end, and when nobody looks. */
export interface Span {
  /** To put another span below it; undefined when nobody looks. */
  readonly place: TracePlace | undefined;
  rename(name: string): void;
  set(facts: SpanFacts): void;
  /** `kind` is a short word (`error.type`), such as the code of a failure. */
  fail(kind: string, said?: string): void;
  /** At this time (milliseconds since 1970), or now. */
  end(at?: number): void;
}

export type SpanOptions = {
  readonly kind?: "server" | "client" | undefined;
  /** Below this one; where it is absent, below the one that `within` is at; null: below none. */
  readonly parent?: TracePlace | null | undefined;
  /** When it began, in milliseconds since 1970. */
  readonly at?: number | undefined;
};

/** Where spans go. The rest of the house knows no exporter. */
export interface Tracer {
  /** False: nothing that is told here goes anywhere. */
  readonly isOn: boolean;
  /** Whether messages, arguments and results may be told: only where the operator asked for it. */
  readonly tellsContent: boolean;
  start(name: string, facts?: SpanFacts, options?: SpanOptions): Span;
  /** Spans that are started inside `work`, however late, are below this one. */
  within<T>(place: TracePlace | undefined, work: () => T): T;
  /** The span that `within` is at. */
  current(): TracePlace | undefined;
  /** Sends what waits; takes a few seconds at the most, and never fails. */
  close(): Promise<void>;
}

const silentSpan: Span = { place: undefined, rename: () => {}, set: () => {}, fail: () => {}, end: () => {} };

/** Nobody looks. */
export const noTracer: Tracer = {
  isOn: false,
  tellsContent: false,
  start: () => silentSpan,
  within: (_, work) => work(),
  current: () => undefined,
  close: () => Promise.resolve(),
};

/** The caller's own span, as the headers `traceparent` and `tracestate` name it; undefined where they name none. */
export function placeFrom(traceparent: string | undefined, tracestate?: string | undefined): TracePlace | undefined {
  const found = /^(?!ff)[0-9a-f]{2}-(?!0{32})([0-9a-f]{32})-(?!0{16})([0-9a-f]{16})-([0-9a-f]{2})(?:-.*)?$/.exec(
    traceparent?.trim() ?? "",
  );
  const [, traceId, spanId, flags = "0"] = found ?? [];
  if (traceId === undefined || spanId === undefined) return undefined;
  return { traceId, spanId, flags: Number.parseInt(flags, 16) & 1, state: tracestate, isRemote: true };
}
