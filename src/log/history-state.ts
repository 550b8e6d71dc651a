import type { CallOutcome, EventBody, EventOf, FileState, TurnOutcome } from "../protocol/events.ts";
import type { Image, Message, Slot, ToolCall, ToolDescription, Usage } from "../protocol/message.ts";
import type { Todo } from "../protocol/todo.ts";
import { emptySpending, type Spending } from "./fold-budget.ts";
import type { HandedOver } from "./fold-hand-off.ts";
import { type Correspondence, noCorrespondence } from "./fold-mail.ts";
import { emptyKeepsakes, type Keepsakes, type SaidLine, type SelectedFiles, type Summary } from "./keepsakes.ts";
import type { Knowledge } from "./known.ts";

/** What the log amounts to right now: the fold of all events that were not rewound. */
export type History = Knowledge &
  Keepsakes &
  Correspondence & {
    head: number;
    /** Turns ever started, rewound ones included: turn numbers never come twice. */
    turnsEver: number;
    recipe: Recipe | undefined;
    /** What is sent after the system message. An object never changes once it was sent; `seqs` has its place in the log. */
    readonly messages: Message[];
    readonly seqs: number[];
    turn: OpenTurn | undefined;
    lastTurn: { readonly turn: number; readonly outcome: TurnOutcome } | undefined;
    readonly queue: QueuedMessage[];
    /** Open decisions, and those made in the running turn. */
    readonly decisions: Map<string, DecisionState>;
    /** Hash of the last decision made: each one names the one before it. */
    lastDecision: string;
    todos: readonly Todo[];
    /** The provider's own count for the last request and answer, and how many messages it covers. */
    counted: { readonly usage: Usage; readonly estimated: boolean; readonly messages: number } | undefined;
    /** What reminders told last, by kind, and at which step of all steps. */
    readonly told: Map<string, { readonly value: string; readonly step: number }>;
    steps: number;
    readonly checkpoints: CheckpointState[];
    /** Text from outside was read: files, programs, the web, other agents. Never forgotten, whatever is left out. */
    isTainted: boolean;
    /** Files of standing instructions as the user put them there, whatever was done to them since. */
    readonly guides: Map<string, Guide>;
    /** Which agent it belongs to, as it was named first; undefined is the main agent. */
    agent: AgentChosen | undefined;
    /** Tools that requests tell of from the next turn on, besides those of every conversation. */
    readonly loadedTools: Set<string>;
    /** Skills that were made ready, by name, each as it was the first time. */
    readonly skills: Map<string, LinkedSkill>;
    /** Whom the user was handed over to in the running turn, one by the other; the last that acts is the one that works. */
    readonly stack: HandedOver[];
    /** What was spent, rewound events included, and what may be. */
    budget: Spending;
    /** What the running turn hides: it was given another history. */
    aside: Aside | undefined;
    /** Whose history it is; undefined is the main agent's. */
    readonly self: AgentSelf | undefined;
    /** The agents that it made in the running turn, by id. */
    readonly children: Map<string, ChildState>;
    /** Agents that it waits to hear from before it ends. */
    readonly awaited: Set<string>;
    /** It is to end as soon as it can: somebody stopped it. `by`: the agent that did; undefined is a person. */
    ending: { readonly by: string | undefined } | undefined;
    /** Its work is over. */
    isOver: boolean;
    /** Its answer was too short, and it was asked for more. */
    isAskedForMore: boolean;
  };

/** The histories of all agents of a conversation, by id; those that have ended among them. */
export type Tree = { readonly root: History; readonly agents: Map<string, History> };

/** What an agent was made as. */
export type AgentSelf = Pick<EventBody<"agent.spawned">, "id" | "mode" | "brief" | "loops" | "context" | "budget"> & {
  readonly parent: string;
  /** From the main agent down to it, by their ids. */
  readonly path: readonly string[];
  readonly role: string;
  readonly name: string;
};

export type ChildState = {
  readonly spawned: EventOf<"agent.spawned">;
  ended: EventOf<"agent.ended"> | undefined;
};

export type LinkedSkill = Pick<EventBody<"skill.linked">, "turn" | "because" | "file">;

/** The names as they were given, each by the first caller who gave one. */
export type AgentChosen = Readonly<EventBody<"agent.chosen">>;

/** The history as it goes on after a turn that was given another one: what this turn says is added to both. */
export type Aside = Knowledge & {
  /** So many of its messages are older than the turn. */
  readonly older: number;
  readonly messages: Message[];
  readonly seqs: number[];
  readonly said: SaidLine[];
  readonly selected: SelectedFiles[];
  readonly summary: Summary | undefined;
  readonly counted: History["counted"];
  readonly told: History["told"];
};

/** The file as it was uploaded, and the place of that in the log. */
export type Guide = { readonly state: FileState & { readonly hash: string }; readonly seq: number };

export type Recipe = {
  readonly system: string;
  readonly tools: string;
  /** Made once per recipe, so that the same objects go into every request. */
  readonly systemMessage: Message;
  readonly descriptions: readonly ToolDescription[];
  readonly startedAt: number;
  /** Which agent it is for, where the user was handed over to one. */
  readonly role?: string | undefined;
  /** Which parts of the system message are the user's own. */
  readonly instructions?: EventOf<"recipe.set">["instructions"];
  readonly notes?: EventOf<"recipe.set">["notes"];
};

/** `from`: the agent whose mail it is; undefined where a person said it, or where it is what the agent was made for. */
export type QueuedMessage = EventOf<"message.user"> & { readonly from?: string | undefined };
export type DecisionState = { readonly asked: EventOf<"decision.asked">; made: EventOf<"decision.made"> | undefined };
export type CheckpointState = {
  readonly seq: number;
  readonly parent: number | null;
  readonly name: string;
  readonly at: number;
};

export type OpenTurn = {
  readonly turn: number;
  readonly message: QueuedMessage;
  readonly startedAt: number;
  epoch: number;
  recoveries: number;
  cancelAsked: boolean;
  /** Steps begun; the newest has had `attempt` attempts and is open until its answer is stored. */
  step: number;
  attempt: number;
  /** Failures of the open step so far. */
  failures: number;
  isStepOpen: boolean;
  /** The output limit cut the newest answer off. */
  isCut: boolean;
  isFinal: boolean;
  /** How often room was made since the newest answer because the window was full. */
  compactions: number;
  /** The provider refused the open step because it was too long. */
  isOverflown: boolean;
  /** A call was refused because it went round in circles. */
  isStuck: boolean;
  slot: Slot | undefined;
  /** The model of the newest step. */
  model: string | undefined;
  hasImages: boolean;
  /** The calls of the newest answer, in its order. */
  calls: CallState[];
  /** Calls with their results, in order, for the loop guard. */
  readonly finished: { readonly name: string; readonly arguments: string; readonly text: string }[];
};

export type CallState = {
  readonly call: ToolCall;
  decision: DecisionState | undefined;
  started: { readonly class: EventOf<"call.started">["class"]; readonly attempt: number } | undefined;
  /** The agent whose answer is its result. */
  worker?: ChildState | undefined;
  result:
    | {
        readonly outcome: CallOutcome;
        readonly text: string;
        readonly images: readonly Image[] | undefined;
        readonly file: string | undefined;
        readonly seq: number;
      }
    | undefined;
};

export function emptyHistory(self?: AgentSelf): History {
  return {
    self,
    children: new Map(),
    awaited: new Set(),
    ending: undefined,
    isOver: false,
    isAskedForMore: false,
    head: 0,
    turnsEver: 0,
    recipe: undefined,
    messages: [],
    seqs: [],
    turn: undefined,
    lastTurn: undefined,
    queue: [],
    decisions: new Map(),
    lastDecision: "",
    todos: [],
    counted: undefined,
    told: new Map(),
    steps: 0,
    checkpoints: [],
    isTainted: false,
    guides: new Map(),
    agent: undefined,
    loadedTools: new Set(),
    skills: new Map(),
    stack: [],
    budget: emptySpending(),
    aside: undefined,
    ...emptyKeepsakes(),
    ...noCorrespondence(),
    known: new Map(),
    unread: new Map(),
  };
}
