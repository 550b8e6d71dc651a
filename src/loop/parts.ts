import type { Approvals } from "../approvals/approvals.ts";
import type { Clock } from "../base/clock.ts";
import type { Ids } from "../base/ids.ts";
import type { Random } from "../base/random.ts";
import { defaultWindowLimits, type WindowLimits } from "../context/context.ts";
import type { Documents, UploadPolicy } from "../documents/documents.ts";
import type { Homes } from "../homes/homes.ts";
import type { Log } from "../log/log.ts";
import type { Lookup } from "../lookup/lookup.ts";
import type { Models, PriceTable } from "../models/models.ts";
import type { Logger } from "../observe/observe.ts";
import type { AgentRole } from "../protocol/agent.ts";
import type { BudgetLimits } from "../protocol/budget.ts";
import type { OwnerId } from "../protocol/ids.ts";
import type { Sandbox } from "../sandbox/sandbox.ts";
import type { Skills } from "../skills/skills.ts";
import type { Storage } from "../storage/storage.ts";
import type { Toolkit } from "../tools/tools.ts";
import type { Web } from "../web/web.ts";
import type { Workspaces } from "../workspace/workspace.ts";
import type { Gates } from "./gates.ts";
import type { Live } from "./live.ts";
import type { Marks } from "./marks.ts";

/** What the loop works with. It knows no provider, no database and no surface. */
export type Parts = {
  readonly log: Log;
  readonly storage: Storage;
  /** Which server drives a conversation, where several share the storage. */
  readonly homes: Homes;
  readonly models: Models;
  /** The tools of a user as they are now; the same toolkit as long as nothing changed. */
  readonly toolkit: (owner: OwnerId) => Toolkit;
  /** Waits a moment for tools of servers that are not known yet. */
  readonly lookUpTools: (owner: OwnerId, signal: AbortSignal) => Promise<void>;
  /** The agents there are as the settings have them now, the main one first. */
  readonly agents: () => readonly AgentRole[];
  readonly approvals: Approvals;
  readonly skills: Skills;
  readonly workspaces: Workspaces;
  readonly documents: Documents;
  readonly lookup: Lookup;
  readonly web: Web;
  readonly sandbox: Sandbox;
  readonly live: Live;
  readonly marks: Marks;
  readonly gates: Gates;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly random: Random;
  readonly logger: Logger;
  readonly limits: LoopLimits;
  readonly uploads: UploadPolicy;
  /** Whether programs may talk to any host of the network. */
  readonly reachesNetwork: () => boolean;
  /** Called when a conversation was deleted: its files are to be removed some time soon. */
  readonly sweepSoon: () => void;
  /** Called before each turn, and before one goes on after a break, there at most once in a second: the place to pick up changed settings. */
  readonly beforeTurn: () => Promise<void>;
};

export type LoopLimits = {
  /** Model calls of one turn, and those of an agent that another one made. */
  readonly stepsMax: number;
  readonly agentStepsMax: number;
  /** Agents of one conversation that work at the same time; others wait until one of them waits or ends. */
  readonly agentsAtOnceMax: number;
  /** Attempts at one model call. */
  readonly attemptsMax: number;
  /** First pause before another attempt; doubled each time, up to the longest one. */
  readonly retryDelayMs: number;
  readonly retryDelayMsMax: number;
  readonly parallelCallsMax: number;
  /** Crashes of one turn before it is parked. */
  readonly crashesMax: number;
  /** Interrupted turns that go on at the same time after a start. */
  readonly recoveriesMax: number;
  readonly toolTimeoutMs: number;
  readonly leaseMs: number;
  /** How long a stopped tool may take to end before it is left alone. */
  readonly stopGraceMs: number;
  /** Messages that stay, at the most, when room is made without a summary; 0 makes no room at all. */
  readonly messagesKeptMax: number;
  readonly window: WindowLimits;
  /** How long a model may take for a summary. */
  readonly summaryTimeoutMs: number;
  /** What may be spent where nobody has said otherwise: by a conversation, by each turn, by an agent that another made. */
  readonly budgets: Readonly<Record<"conversation" | "turn" | "agent", BudgetLimits>>;
  /** What models cost. */
  readonly prices: PriceTable;
};

export const defaultLimits: LoopLimits = {
  stepsMax: 100,
  agentStepsMax: 50,
  agentsAtOnceMax: 8,
  attemptsMax: 4,
  retryDelayMs: 500,
  retryDelayMsMax: 60_000,
  parallelCallsMax: 8,
  crashesMax: 3,
  recoveriesMax: 4,
  toolTimeoutMs: 120_000,
  leaseMs: 15_000,
  stopGraceMs: 500,
  messagesKeptMax: 150,
  window: defaultWindowLimits,
  summaryTimeoutMs: 180_000,
  budgets: { conversation: { agents: 200, depth: 5 }, turn: {}, agent: {} },
  prices: {},
};
