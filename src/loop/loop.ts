import type { Result } from "../base/result.ts";
import type { AgentRole } from "../protocol/agent.ts";
import type { AgentInfo } from "../protocol/agent-routes.ts";
import type { AllowRule, RuleScope } from "../protocol/approval.ts";
import type { Budget, BudgetLimits } from "../protocol/budget.ts";
import type { Failure } from "../protocol/failure.ts";
import type { FileVersion } from "../protocol/file-view-routes.ts";
import type { CallerPart, GivenMessage } from "../protocol/given.ts";
import type { OwnerId } from "../protocol/ids.ts";
import type { Image, Slot } from "../protocol/message.ts";
import type {
  Checkpoint,
  CompactReport,
  ConversationState,
  Decision,
  Memory,
  ReplayReport,
  StreamFrame,
  UndoReport,
  UploadedFile,
} from "../protocol/resources.ts";
import type { MentionItem, UnknownMention } from "../protocol/skill.ts";
import type { UploadPolicy } from "../protocol/upload-policy.ts";
import type { ConversationRow } from "../storage/storage.ts";
import type { Language } from "../words/words.ts";
import type { FileChange, Workspace } from "../workspace/workspace.ts";
import { tellsOf } from "./agent-tools.ts";
import { openAgentTree } from "./agents/agent-tree.ts";
import { openAgents } from "./agents.ts";
import { openBranch } from "./branch.ts";
import { openBudgets } from "./budgets.ts";
import { openCheckpoints } from "./checkpoints.ts";
import { openCompactions } from "./compactions.ts";
import { openDecisions } from "./decisions.ts";
import { openDriver } from "./driver.ts";
import { openFileHistory } from "./file-history.ts";
import { openFiles } from "./files.ts";
import { openGates } from "./gates.ts";
import { openLive } from "./live.ts";
import { openLoadTool } from "./load-tool.ts";
import { openMarks } from "./marks.ts";
import { openMemory } from "./memory.ts";
import { openMessages } from "./messages.ts";
import type { Parts } from "./parts.ts";
import { recoverTurns } from "./recover.ts";
import { replayConversation } from "./replay.ts";
import { openRules } from "./rules.ts";
import { openSayAgain } from "./say-again.ts";
import { openSkillPackages } from "./skill-packages.ts";
import { type ListedSkill, openSkillList } from "./skills.ts";
import { describeState } from "./state.ts";
import { openTakeOver } from "./take-over.ts";
import { openUndo } from "./undo.ts";
import { openWhole } from "./whole-conversation.ts";

export { openLive } from "./live.ts";
export { defaultLimits, type LoopLimits } from "./parts.ts";
export type { ListedSkill } from "./skills.ts";
export { conversationOf } from "./state.ts";

/** Drives the turns of all conversations of this process. Every change is an event in the log before it has an effect. */
export interface Engine {
  /** Stores a message and wakes its conversation. Sending the same id again is harmless. */
  send(conversation: ConversationRow, message: OutgoingMessage): Promise<Result<Sent, Failure>>;
  /**
   * Goes back to before a message and says it again under its own id, with another text or other files where they are
   * given: the answer is made anew. What came after it is no longer part of the history; files stay as they are.
   */
  sayAgain(
    conversation: ConversationRow,
    message: string,
    wanted: SaidAgain,
  ): Promise<Result<{ message: string; seq: number }, Failure>>;
  /** Whether these files can be selected for a message, by whatever spelling; makes nothing. */
  checkSelected(conversation: ConversationRow, names: readonly string[]): Promise<Result<void, Failure>>;
  withdraw(conversation: ConversationRow, message: string): Promise<Result<void, Failure>>;
  /**
   * Stops the turn that runs; where one is named only that one (`turn_not_running` otherwise). A message that is named and
   * still waits is withdrawn: then `turn` is null.
   */
  cancel(conversation: ConversationRow, which?: TurnNamed): Promise<Result<{ turn: number | null }, Failure>>;
  /** Goes on with an interrupted turn; null when there is none. */
  resume(conversation: ConversationRow): Promise<Result<{ turn: number | null }, Failure>>;
  decide(conversation: ConversationRow, decision: string, verdict: Verdict): Promise<Result<DecisionMade, Failure>>;
  openDecisions(owner: OwnerId): Promise<Decision[]>;
  /** What a user allowed always, newest first; with a conversation only what counts there. */
  rules(owner: OwnerId, conversation?: ConversationRow): Promise<AllowRule[]>;
  revokeRule(owner: OwnerId, rule: string): Promise<Result<void, Failure>>;
  /** What a user wants to be known in every conversation, oldest first. */
  memory(owner: OwnerId): Promise<Memory[]>;
  addMemory(owner: OwnerId, fact: string): Promise<Result<Memory, Failure>>;
  changeMemory(owner: OwnerId, memory: string, fact: string): Promise<Result<Memory, Failure>>;
  forgetMemory(owner: OwnerId, memory: string): Promise<Result<void, Failure>>;
  /** The skills that were found, the nearest folder first, and what became of them in a conversation. */
  skills(owner: OwnerId, conversation?: ConversationRow): Promise<{ items: readonly ListedSkill[]; tokensMax: number }>;
  /** One of them by name; `skill_not_found` with names that were probably meant. */
  explainSkill(
    owner: OwnerId,
    name: string,
    conversation?: ConversationRow,
  ): Promise<Result<ListedSkill & { readonly tokensMax: number }, Failure>>;
  /**
   * Installs the packages that a skill's `requirements.txt` names, inside the sandbox of this user. `leftOut`: lines that
   * say more than a name and a version.
   */
  installPackages(
    owner: OwnerId,
    skill: string,
  ): Promise<Result<{ installed: { name: string; version: string }[]; leftOut: string[] }, Failure>>;
  /** What can be named with `@` and begins so: tools, then skills, then agents. */
  mentions(
    owner: OwnerId,
    wanted: { readonly prefix: string; readonly limit: number },
    conversation?: ConversationRow,
  ): Promise<{ items: MentionItem[]; total: number }>;
  /** The agents there are; the main one first. */
  agents(): readonly AgentRole[];
  /** Who works in a conversation, and for whom; the main agent first. */
  agentTree(conversation: ConversationRow): Promise<AgentInfo[]>;
  /** Ends one of them by id or name, with all that work for it. Answered when that is stored; it ends in a moment. */
  stopAgent(conversation: ConversationRow, agent: string): Promise<Result<{ agent: string }, Failure>>;
  /** The files that an agent works with. */
  agentFiles(conversation: ConversationRow, agent: string): Promise<Result<Workspace, Failure>>;
  /** Whether this agent is told of a tool of this name itself. */
  tellsOf(owner: OwnerId, agent: AgentRole, name: string): boolean;
  /** The only tools of the agent that works here; `undefined` where it has all of them. */
  agentTools(conversation: ConversationRow): Promise<readonly string[] | undefined>;
  /** Tells the model of a tool on demand in every request of this conversation, from its next turn on. */
  loadTool(conversation: ConversationRow, name: string): Promise<Result<void, Failure>>;
  /** The agent a conversation belongs to from its first turn on: set by the first caller who names one, checked for others. */
  chooseAgent(conversation: ConversationRow, named: AgentNamed): Promise<Result<AgentRole, Failure>>;
  /** A new conversation with its folders. */
  create(owner: OwnerId, wanted: NewConversationInput): Promise<Result<ConversationRow, Failure>>;
  /** Somebody is about to go on with it: makes ready what its next turn needs. Answers at once and never fails. */
  open(conversation: ConversationRow): void;
  /** Undoes the last turn: the history is rewound, files that its tools changed are as before. */
  undo(conversation: ConversationRow): Promise<Result<UndoReport, Failure>>;
  /** What the user and the main agent work with. */
  files(conversation: ConversationRow): Workspace;
  /** Checks a file while it comes in and puts it into its folder, with its line in the ledger. */
  upload(conversation: ConversationRow, upload: Upload): Promise<Result<UploadedFile, Failure>>;
  removeFile(conversation: ConversationRow, path: string): Promise<Result<void, Failure>>;
  /** Makes a file again as it was after the change that the ledger tells of at `seq`. */
  restoreFile(
    conversation: ConversationRow,
    wanted: { readonly path: string; readonly seq: number },
  ): Promise<Result<FileChange, Failure>>;
  /** Who changed files, newest first: one file, or the last change of each. */
  fileHistory(
    conversation: ConversationRow,
    wanted: { readonly path?: string | undefined; readonly limit: number },
  ): Promise<FileVersion[]>;
  /** Takes everything out of a folder that stays, with one line in the ledger; one that is not there counts as empty. */
  emptyFolder(conversation: ConversationRow, path: string): Promise<Result<void, Failure>>;
  /** What a program did to files that a person ran, for the ledger. */
  noteChanges(conversation: ConversationRow, changes: readonly FileChange[]): Promise<Result<void, Failure>>;
  /** Forgets the history. The log keeps it; of the files only those in temp/ go. */
  reset(conversation: ConversationRow): Promise<Result<void, Failure>>;
  /**
   * A new conversation with the history up to a place, and with the files as they are now. `leftOut`: files that could
   * not be copied; `.` when none could. Under an id that it has already it is the same one, and its files are copied again.
   */
  branch(
    conversation: ConversationRow,
    at?: number,
    id?: string,
  ): Promise<Result<{ conversation: ConversationRow; leftOut: readonly string[] }, Failure>>;
  remove(conversation: ConversationRow): Promise<Result<void, Failure>>;
  /** Replaces older messages by a summary in what is sent; `seq` is null where there was nothing to do. */
  compact(conversation: ConversationRow, wanted: CompactOptions): Promise<Result<CompactReport, Failure>>;
  /** Sends again what the newest summary stands for. */
  undoCompaction(conversation: ConversationRow): Promise<Result<{ seq: number }, Failure>>;
  budget(conversation: ConversationRow): Promise<Budget>;
  /** All limits at once; what is left out is as the settings have it. */
  setBudget(conversation: ConversationRow, limits: BudgetLimits): Promise<Result<Budget, Failure>>;
  checkpoints(conversation: ConversationRow): Promise<Checkpoint[]>;
  /** Saving it again under the same id saves it once. */
  saveCheckpoint(conversation: ConversationRow, name: string, id?: string): Promise<Result<Checkpoint, Failure>>;
  /** Goes back to a place, with the files that tools changed since; those that had to be left are logged. */
  restoreCheckpoint(conversation: ConversationRow, checkpoint: number): Promise<Result<Checkpoint, Failure>>;
  deleteCheckpoint(conversation: ConversationRow, checkpoint: number): Promise<Result<void, Failure>>;
  state(conversation: ConversationRow): Promise<ConversationState>;
  /** The running answer and what programs said so far, then every further piece; the answer ends it. */
  live(number: number, listener: (frame: LiveFrame) => void): () => void;
  replay(conversation: ConversationRow): Promise<ReplayReport>;
  /**
   * Wakes what was interrupted and is younger than `ageMsMax`; answers how many turns go on and which are older. Where several
   * processes share the storage, from then on also what others leave.
   */
  recover(options: { ageMsMax: number }): Promise<{ resumed: number; older: ConversationRow[] }>;
  /** Lets running turns reach a safe point, then stops; they go on at the next start. */
  close(): Promise<void>;
}

export type Sent = {
  readonly message: string;
  readonly seq: number;
  /** What it names with `@` and is not there: no failure, it was sent as text. */
  readonly unknownMentions?: UnknownMention[];
};

export type OutgoingMessage = ChatPart & {
  readonly id?: string | undefined;
  readonly text: string;
  /** So many characters of `text` are the person's own; all of them, where it is not said. */
  readonly own?: number | undefined;
  readonly images?: readonly Image[] | undefined;
  readonly mode: "queue" | "steer";
  readonly slot?: Slot | undefined;
  /** What its turn may spend, within what the settings allow. */
  readonly budget?: BudgetLimits | undefined;
  /** Paths in the workspace. */
  readonly files?: readonly string[] | undefined;
  /** In which the files are named at the end of the message. */
  readonly language?: Language | undefined;
};

/** What the chat routes and those of programs add to a message. */
export type ChatPart = {
  /** Ids that were promised to the caller. */
  readonly reply?: string | undefined;
  readonly run?: string | undefined;
  /** Files of the upload folder, by name, by path from the workspace or by the path that programs see. */
  readonly selected?: readonly string[] | undefined;
  /** In place of the history so far. Where `text` is empty, they end with what is to be answered. */
  readonly instead?: readonly GivenMessage[] | undefined;
  readonly inputs?: Readonly<Record<string, unknown>> | undefined;
  readonly callerPart?: CallerPart | undefined;
};

export type CompactOptions = {
  readonly strategy: "auto" | "compact" | "summarize";
  /** What the summary is to tell most about. */
  readonly focus?: string | undefined;
};

export type SaidAgain = {
  readonly cause: "regenerate" | "edit";
  readonly text?: string | undefined;
  readonly selected?: readonly string[] | undefined;
  readonly run?: string | undefined;
  /** The call's id: under the same one it is said again once. */
  readonly id?: string | undefined;
};

/** The turn of this message, of this number, or the one that still waits for this decision. */
export type TurnNamed = {
  readonly message?: string | undefined;
  readonly turn?: number | undefined;
  readonly decision?: string | undefined;
};

export type NewConversationInput = {
  readonly id?: string | undefined;
  readonly title?: string | undefined;
  readonly origin?: ConversationRow["origin"] | undefined;
  /** Nothing of it is to be kept: it goes soon after its last use. */
  readonly isPassing?: boolean | undefined;
  readonly agent?: AgentNamed | undefined;
};

/** The agent that a caller names, in the order in which they count; `agentId` binds the conversation (`conversation_of_agent`). */
export type AgentNamed = {
  readonly agentId?: string | undefined;
  readonly agentKey?: string | undefined;
  readonly appKey?: string | undefined;
};

export type Upload = {
  readonly name: string;
  readonly chunks: AsyncIterable<Uint8Array>;
  /** As the sender announced it: enough to refuse early, never to be relied on. */
  readonly announcedBytes?: number | undefined;
  /** A file of the same name stays and this one becomes `name (2)`; otherwise it is replaced. */
  readonly keep: boolean;
  /** `uploads` unless said otherwise. */
  readonly folder?: string | undefined;
  /** The configured one unless said otherwise. */
  readonly policy?: UploadPolicy | undefined;
  /** The MCP server that it was read from. */
  readonly server?: string | undefined;
};

export type Verdict = {
  readonly verdict: "approve" | "reject" | "edit" | "answer";
  readonly by: string;
  readonly reason?: string | undefined;
  readonly arguments?: string | undefined;
  readonly answer?: string | undefined;
  /** Approve: also store the rule with this number of those that the decision offers. */
  readonly always?: { readonly option: number; readonly scope: RuleScope } | undefined;
  /** Say the same to all open decisions of this conversation about the same. */
  readonly equal?: boolean | undefined;
};

/** `also`: what else was decided by it, here and in the user's other conversations. */
export type DecisionMade = { readonly decision: string; readonly seq: number; readonly also: string[] };

export type LiveFrame = Extract<StreamFrame, { frame: "delta" | "output" }>;

/** `limits` may be changed by its owner: what it says counts from the next step on. */
export function openEngine(options: Omit<Parts, "live" | "marks" | "gates">): Engine {
  const parts: Parts = { ...options, live: openLive(), marks: openMarks(options.ids), gates: openGates() };
  const driver = openDriver(parts);
  const takeOver = openTakeOver(parts, driver);
  return {
    ...openMessages(parts, driver),
    ...openSayAgain(parts, driver),
    ...openAgents(parts),
    ...openAgentTree(parts, driver),
    ...openLoadTool(parts),
    ...openDecisions(parts, driver),
    ...openRules(parts),
    ...openMemory(parts),
    ...openSkillList(parts),
    ...openSkillPackages(parts),
    ...openWhole(parts, driver),
    ...openBranch(parts),
    ...openCheckpoints(parts, driver),
    ...openBudgets(parts),
    ...openCompactions(parts, driver),
    ...openFiles(parts),
    ...openFileHistory(parts),
    ...openUndo(parts, driver),
    tellsOf: (owner, agent, name) => tellsOf(agent, parts, { owner, name }),
    state: (conversation) => describeState(parts, conversation),
    live: (number, listener) => parts.live.listen(number, listener),
    replay: (conversation) => replayConversation(parts, conversation),
    async recover(how) {
      const recovered = await recoverTurns(parts, driver, how);
      takeOver.start(how);
      return recovered;
    },
    async close() {
      // At once: a look waits for a storage that is kept busy by what is still driven.
      await Promise.all([takeOver.close(), driver.close()]);
    },
  };
}
