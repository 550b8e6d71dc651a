import type { Clock } from "../base/clock.ts";
import type { Client } from "../client/client.ts";
import type { Words } from "../words/words.ts";

type VisitorParts = {
  /** Under which their calls are counted. */
  readonly owner: string;
  /** The API, as whoever calls: what a key does not open stays closed here, too. */
  readonly client: Client;
  readonly words: Words;
  readonly clock: Clock;
  /** Fires when this process ends: turns go on without anybody who waits here. */
  readonly closing: AbortSignal;
};

/** Who is calling. A class, so that it is known again when the protocol library hands it back as something unknown. */
export class Visitor implements VisitorParts {
  readonly owner: string;
  readonly client: Client;
  readonly words: Words;
  readonly clock: Clock;
  readonly closing: AbortSignal;

  constructor({ owner, client, words, clock, closing }: VisitorParts) {
    this.owner = owner;
    this.client = client;
    this.words = words;
    this.clock = clock;
    this.closing = closing;
  }
}
