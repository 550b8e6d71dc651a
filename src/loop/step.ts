import { reminderFor, requestOf, tokenStatus, windowOf } from "../context/context.ts";
import type { History, OpenTurn } from "../log/log.ts";
import { type ModelChoice, modelFailure } from "../models/models.ts";
import type { ModelAnswer } from "../models/provider.ts";
import { type EventBody, type NewEvent, ownWordsOf } from "../protocol/events.ts";
import type { ToolCall } from "../protocol/message.ts";
import { transferName } from "../tools/tools.ts";
import { forModels } from "../words/words.ts";
import { functionsOf, recipeNow, toolkitOf } from "./agent-tools.ts";
import { endsInCircle } from "./agents/circle.ts";
import { actingRole, choiceOf } from "./agents.ts";
import type { CallReserved } from "./budget.ts";
import { finishTurn } from "./finish.ts";
import { snippet } from "./last-text.ts";
import { toolLoaded } from "./load-tool.ts";
import { mentionedIn } from "./mentions.ts";
import { readMemories, readOwnParts } from "./own-parts.ts";
import type { Parts } from "./parts.ts";
import type { Run } from "./run.ts";
import { stageNews } from "./skill-news.ts";
import { budgetLines, paidFor, planCall, stepsMaxOf } from "./spending.ts";

/**
 * One model call: what is sent is recorded before it leaves, and the answer before anything is done about it.
 * True when the answer is staged: the commit that starts its tools, or ends the turn, carries it.
 */
export async function takeStep(run: Run, parts: Parts, { isFinal }: { isFinal: boolean }): Promise<boolean> {
  const { turn } = run.history;
  if (turn === undefined) return false;
  const choice = choiceOf({ ...run.history, turn }, parts, { isFinal });
  // The user may have been handed over in the middle of the turn.
  const { recipe } = run.history;
  if (recipe === undefined || recipe.role !== actingRole(run.history)) await stageRecipe(run, parts);
  const paid = planCall(run.history, parts);
  if (paid.next === "none") {
    const outcome = paid.reason.code === "price_unknown" ? "failed" : "limit";
    await finishTurn(run, parts, outcome, paid.reason);
    return false;
  }
  const memories = turn.step === 0 ? await readMemories(run, parts) : undefined;
  const news = turn.isStepOpen ? [] : await stageNews(run, parts, { isFinal });
  const { call, joined } = beginStep(run, parts, { turn, choice, isFinal, memories, news, reserved: paid.reserved });
  const isStart = turn.step === 1 && turn.attempt === 1;
  // A message that is just being taken up may be withdrawn in the same moment: only one of the two may happen.
  const isExact = isStart || joined.length > 0;
  const isShown = isStart && run.agent === undefined;
  const stored = await run.commit(isShown ? titleRow(run, parts) : undefined, { isExact });
  if (!stored.ok || run.history.turn?.turn !== turn.turn) return false;

  const { agent } = run;
  const whose = { number: run.conversation.number, agent };
  const time = stopwatch(parts);
  parts.live.begin(whose, { turn: turn.turn, step: turn.step, attempt: turn.attempt });
  const answer = await call.send(
    {
      text: (delta) => parts.live.add(whose, "text", time.heard(delta)),
      reasoning: (delta) => parts.live.add(whose, "reasoning", time.heard(delta)),
    },
    run.signal,
  );
  parts.live.end(whose);
  const took = time.took();
  if (run.signal.aborted) {
    return keepCutAnswer(run, turn, answer, { ...took, ...paidFor(choice.model, answer.usage, parts) });
  }
  if (answer.error !== undefined) return failStep(run, parts, { turn, choice, answer, error: answer.error });
  // In the last step a model may not call; one that does so all the same is not listened to.
  const toolkit = toolkitOf(run.history, parts, run.conversation.owner);
  const toolCalls = uniqueIds(answer.toolCalls).map(toolkit.meant);
  const heard: ModelAnswer = isFinal ? { ...answer, toolCalls: [], finish: "stop" } : { ...answer, toolCalls };
  run.stage(answered(turn, heard, { ...took, ...paidFor(choice.model, answer.usage, parts) }));
  return true;
}

type Took = Pick<EventBody<"message.assistant">, "durationMs" | "firstTokenMs" | "cost">;

/** How long an answer takes, and its first piece. */
function stopwatch({ clock }: Parts) {
  const startedAt = clock.monotonic();
  const sinceStart = () => Math.round(clock.monotonic() - startedAt);
  let firstTokenMs: number | undefined;
  return {
    heard(delta: string): string {
      if (delta !== "") firstTokenMs ??= sinceStart();
      return delta;
    },
    took: (): Took => ({ durationMs: sinceStart(), ...(firstTokenMs === undefined ? {} : { firstTokenMs }) }),
  };
}

/** What requests start with, as it is now. Within a turn nothing that it is made of changes. */
export async function stageRecipe(run: Run, parts: Parts): Promise<void> {
  const own = await readOwnParts(run, parts);
  const { owner } = run.conversation;
  stageNamedTools(run, parts);
  const recipe = recipeNow(run.history, parts, { at: parts.clock.now(), own, owner });
  if (recipe !== undefined) run.stage(recipe);
  const offered = functionsOf(run.history, parts, owner);
  const leftOut = run.history.turn?.message.program?.functions?.filter((one) => !offered.includes(one)) ?? [];
  if (leftOut.length > 0)
    parts.logger.warn("functions of the caller are called like our tools, or twice: left out", {
      ...{ conversation: run.conversation.id, names: leftOut.map(({ name }) => name).join(", ") },
    });
}

/** A tool on demand that the user names is told of from this request on. */
function stageNamedTools(run: Run, parts: Parts): void {
  const { history, conversation } = run;
  const { owner } = conversation;
  if (history.turn === undefined) return;
  const { tools, agents } = mentionedIn(ownWordsOf(history.turn.message), { history, owner }, parts);
  const forAgents = agents.length === 0 ? [] : [...agents.map(transferName), "call_agent", "delegate_task"];
  for (const name of [...tools, ...forAgents]) {
    const loaded = toolLoaded(history, parts, { owner, name });
    if (loaded.ok && loaded.value !== undefined) run.stage(loaded.value);
  }
}

type Begun = {
  readonly turn: OpenTurn;
  readonly choice: ModelChoice;
  readonly isFinal: boolean;
  /** What the user wants to be known, where a turn starts. */
  readonly memories: readonly string[] | undefined;
  /** What the messages that are taken up now name, and which skills there are for their files. */
  readonly news: readonly string[];
  /** Held back for it, where a budget holds. */
  readonly reserved: CallReserved | undefined;
};

/** Stages everything this request rests on and prepares it. The history has its reminder before the bytes are made. */
function beginStep(run: Run, parts: Parts, { turn, choice, isFinal, memories, news, reserved }: Begun) {
  const { history, conversation } = run;
  const { model, slot, reason } = choice;
  const at = parts.clock.now();
  // Then this is a further attempt at it.
  const { isStepOpen } = turn;
  const tokens = tokenStatus(history, windowOf(history, model), parts.limits.window);
  const reminder = isStepOpen
    ? undefined
    : reminderFor(history, {
        ...{ at, tokens, memories, news, budget: budgetLines(history, parts) },
        instruction: isFinal ? finalInstruction(history, parts) : undefined,
      });
  // Who ends because of a circle reads so.
  const joined =
    isFinal && endsInCircle(history) === undefined
      ? []
      : history.queue.filter((message) => message.mode === "steer").map((message) => message.id);
  const place = {
    turn: turn.turn,
    step: isStepOpen ? turn.step : turn.step + 1,
    attempt: isStepOpen ? turn.attempt + 1 : 1,
  };
  const started: EventBody<"step.started"> & { type: "step.started" } = {
    type: "step.started",
    ...place,
    ...{ slot, model: model.id, reason },
    ...{ hash: "", bytes: 0, reused: 0 },
    ...(reminder === undefined ? {} : { reminder: reminder.text, told: [...reminder.told] }),
    ...(joined.length > 0 ? { joined } : {}),
    ...(isFinal ? { final: true } : {}),
    ...(reserved === undefined ? {} : { reserved: heldFor(reserved) }),
  };
  run.stage(started);
  const call = model.prepare({
    ...requestOf(history),
    toolChoice: isFinal ? "none" : "auto",
    cacheKey: run.agent === undefined ? conversation.id : `${conversation.id} ${run.agent}`,
    owner: conversation.owner,
    outputTokensMax: reserved?.outputTokensMax,
  });
  const { hash, length: bytes, reused } = call.bytes;
  run.amend({ ...started, hash, bytes, reused });
  return { call, joined };
}

function heldFor({ tokens, money }: CallReserved): NonNullable<EventBody<"step.started">["reserved"]> {
  return { tokens, ...(money === undefined ? {} : { money }) };
}

function finalInstruction(history: History, { limits }: Parts): string {
  const stepsMax = stepsMaxOf(history, limits);
  const isAtLimit = (history.turn?.step ?? 0) >= stepsMax;
  if (history.self !== undefined) return forModels.agents.finalize(isAtLimit ? stepsMax : undefined);
  if (isAtLimit) return forModels.finalizeAtLimit(stepsMax);
  return history.turn?.isStuck ? forModels.finalize : forModels.budget.finalize;
}

/** The list shows a conversation by its first words until it has a title of its own. */
function titleRow({ conversation, history }: Run, parts: Parts) {
  const text = snippet(ownWordsOf(history.turn?.message ?? { text: "" }));
  return {
    row: {
      ...(conversation.title === "" && history.turnsEver === 1 ? { title: text } : {}),
      lastMessage: text,
      updatedAt: parts.clock.now(),
    },
  };
}

function answered(turn: OpenTurn, answer: ModelAnswer, took: Took): NewEvent {
  const { text, reasoning, reasoningDetails, toolCalls, finish, usage, usageEstimated } = answer;
  return {
    type: "message.assistant",
    turn: turn.turn,
    step: turn.step,
    text,
    ...(reasoning === "" ? {} : { reasoning }),
    ...(reasoningDetails === undefined ? {} : { reasoningDetails: [...reasoningDetails] }),
    ...(toolCalls.length === 0 ? {} : { calls: [...toolCalls] }),
    finish,
    usage,
    ...(usageEstimated === true ? { usageEstimated } : {}),
    ...took,
  };
}

/** Some servers number the calls of every answer alike, or twice in one; a result must find its call. */
function uniqueIds(calls: readonly ToolCall[]): ToolCall[] {
  const seen = new Map<string, number>();
  return calls.map((call) => {
    const count = (seen.get(call.id) ?? 0) + 1;
    seen.set(call.id, count);
    return count === 1 ? call : { ...call, id: `${call.id}_${count}` };
  });
}

/** Stopped by the user: what was shown stays in the history, so that "go on" makes sense. A stop of the process keeps nothing. */
async function keepCutAnswer(run: Run, turn: OpenTurn, answer: ModelAnswer, took: Took): Promise<boolean> {
  if (run.signal.reason !== "cancel" || answer.text === "") return false;
  const { text, usage } = answer;
  run.stage({
    type: "message.assistant",
    turn: turn.turn,
    step: turn.step,
    text,
    finish: "stop",
    usage,
    usageEstimated: true,
    cut: true,
    ...took,
  });
  await run.commit();
  return false;
}

function isCharged({ usage, usageEstimated, text, reasoning }: ModelAnswer): boolean {
  const isCounted = usageEstimated !== true && usage.input + usage.output > 0;
  return isCounted || text !== "" || reasoning !== "";
}

type Failed = { turn: OpenTurn; choice: ModelChoice; answer: ModelAnswer; error: NonNullable<ModelAnswer["error"]> };

/** Records the failure, then either waits for the next attempt or ends the turn with words for the user. */
async function failStep(run: Run, parts: Parts, { turn, choice, answer, error }: Failed): Promise<boolean> {
  const { limits, clock } = parts;
  const { id: model, server } = choice.model;
  const reason = modelFailure({ model, server }, error);
  const { retryAfterMs } = error;
  run.stage({
    type: "step.failed",
    ...{ turn: turn.turn, step: turn.step, attempt: turn.attempt, kind: error.kind, failure: reason },
    ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
    ...(answer.text === "" ? {} : { textSeen: answer.text }),
    // Who refuses a request does not charge for it; who breaks off in the middle does.
    ...(isCharged(answer) ? { usage: answer.usage, ...paidFor(choice.model, answer.usage, parts) } : {}),
  });
  // Room is made, and then the step is tried again.
  if (error.kind === "context_overflow" && limits.messagesKeptMax > 0) {
    await run.commit();
    return false;
  }
  const pause =
    retryAfterMs ??
    Math.min(limits.retryDelayMs * 2 ** (turn.failures - 1), limits.retryDelayMsMax) * (0.75 + parts.random() / 2);
  if (!error.retryable || turn.failures >= limits.attemptsMax || pause > limits.retryDelayMsMax) {
    await finishTurn(run, parts, "failed", reason);
    return false;
  }
  if ((await run.commit()).ok) await clock.wait(pause, run.signal);
  return false;
}
