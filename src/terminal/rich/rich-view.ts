import { Image } from "@earendil-works/pi-tui/dist/components/image.js";
import { getCapabilities } from "@earendil-works/pi-tui/dist/terminal-image.js";
import type { FollowFrame } from "../../client/client.ts";
import type { EventOf, LogEvent } from "../../protocol/events.ts";
import { withoutMarks } from "../../words/words.ts";
import { callResult } from "../call-result.ts";
import { callInWords, codeIn } from "../code-call.ts";
import type { Console, TurnDisplay, TurnDisplayOptions } from "../console.ts";
import { safeLine } from "../safe-text.ts";
import { TurnView } from "../turn-view.ts";
import { Answer } from "./answer.ts";
import { CallCard, type Foldable, ThoughtCard } from "./cards.ts";
import type { Block } from "./page.ts";

/** The page that it shows itself on. */
export type ViewHost = {
  readonly console: Pick<Console, "isInteractive" | "answer" | "note">;
  add(block: Block): void;
  addFoldable(card: Foldable): void;
  hasLeft(block: Block): boolean;
  changed(): void;
};

type Delta = Extract<FollowFrame, { frame: "delta" }>;
type Streaming = { readonly attempt: string; readonly answer: Answer; readonly thought: ThoughtCard | undefined };

/** Its question is put to the person. */
const asksPerson = "ask_human";

/** What happens in a turn, drawn: answers as Markdown, calls and thoughts as lines that open. All else is said in lines. */
export class RichView implements TurnDisplay {
  readonly #options: TurnDisplayOptions;
  readonly #place: ViewHost;
  readonly #lines: TurnView;
  readonly #tools = new Map<string, { readonly name: string; readonly arguments: string }>();
  readonly #asked = new Map<string, string>();
  readonly #cards = new Map<string, { readonly card: CallCard; readonly name: string }>();
  #streaming: Streaming | undefined;
  #shownLength = 0;

  constructor(options: TurnDisplayOptions, place: ViewHost) {
    this.#options = options;
    this.#place = place;
    this.#lines = new TurnView({ ...options, console: place.console });
  }

  learn(event: LogEvent): void {
    this.#lines.learn(event);
    if (isOthers(event)) return;
    this.#learnArguments(event);
    if (event.type === "message.assistant") for (const call of event.calls ?? []) this.#tools.set(call.id, call);
  }

  show(frame: FollowFrame): void {
    // Other agents are shown in lines with their names, when what they say is complete.
    if (frame.frame === "delta" && frame.agent === undefined) this.#showDelta(frame);
    else if (frame.frame === "output" && frame.agent === undefined) this.#showOutput(frame);
    else if (frame.frame !== "event" || isOthers(frame.event)) this.#lines.show(frame);
    else this.#showEvent(frame.event);
    this.#place.changed();
  }

  #showEvent(event: LogEvent): void {
    switch (event.type) {
      case "message.assistant":
        this.learn(event);
        return this.#showAnswer(event);
      case "call.started":
        return this.#showCall(event.call);
      case "call.finished":
        return this.#showResult(event);
      case "file.changed":
        this.#lines.show({ frame: "event", event });
        return this.#showImage(event);
      case "step.started":
      case "step.failed":
      case "turn.finished":
        this.#leaveStreaming();
        return this.#lines.show({ frame: "event", event });
      default:
        this.#lines.show({ frame: "event", event });
        this.#learnArguments(event);
    }
  }

  /** What a person changed before they allowed it is what runs. */
  #learnArguments(event: LogEvent): void {
    if (event.type === "decision.asked") this.#asked.set(event.id, event.call);
    if (event.type !== "decision.made" || event.arguments === undefined) return;
    const call = this.#asked.get(event.id) ?? "";
    const tool = this.#tools.get(call);
    if (tool !== undefined) this.#tools.set(call, { name: tool.name, arguments: event.arguments });
  }

  #showDelta(delta: Delta): void {
    const attempt = `${delta.turn}/${delta.step}/${delta.attempt}`;
    if (this.#streaming?.attempt !== attempt) this.#begin(attempt);
    const streaming = this.#streaming;
    if (streaming === undefined) return;
    if (delta.kind === "reasoning") {
      const thought = streaming.thought ?? this.#beginThought();
      thought.add(delta.text);
      this.#streaming = { ...streaming, thought };
    } else if (delta.offset === this.#shownLength) {
      streaming.thought?.end(undefined);
      streaming.answer.add(delta.text);
      this.#shownLength += delta.text.length;
    } // After a gap the rest comes with the finished message.
  }

  #begin(attempt: string): void {
    this.#leaveStreaming();
    const { style } = this.#options;
    const answer = new Answer({ style, onBlock: (block) => this.#place.add(block) });
    this.#streaming = { attempt, answer, thought: undefined };
    this.#shownLength = 0;
  }

  #beginThought(): ThoughtCard {
    const { style, words } = this.#options;
    const thought = new ThoughtCard({ style, title: words.terminal.rich.thought });
    this.#place.addFoldable(thought);
    return thought;
  }

  #leaveStreaming(): void {
    this.#streaming?.answer.finish();
    this.#streaming?.thought?.end(undefined);
    this.#streaming = undefined;
    this.#shownLength = 0;
  }

  /** Only what the log has counts. */
  #showAnswer(event: EventOf<"message.assistant">): void {
    const step = `${event.turn}/${event.step}/`;
    if (this.#streaming?.attempt.startsWith(step) !== true) this.#begin(`${step}stored`);
    const { answer, thought } = this.#streaming ?? {};
    const isThought = event.reasoning !== undefined && event.reasoning.trim() !== "";
    if (thought !== undefined) thought.end(event.reasoning);
    else if (isThought) this.#beginThought().end(event.reasoning);
    answer?.add(event.text.slice(this.#shownLength));
    this.#leaveStreaming();
    const isEmpty = event.text.trim() === "" && (event.calls ?? []).length === 0 && event.cut === undefined;
    const { dim } = this.#options.style;
    if (isEmpty) this.#place.console.note(dim(this.#options.words.terminal.turn.emptyAnswer()));
  }

  #showCall(call: string): void {
    const tool = this.#tools.get(call);
    if (tool === undefined || tool.name === asksPerson) return;
    this.#place.addFoldable(this.#openCard(call, tool));
  }

  #openCard(call: string, tool: { readonly name: string; readonly arguments: string }): CallCard {
    const { style, words } = this.#options;
    const name = safeLine(tool.name, 64);
    const card = new CallCard({
      ...{ name, style, texts: { more: words.terminal.model.more } },
      what: safeLine(callInWords(tool.name, tool.arguments), 400),
      given: codeIn(tool.name, tool.arguments)?.code ?? tool.arguments,
    });
    this.#cards.set(call, { card, name: tool.name });
    return card;
  }

  #showOutput({ call, text }: Extract<FollowFrame, { frame: "output" }>): void {
    this.#cards.get(call)?.card.say(text);
  }

  #showResult(event: EventOf<"call.finished">): void {
    const tool = this.#tools.get(event.call);
    if (tool === undefined || (tool.name === asksPerson && event.outcome === "ok")) return;
    const known = this.#cards.get(event.call)?.card;
    const isSeen = known !== undefined && !this.#place.hasLeft(known);
    const card = isSeen ? known : this.#openCard(event.call, tool);
    card.end(callResult(tool.name, event, this.#options.words), withoutMarks(event.text));
    if (!isSeen) this.#place.addFoldable(card);
    this.#cards.delete(event.call);
  }

  /** In the terminal itself, where it can; the line with its path stands there in any case. */
  #showImage({ by, path, after }: EventOf<"file.changed">): void {
    const type = imageTypes.get(/\.(\w+)$/.exec(path)?.[1]?.toLowerCase() ?? "");
    const { readImage, style } = this.#options;
    const isShown = by === "tool" && after !== undefined && after.bytes <= imageBytesMax;
    if (type === undefined || !isShown || readImage === undefined || getCapabilities().images === null) return;
    void readImage(path).then((bytes) => {
      if (bytes === undefined) return;
      const theme = { fallbackColor: style.dim };
      const image = new Image(bytes.toString("base64"), type, theme, { maxWidthCells: 60, maxHeightCells: 20 });
      this.#place.add({ isImage: true, render: (width) => image.render(width) });
    });
  }
}

const imageBytesMax = 2_000_000;
const imageTypes: ReadonlyMap<string, string> = new Map([
  ["png", "image/png"],
  ["jpg", "image/jpeg"],
  ["jpeg", "image/jpeg"],
  ["gif", "image/gif"],
  ["webp", "image/webp"],
]);

function isOthers(event: LogEvent): boolean {
  return "agent" in event && event.agent !== undefined;
}
