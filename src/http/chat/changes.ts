import type { LiveFrame } from "../../loop/loop.ts";
import { asksForWords } from "../../protocol/approval.ts";
import type { ChatKey, ChatProgress } from "../../protocol/chat.ts";
import type { EventOf, LogEvent } from "../../protocol/events.ts";
import type { Usage } from "../../protocol/message.ts";
import { type Language, withoutMarks } from "../../words/words.ts";
import { type DocumentFailure, documentError } from "./chat-error.ts";
import { firstProgress } from "./first-document.ts";
import { askOf, interruptOf } from "./interrupt.ts";
import type { ChatPlace } from "./message-numbers.ts";
import { isOthers, noteDecision, type OpenDecisions } from "./open-decisions.ts";
import { shownArguments, shownResult } from "./shown-json.ts";
import { type ShownText, shownText } from "./shown-text.ts";

/** One change of a document at a place that is known: nothing is compared. `append` goes on with a text or an array. */
export type Change = { readonly key: ChatKey; readonly content: unknown; readonly action: "upsert" | "append" };

export type ChangesOptions = {
  readonly place: ChatPlace;
  /** Without it `progress` stays empty. */
  readonly needsProgress: boolean;
  readonly language: Language;
};

type Delta = Extract<LiveFrame, { frame: "delta" }>;
type Kind = Delta["kind"];

const progressKey = ["message", "content", "middle_answer", "progress"] as const;
const finalKey = ["message", "content", "final_answer"] as const;
const extKey = ["message", "ext"] as const;
const finalKeys = { text: [...finalKey, "answer", "text"], reasoning: [...finalKey, "thinking"] } as const;
const itemKeys = { text: "answer", reasoning: "think" } as const;
const kinds = ["reasoning", "text"] as const;

type OpenCall = { readonly item: number; readonly arguments: string };
type NamedCall = { readonly agent?: string | undefined; readonly call: string };

/**
 * What each event and each piece of text of a turn changes in its document, from the first document on. It remembers
 * where texts end, not the texts: its size does not grow with them. What the log has in the end replaces what was shown
 * live, so that the log alone gives the same document.
 */
export class TurnChanges {
  readonly #options: ChangesOptions;
  #changes: Change[] = [];
  #items = 0;
  /** The step that is being written; its texts are shown in its item and, until it turns out to call tools, as the answer. */
  #step:
    | { readonly number: number; readonly item: number; isOpen: boolean; shown: Record<Kind, ShownText> }
    | undefined;
  #hasFinal: Record<Kind, boolean> = { text: false, reasoning: false };
  /** The newest words of the agent, for a turn that ends without an answer. */
  #lastWords: Record<Kind, string> = { text: "", reasoning: "" };
  #calls = new Map<string, OpenCall>();
  readonly #asked: OpenDecisions = new Map();
  #interrupt: string | undefined;
  #firstStart: number | undefined;
  #lastEnd = 0;
  #stepStart = 0;
  #ttft: number | undefined;
  #tokens = 0;

  constructor(options: ChangesOptions) {
    this.#options = options;
  }

  /** Text of the running answer. */
  addText({ step, kind, offset, text }: Delta): Change[] {
    const open = this.#step;
    if (open === undefined || !open.isOpen || open.number !== step) return [];
    const known = open.shown[kind].length() - offset;
    if (known >= 0 && known < text.length) this.#addShown(kind, text.slice(known));
    return this.#take();
  }

  /** An event of the turn; those that change nothing are passed over. */
  addEvent(event: LogEvent): Change[] {
    if (isOthers(event)) return [];
    switch (event.type) {
      case "step.started":
        this.#startStep(event);
        break;
      case "message.assistant":
        this.#answer(event);
        break;
      case "step.failed":
        this.#closeStep({ text: event.textSeen ?? "", reasoning: "" }, "failed", event.at);
        break;
      case "turn.recovered":
        // What the process before this one had shown is lost with it.
        if (this.#step?.isOpen) {
          this.#settle({ text: "", reasoning: "" });
          this.#step.shown = nothingShown();
        }
        break;
      case "call.started":
        this.#setInCall(event, ["start_time"], event.at);
        break;
      case "call.finished":
        this.#finishCall(event);
        break;
      case "decision.asked":
        this.#ask(event);
        break;
      case "decision.made":
        this.#decide(event);
        break;
      case "agent.ended":
        noteDecision(this.#asked, event);
        this.#showInterrupt();
        break;
      case "turn.finished":
        this.#finish(event);
        break;
      default:
    }
    return this.#take();
  }

  /** The failure that ends the document, where it is none of the turn's own. */
  addFailure(failure: DocumentFailure): Change[] {
    this.#fail(failure);
    return this.#take();
  }

  /** What is asked before this turn can begin. */
  addAsked(event: EventOf<"decision.asked">): Change[] {
    noteDecision(this.#asked, event);
    this.#showInterrupt();
    return this.#take();
  }

  #startStep({ step, at }: EventOf<"step.started">): void {
    this.#emptyFinal();
    this.#stepStart = at;
    this.#firstStart ??= at;
    const shown = nothingShown();
    const before = this.#step;
    if (before?.number === step) {
      // Tried again: what the failed attempt had said disappears.
      for (const kind of kinds) this.#setInItem(before.item, [itemKeys[kind]], "");
      this.#setInItem(before.item, ["status"], "processing");
      this.#setInItem(before.item, ["end_time"], 0);
      this.#step = { ...before, isOpen: true, shown };
      return;
    }
    const item = this.#addItem({ id: this.#idOf(step), stage: "llm", skill_info: null, start_time: at });
    this.#step = { number: step, item, isOpen: true, shown };
  }

  #answer(event: EventOf<"message.assistant">): void {
    const { text, reasoning = "", calls = [], usage, at, step } = event;
    if (this.#step === undefined || this.#step.number !== step) return;
    const { item } = this.#step;
    if (calls.length > 0) this.#emptyFinal();
    this.#closeStep({ text, reasoning }, "completed", at, { isFinal: calls.length === 0 });
    this.#setInItem(item, ["token_usage"], tokenUsage(usage));
    this.#tokens += usage.input + usage.output;
    if (event.firstTokenMs !== undefined)
      this.#ttft ??= Math.max(0, this.#stepStart - this.#options.place.message.at) + event.firstTokenMs;
    if (text !== "") this.#lastWords = { text, reasoning };
    this.#calls = new Map();
    for (const [index, call] of calls.entries()) {
      const args = shownArguments(call.arguments);
      const skill = { type: "TOOL", name: call.name, args, checked: true };
      const id = `${this.#idOf(step)}-${index + 1}`;
      const added = this.#addItem({ id, stage: "skill", skill_info: skill, start_time: at });
      this.#calls.set(call.id, { item: added, arguments: call.arguments });
    }
  }

  #closeStep(texts: Record<Kind, string>, status: ChatProgress["status"], at: number, { isFinal = true } = {}): void {
    const step = this.#step;
    if (step === undefined || !step.isOpen) return;
    this.#settle(texts, { isFinal });
    step.isOpen = false;
    this.#endItem(step.item, status, at);
  }

  /** Makes what was shown of the open step what it really is. */
  #settle(texts: Record<Kind, string>, { isFinal = true } = {}): void {
    const step = this.#step;
    if (step === undefined) return;
    for (const kind of kinds) {
      const rest = step.shown[kind].restOf(texts[kind]);
      const change = rest === undefined ? this.#set : this.#append;
      const content = rest ?? texts[kind];
      if (rest === "") continue;
      if (this.#options.needsProgress) change.call(this, [...progressKey, step.item, itemKeys[kind]], content);
      if (isFinal) change.call(this, finalKeys[kind], content);
      if (isFinal) this.#hasFinal[kind] = texts[kind] !== "";
    }
  }

  #addShown(kind: Kind, text: string): void {
    const step = this.#step;
    if (step === undefined) return;
    step.shown[kind].add(text);
    if (this.#options.needsProgress) this.#append([...progressKey, step.item, itemKeys[kind]], text);
    this.#append(finalKeys[kind], text);
    this.#hasFinal[kind] = true;
  }

  #emptyFinal(): void {
    for (const kind of kinds) {
      if (this.#hasFinal[kind]) this.#set(finalKeys[kind], "");
      this.#hasFinal[kind] = false;
    }
  }

  #finishCall({ call, outcome, text, at }: EventOf<"call.finished">): void {
    const open = this.#calls.get(call);
    if (open === undefined) return;
    this.#setInItem(open.item, ["answer"], shownResult(withoutMarks(text)));
    this.#endItem(open.item, outcome === "ok" ? "completed" : "failed", at);
  }

  #ask(event: EventOf<"decision.asked">): void {
    noteDecision(this.#asked, event);
    this.#setInCall(event, ["interrupted"], true);
    this.#setInCall(event, ["skill_info", "checked"], false);
    this.#showInterrupt();
  }

  #decide(event: EventOf<"decision.made">): void {
    const { id, verdict, arguments: edited } = event;
    const asked = this.#asked.get(id);
    if (asked === undefined) return;
    noteDecision(this.#asked, event);
    this.#setInCall(asked, ["interrupted"], false);
    if (verdict !== "reject") this.#setInCall(asked, ["skill_info", "checked"], true);
    if (edited !== undefined) this.#setInCall(asked, ["skill_info", "args"], shownArguments(edited));
    this.#showInterrupt();
  }

  /** One at a time: the one that was asked first. */
  #showInterrupt(): void {
    const [asked] = this.#asked.values();
    if (asked?.id === this.#interrupt) return;
    this.#interrupt = asked?.id;
    const { runId } = this.#options.place;
    const call = asked && this.#callOf(asked)?.arguments;
    this.#set(
      [...extKey, "interrupt_info"],
      asked === undefined ? null : interruptOf(asked, { runId, arguments: call }),
    );
    this.#set([...finalKey, "answer", "ask"], asked !== undefined && asksForWords(asked.kind) ? askOf(asked) : {});
  }

  #finish(event: EventOf<"turn.finished">): void {
    const { outcome, failure, at } = event;
    // Stopped before it had said anything that is kept.
    this.#closeStep({ text: "", reasoning: "" }, "failed", at);
    noteDecision(this.#asked, event);
    this.#showInterrupt();
    if (!this.#hasFinal.text) {
      for (const kind of kinds) if (this.#lastWords[kind] !== "") this.#set(finalKeys[kind], this.#lastWords[kind]);
    }
    const total = this.#firstStart === undefined ? 0 : Math.max(0, this.#lastEnd - this.#firstStart) / 1000;
    this.#set([...extKey, "total_time"], total);
    this.#set([...extKey, "total_tokens"], this.#tokens);
    this.#set([...extKey, "ttft"], this.#ttft ?? 0);
    if (failure !== undefined && outcome !== "cancelled") this.#fail(failure);
  }

  #fail(failure: DocumentFailure): void {
    const { language, place } = this.#options;
    const error = documentError(failure, { language, runId: place.runId });
    this.#set([...extKey, "error"], { type: "agent_executor", error: error.BaseError });
    this.#set(["error"], error);
  }

  #addItem(own: Pick<ChatProgress, "id" | "stage" | "skill_info" | "start_time">): number {
    const item = this.#items;
    this.#items += 1;
    const progress = firstProgress({ agent_name: this.#options.place.agent.name, ...own });
    if (this.#options.needsProgress) this.#append([...progressKey, item], progress);
    return item;
  }

  #endItem(item: number, status: ChatProgress["status"], at: number): void {
    this.#lastEnd = Math.max(this.#lastEnd, at);
    this.#setInItem(item, ["status"], status);
    this.#setInItem(item, ["end_time"], at);
  }

  #setInCall(call: NamedCall, key: ChatKey, content: unknown): void {
    const open = this.#callOf(call);
    if (open !== undefined) this.#setInItem(open.item, key, content);
  }

  /** Calls of two agents may have the same id, and only those of the main one are shown. */
  #callOf({ agent, call }: NamedCall): OpenCall | undefined {
    return agent === undefined ? this.#calls.get(call) : undefined;
  }

  #setInItem(item: number, key: ChatKey, content: unknown): void {
    if (this.#options.needsProgress) this.#set([...progressKey, item, ...key], content);
  }

  #set(key: ChatKey, content: unknown): void {
    this.#changes.push({ key, content, action: "upsert" });
  }

  #append(key: ChatKey, content: unknown): void {
    this.#changes.push({ key, content, action: "append" });
  }

  #take(): Change[] {
    const changes = this.#changes;
    this.#changes = [];
    return changes;
  }

  #idOf(step: number): string {
    return `${this.#options.place.runId}-${step}`;
  }
}

function nothingShown(): Record<Kind, ShownText> {
  return { text: shownText(), reasoning: shownText() };
}

function tokenUsage({ input, output, cachedInput = 0 }: Usage) {
  return {
    prompt_tokens: input,
    completion_tokens: output,
    total_tokens: input + output,
    prompt_tokens_details: { cached_tokens: cachedInput, uncached_tokens: input - cachedInput },
  };
}
