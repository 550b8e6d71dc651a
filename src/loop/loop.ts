import type { Result } from "../base/result.ts";
import type { Failure } from "../protocol/failure.ts";
import type { Image, Slot } from "../protocol/message.ts";
import type { Checkpoint, ConversationState, Decision, ReplayReport, StreamFrame } from "../protocol/resources.ts";
import type { ConversationRow } from "../storage/storage.ts";
import { openCheckpoints } from "./checkpoints.ts";
import { openDecisions } from "./decisions.ts";
import { openDriver } from "./driver.ts";
import { openLive } from "./live.ts";
import { openMessages } from "./messages.ts";
import type { Parts } from "./parts.ts";
import { openPlaces } from "./places.ts";
import { recoverTurns } from "./recover.ts";
import { replayConversation } from "./replay.ts";
import { describeState } from "./state.ts";

export { defaultLimits, type LoopLimits } from "./parts.ts";

/** Drives the turns of all conversations of this process. Every change is a fact in the log before it has an effect. */
export interface Engine {
  /** Stores a message and wakes its conversation. Sending the same id again is harmless. */
  send(
    conversation: ConversationRow,
    message: OutgoingMessage,
  ): Promise<Result<{ message: string; seq: number }, Failure>>;
  withdraw(conversation: ConversationRow, message: string): Promise<Result<void, Failure>>;
  cancel(conversation: ConversationRow): Promise<Result<{ turn: number }, Failure>>;
  /** Goes on with an interrupted turn; null when there is none. */
  resume(conversation: ConversationRow): Promise<Result<{ turn: number | null }, Failure>>;
  decide(
    conversation: ConversationRow,
    decision: string,
    verdict: Verdict,
  ): Promise<Result<{ decision: string; seq: number }, Failure>>;
  openDecisions(owner: ConversationRow["owner"]): Promise<Decision[]>;
  reset(conversation: ConversationRow): Promise<Result<void, Failure>>;
  branch(conversation: ConversationRow, at?: number): Promise<Result<ConversationRow, Failure>>;
  remove(conversation: ConversationRow): Promise<Result<void, Failure>>;
  checkpoints(conversation: ConversationRow): Promise<Checkpoint[]>;
  saveCheckpoint(conversation: ConversationRow, name: string): Promise<Result<Checkpoint, Failure>>;
  restoreCheckpoint(conversation: ConversationRow, checkpoint: number): Promise<Result<Checkpoint, Failure>>;
  deleteCheckpoint(conversation: ConversationRow, checkpoint: number): Promise<Result<void, Failure>>;
  state(conversation: ConversationRow): Promise<ConversationState>;
  /** The running answer so far, then every delta; the answer ends it. */
  live(number: number, listener: (frame: LiveFrame) => void): () => void;
  replay(conversation: ConversationRow): Promise<ReplayReport>;
  /** Wakes what was interrupted and is younger than `ageMsMax`; answers how many turns go on and which are older. */
  recover(options: { ageMsMax: number }): Promise<{ resumed: number; older: ConversationRow[] }>;
  /** Lets running turns reach a safe point, then stops; they go on at the next start. */
  close(): Promise<void>;
}

export type OutgoingMessage = {
  readonly id?: string | undefined;
  readonly text: string;
  readonly images?: readonly Image[] | undefined;
  readonly mode: "queue" | "steer";
  readonly slot?: Slot | undefined;
};

export type Verdict = {
  readonly verdict: "approve" | "reject" | "edit" | "answer";
  readonly by: string;
  readonly reason?: string | undefined;
  readonly arguments?: string | undefined;
  readonly answer?: string | undefined;
};

export type LiveFrame = Extract<StreamFrame, { frame: "delta" }>;

/** `limits` may be changed by its owner: what it says counts from the next step on. */
export function openEngine(options: Omit<Parts, "live">): Engine {
  const parts: Parts = { ...options, live: openLive() };
  const driver = openDriver(parts);
  return {
    ...openMessages(parts, driver),
    ...openDecisions(parts, driver),
    ...openPlaces(parts, driver),
    ...openCheckpoints(parts),
    state: (conversation) => describeState(parts, conversation),
    live: (number, listener) => parts.live.listen(number, listener),
    replay: (conversation) => replayConversation(parts, conversation),
    recover: (how) => recoverTurns(parts, driver, how),
    close: driver.close,
  };
}
