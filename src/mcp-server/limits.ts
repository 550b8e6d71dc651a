/** What clients may take up of a yard, and for how long. */
export const mcpLimits = {
  /** Of one user, and of all: a client of the older generation that goes without a word leaves a session behind. */
  sessionsPerUserMax: 32,
  sessionsMax: 1_000,
  /** Nothing is asked and no stream is open for so long. */
  sessionIdleMs: 30 * 60_000,
  /** Each waits for a turn or a program, and holds what it has heard of it. */
  callsPerUserMax: 64,
  /** Files and conversations that are being read as resources and prompts: each holds all of one. */
  readsPerUserMax: 4,
  /** Messages of one request, where the older generation allows several: each may be a call of a tool. */
  batchMax: 20,
  /** Streams that the newer generation listens on, of one user and of all; nothing is ever said there, since no list of ours changes. */
  subscriptionsPerUserMax: 32,
  subscriptionsMax: 1_000,
  /** What one line of standard input may hold; a longer one is passed over to its end. */
  lineBytesMax: 32 * 1024 * 1024,
} as const;
