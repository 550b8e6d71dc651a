/** What is counted and measured. Labels are words of ours alone: no name, path or id of anybody is ever one. */
export interface Metrics {
  /** False: nothing is counted. */
  readonly isOn: boolean;
  /** Without `ms` it is counted and not measured: it began before this process did. */
  turnEnded(turn: { readonly outcome: string; readonly ms: number | undefined }): void;
  turnRecovered(): void;
  modelCalled(call: ModelCalled): void;
  /** From the start of a call to the first piece of its answer. */
  firstPiece(call: { readonly slot: string; readonly model: string; readonly ms: number }): void;
  toolCalled(call: { readonly tool: string; readonly outcome: string; readonly ms: number | undefined }): void;
  decided(decision: { readonly kind: string; readonly verdict: string; readonly ms: number }): void;
  compacted(strategy: string): void;
  /** `route` is the path of the route table, with its braces; `ms` until the answer began. */
  answered(request: {
    readonly route: string;
    readonly method: string;
    readonly status: number;
    readonly ms: number;
  }): void;
  /** A stream of events to a caller; the answer ends it. */
  streaming(): () => void;
  /** A transaction was written, the disk included. */
  committed(ms: number): void;
  /** Asked each time that somebody reads the metrics. The last one given counts. */
  lookAt(look: () => Promise<Looked>): void;
  /** In the text format of Prometheus. */
  text(): Promise<string>;
  close(): void;
}

export type ModelCalled = {
  readonly slot: string;
  readonly model: string;
  /** `ok`, or the kind of error. */
  readonly outcome: string;
  readonly ms: number;
  readonly usage?: { readonly input: number; readonly output: number; readonly cachedInput?: number | undefined };
};

/** How things stand right now. */
export type Looked = {
  /** Sandbox sessions by state. */
  readonly sessions: Readonly<Record<string, number>>;
  readonly guests: number;
  readonly executions: { readonly running: number; readonly waiting: number };
  readonly conversations: number;
  readonly decisionsOpen: number;
};

const nothing = () => {};

/** Nobody counts. */
export const noMetrics: Metrics = {
  isOn: false,
  turnEnded: nothing,
  turnRecovered: nothing,
  modelCalled: nothing,
  firstPiece: nothing,
  toolCalled: nothing,
  decided: nothing,
  compacted: nothing,
  answered: nothing,
  streaming: () => nothing,
  committed: nothing,
  lookAt: nothing,
  text: () => Promise.resolve(""),
  close: nothing,
};
