import type { FollowFrame } from "../client/client.ts";
import type { EventOf, LogEvent } from "../protocol/events.ts";
import { failureWords, type Words } from "../words/words.ts";
import { AgentLines } from "./agent-lines.ts";
import { type CallResult, callResult } from "./call-result.ts";
import { firstCodeLine } from "./code-call.ts";
import { compactionLines, SentLengths } from "./compaction-lines.ts";
import type { Console, TurnDisplay, TurnDisplayOptions } from "./console.ts";
import { formatBytes } from "./format.ts";
import { saidText } from "./own-words.ts";
import { safeLine, safeText } from "./safe-text.ts";
import type { Style } from "./style.ts";

type Options = TurnDisplayOptions & {
  readonly console: Pick<Console, "isInteractive" | "answer" | "note">;
};

type Delta = Extract<FollowFrame, { frame: "delta" }>;
type Failure = NonNullable<EventOf<"turn.finished">["failure"]>;

const nothingShown = { attempt: "", text: "", isThinkingSaid: false };

const changesShownMax = 10;

/** Its question is put to the person: the call itself need not be shown. */
const asksPerson = "ask_human";

/** What happens in a turn, printed. Text appears as it streams; only what the log has counts, and nothing is shown twice. */
export class TurnView implements TurnDisplay {
  readonly #console: Options["console"];
  readonly #words: Words;
  readonly #style: Style;
  readonly #isOwn: Options["isOwn"];
  readonly #isOwnReturn: Options["isOwnReturn"];
  readonly #tools = new Map<string, { readonly name: string; readonly arguments: string }>();
  readonly #asked = new Map<string, string>();
  /** Turns that were begun and not gone back behind. */
  #turns: EventOf<"turn.started">[] = [];
  readonly #sent = new SentLengths();
  readonly #agents: AgentLines;
  #isUndoNews = false;
  #shown = nothingShown;
  #lastFailure = "";
  /** File changes that came one after another. */
  #changes = 0;

  constructor({ console, words, style, isOwn, isOwnReturn }: Options) {
    this.#console = console;
    this.#words = words;
    this.#style = style;
    this.#isOwn = isOwn;
    this.#isOwnReturn = isOwnReturn;
    this.#agents = new AgentLines({ words, style });
  }

  show(frame: FollowFrame): void {
    // Answers of several agents at once would be torn into each other: theirs are shown when they are complete.
    if (frame.frame === "delta" && frame.agent === undefined && this.#console.isInteractive) this.#showDelta(frame);
    if (frame.frame === "event") this.#showEvent(frame.event);
  }

  /** An event that stands on the screen already, or need not: its calls are known when their results come. */
  learn(event: LogEvent): void {
    this.#agents.learn(event);
    if ("agent" in event && event.agent !== undefined) return;
    this.#sent.learn(event);
    if (event.type === "message.assistant") for (const call of event.calls ?? []) this.#tools.set(call.id, call);
    if (event.type === "turn.started" && event.agent === undefined) this.#turns.push(event);
    if (event.type === "rewound") this.#turns = this.#turns.filter(({ seq }) => seq <= event.to);
    if (event.type === "decision.asked") this.#asked.set(event.id, event.call);
    if (event.type === "decision.made" && event.arguments !== undefined) {
      const call = this.#asked.get(event.id) ?? "";
      const tool = this.#tools.get(call);
      if (tool !== undefined) this.#tools.set(call, { name: tool.name, arguments: event.arguments });
    }
  }

  #showDelta(delta: Delta): void {
    const attempt = attemptOf(delta);
    if (attempt !== this.#shown.attempt) this.#shown = { ...nothingShown, attempt };
    const { text, isThinkingSaid } = this.#shown;
    if (delta.kind === "reasoning") {
      if (!isThinkingSaid) this.#console.note(this.#style.dim(this.#words.terminal.turn.thinking()));
      this.#shown = { attempt, text, isThinkingSaid: true };
    } else if (delta.offset === text.length) {
      this.#console.answer(safeText(delta.text));
      this.#shown = { attempt, text: text + delta.text, isThinkingSaid };
    } // After a gap the rest comes with the finished message.
  }

  #showEvent(event: LogEvent): void {
    if (event.type === "rewound") this.#showReturn(event);
    this.learn(event);
    if (event.type === "file.changed") return this.#showChange(event);
    this.#endChanges();
    const others = this.#agents.linesOf(event);
    if (others !== undefined) {
      for (const line of others) this.#console.note(line);
      return;
    }
    const { turn, compact } = this.#words.terminal;
    if (event.type === "message.user" && !this.#isOwn(event.id)) {
      this.#console.note(turn.saidElsewhere({ text: safeText(saidText(event.text)) }));
    }
    if (event.type === "message.assistant") this.#showAnswer(event);
    if (event.type === "step.started") this.#showStep(event);
    if (event.type === "step.failed") this.#showFailure(event.failure);
    if (event.type === "call.started") this.#showCall(event.call);
    if (event.type === "call.finished") this.#showResult(event);
    if (event.type === "recipe.set") this.#showInstructions(event);
    if (event.type === "agent.spawned" && event.mode === "handoff")
      this.#console.note(this.#style.dim(turn.handedOver({ name: safeLine(event.name ?? event.role, 64) })));
    if (event.type === "turn.recovered") this.#console.note(this.#style.dim(turn.recovered()));
    if (event.type === "compaction.started") this.#console.note(this.#style.dim(compact.making()));
    if (event.type === "compacted")
      for (const line of compactionLines(event, this.#words, this.#sent.takeCuts(event)))
        this.#console.note(this.#style.dim(line));
    if (event.type === "turn.finished") this.#showEnd(event);
  }

  #showAnswer(event: EventOf<"message.assistant">): void {
    const isBegun = this.#shown.attempt.startsWith(stepOf(event)) && event.text.startsWith(this.#shown.text);
    const shown = isBegun ? this.#shown.text : "";
    if (!isBegun && this.#shown.text !== "") this.#console.answer("\n");
    this.#console.answer(safeText(event.text.slice(shown.length)));
    if (event.text !== "" && !event.text.endsWith("\n")) this.#console.answer("\n");
    this.#shown = nothingShown;
    const isEmpty = event.text.trim() === "" && (event.calls ?? []).length === 0 && event.cut === undefined;
    if (isEmpty) this.#console.note(this.#style.dim(this.#words.terminal.turn.emptyAnswer()));
  }

  #showStep(event: EventOf<"step.started">): void {
    const { turn, command } = this.#words.terminal;
    this.#shown = nothingShown;
    if (event.attempt > 1) this.#console.note(this.#style.dim(turn.tryingAgain({ attempt: event.attempt })));
    if (event.joined?.some(this.#isOwn)) this.#console.note(this.#style.dim(command.delivered()));
  }

  #showFailure(failure: Failure): void {
    const [what] = failureWords(this.#words, failure);
    this.#lastFailure = failure.code;
    this.#console.note(this.#style.attention(`! ${safeLine(what, 400)}`));
  }

  #showCall(call: string): void {
    const tool = this.#tools.get(call);
    if (tool === undefined || tool.name === asksPerson) return;
    const what = firstCodeLine(tool.name, tool.arguments) ?? tool.arguments;
    this.#console.note(this.#style.dim(`⚙ ${safeLine(tool.name, 64)} ${safeLine(what, 120)}`));
  }

  /** Said once: when they come into force, and when they no longer are. */
  #showInstructions({ cause, instructions }: EventOf<"recipe.set">): void {
    const { memory } = this.#words.terminal;
    const path = safeLine(instructions?.path ?? "", 120);
    if (cause === "instructions_changed" && instructions === undefined) this.#console.note(memory.noLonger());
    if (instructions === undefined || (cause !== "start" && cause !== "instructions_changed")) return;
    this.#console.note(instructions.cut ? memory.inForceInPart({ path }) : memory.inForce({ path }));
  }

  #showResult(event: EventOf<"call.finished">): void {
    const tool = this.#tools.get(event.call);
    if (tool === undefined || (tool.name === asksPerson && event.outcome === "ok")) return;
    const { end, about, next } = callResult(tool.name, event, this.#words);
    const line = `${safeLine(tool.name, 64)} ${about}`.trimEnd();
    this.#console.note(`${this.#style[end](callSigns[end])} ${this.#style.dim(line)}`);
    if (next !== "") this.#console.note(`→ ${next}`);
  }

  #showReturn(event: EventOf<"rewound">): void {
    this.#isUndoNews = !this.#isOwnReturn();
    if (!this.#isUndoNews) return;
    const { elsewhere } = this.#words.terminal.turn;
    const turn = this.#turns.findLast(({ seq }) => seq > event.to)?.turn;
    const [isUndo, isReset] = [event.cause === "undo", event.cause === "reset"];
    this.#console.note(isUndo ? elsewhere.undone({ turn }) : isReset ? elsewhere.reset() : elsewhere.wentBack());
  }

  /** What tools did, and an undo elsewhere: uploads and other people's changes are told where they are made. */
  #showChange(event: EventOf<"file.changed">): void {
    const isShown = event.by === "tool" || (event.by === "undo" && this.#isUndoNews);
    if (!isShown) return;
    this.#changes += 1;
    if (this.#changes > changesShownMax) return;
    const { path, workspace, after } = event;
    const { now } = this.#words.terminal.files;
    const where = workspace === undefined ? path : `${workspace}: ${path}`;
    const undone = after === undefined ? now.removed : now.as_before;
    const size = after === undefined ? undefined : formatBytes(after.bytes, this.#words);
    const note = event.by === "undo" ? undone : size;
    this.#console.note(
      this.#style.dim(`  ${signOf(event)} ${safeLine(where, 120)}${note === undefined ? "" : ` (${note})`}`),
    );
  }

  #endChanges(): void {
    const more = this.#changes - changesShownMax;
    if (more > 0) this.#console.note(this.#style.dim(`  … ${this.#words.terminal.model.more({ count: more })}`));
    this.#changes = 0;
  }

  #showEnd({ outcome, failure, left = [] }: EventOf<"turn.finished">): void {
    if (outcome === "cancelled") this.#console.note(this.#style.attention(this.#words.terminal.turn.stopped()));
    if (failure !== undefined) {
      const [what, next] = failureWords(this.#words, failure);
      if (failure.code !== this.#lastFailure) this.#console.note(this.#style.bad(`✗ ${safeLine(what, 400)}`));
      if (next !== "") this.#console.note(`→ ${safeLine(next, 400)}`);
    }
    const lines = left.map(({ kind, left, limit }) => {
      const { amount, terminal } = this.#words;
      return terminal.budget.leftOf({ left: amount(kind, left), limit: amount(kind, limit) });
    });
    if (lines.length > 0) this.#console.note(this.#style.dim(this.#words.terminal.budget.left({ lines })));
    if (this.#console.isInteractive) this.#console.note("");
    this.#lastFailure = "";
    this.#tools.clear();
    this.#asked.clear();
  }
}

const callSigns: Readonly<Record<CallResult["end"], string>> = { good: "✓", attention: "!", bad: "✗" };

/** An undo gives back or takes away: what it gives back was there before. */
function signOf({ by, before, after }: EventOf<"file.changed">): string {
  if (before !== undefined && after === undefined) return "-";
  return by === "tool" && before === undefined && after !== undefined ? "+" : "~";
}

function stepOf(place: { readonly turn: number; readonly step: number }): string {
  return `${place.turn}/${place.step}/`;
}

function attemptOf(delta: Delta): string {
  return `${stepOf(delta)}${delta.attempt}`;
}
