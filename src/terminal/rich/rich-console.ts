import { decodeKittyPrintable, matchesKey, setCapabilityOverrides } from "@earendil-works/pi-tui";
import type { Clock } from "../../base/clock.ts";
import type { Words } from "../../words/words.ts";
import type {
  Console,
  Facts,
  Input,
  ReadOptions,
  RichScreen,
  Suggest,
  TurnDisplayOptions,
  TypedLine,
  WaitingMessage,
} from "../console.ts";
import type { JobControl } from "../job-control.ts";
import type { Style } from "../style.ts";
import { Answer } from "./answer.ts";
import { GrowingBlock, saidBlock, textBlock, wrapped } from "./blocks.ts";
import type { Foldable } from "./cards.ts";
import { History } from "./history.ts";
import { HistorySearch } from "./history-search.ts";
import { KeyChoice } from "./key-choice.ts";
import type { Block } from "./page.ts";
import { PromptEditor } from "./prompt-editor.ts";
import { RichView } from "./rich-view.ts";
import { Screen } from "./screen.ts";
import { statusLine, waitingLines } from "./status-line.ts";
import { Suspension } from "./suspension.ts";

export type RichOptions = {
  readonly words: Words;
  readonly style: Style;
  readonly clock: Pick<Clock, "monotonic" | "after">;
  readonly suggest: Suggest;
  readonly jobControl: JobControl | undefined;
  /** The terminal cannot show more than ASCII. */
  readonly isAscii: boolean;
  /** Where what was typed is kept, and from which folder it was. */
  readonly history: { readonly file: string | undefined; readonly folder: string };
  readonly prompt: string;
};

type Reading = { readonly options: ReadOptions; readonly resolve: (input: Input) => void };

/** A terminal that is drawn: what was said above, a live part with the editor below. */
export class RichConsole implements Console {
  readonly isInteractive = true;
  readonly isAttended = true;
  readonly screen: RichScreen;
  readonly #options: RichOptions;
  readonly #screen: Screen;
  readonly #editor: PromptEditor;
  readonly #history: History;
  readonly #choice: KeyChoice;
  readonly #suspension: Suspension;
  readonly #arrived: Input[] = [];
  readonly #foldables: Foldable[] = [];
  #search: HistorySearch | undefined;
  #growing: GrowingBlock | undefined;
  #reading: Reading | undefined;
  #activity: string | undefined;
  #waiting: readonly WaitingMessage[] = [];
  #facts: Facts | undefined;
  #isWakeWanted = false;
  #isBetweenKeys = false;
  #isClosed = false;

  constructor(options: RichOptions) {
    const { clock, isAscii, style, suggest, words, jobControl } = options;
    this.#options = options;
    this.#history = new History(options.history);
    this.#choice = new KeyChoice(clock, () => this.#screen.changed());
    this.#screen = new Screen({ clock, isAscii, onKey: (data) => this.#onKey(data), onEnd: () => this.end() });
    this.#editor = new PromptEditor({
      ...{ renderer: this.#screen.renderer, style, suggest, pasteLabel: words.terminal.rich.pasteLabel },
      onChange: () => this.#onTyped(),
      onSubmit: (line) => this.#submit(line),
    });
    for (const text of this.#history.texts.slice(0, 100).toReversed()) this.#editor.remember(text);
    this.screen = {
      turnDisplay: (view) => this.#openView(view),
      showWaiting: (messages) => this.#show(() => (this.#waiting = messages)),
      showFacts: (facts) => this.#show(() => (this.#facts = facts)),
      giveBack: (text) => this.#giveBack(text),
      showSaid: (text) => this.#echo(text, ""),
      showAnswer: (text) => this.#showAnswer(text),
    };
    this.#suspension = new Suspension(this.#screen, jobControl, clock);
    // An address is to be seen, not hidden behind other words.
    setCapabilityOverrides({ hyperlinks: false });
    this.#open();
  }

  get columns(): number {
    return this.#screen.columns;
  }

  answer(text: string): void {
    if (text === "") return;
    if (this.#growing === undefined) {
      this.#growing = new GrowingBlock();
      this.#screen.add(this.#growing);
    }
    this.#growing.add(text);
    if (text.endsWith("\n")) this.#growing = undefined;
    this.#screen.changed();
  }

  say(line: string): void {
    this.#growing = undefined;
    this.#screen.add(textBlock(line));
  }

  note(line: string): void {
    this.say(line);
  }

  status(line: string | undefined): void {
    this.#show(() => (this.#activity = line));
  }

  isTyping(): boolean {
    return this.#isTyped() || this.#arrived.length > 0;
  }

  read(options: ReadOptions): Promise<Input> {
    this.#isBetweenKeys = false;
    if (options.prefill !== undefined) this.#forgetTyped();
    const arrived = this.#arrived.shift();
    if (arrived !== undefined) return Promise.resolve(arrived);
    return new Promise((resolve) => {
      this.#reading = { options, resolve };
      if (options.want === "key") this.#choice.begin();
      if (options.prefill !== undefined) this.#editor.set(options.prefill);
      this.#screen.changed();
      this.#wakeWhenFree();
    });
  }

  clear(): void {
    this.#editor.clear();
    this.#screen.changed();
  }

  putBack({ text }: TypedLine): void {
    const isAsked = this.#reading !== undefined && this.#isQuestion(this.#reading.options);
    if (!this.#isTyped() && !isAsked) this.#editor.paste(text);
    this.#screen.changed();
  }

  wake(): void {
    this.#isWakeWanted = true;
    this.#wakeWhenFree();
  }

  end(): void {
    this.#deliver({ kind: "end" });
  }

  close(): void {
    this.#isClosed = true;
    this.#suspension.end();
    this.#choice.end();
    this.#screen.close();
  }

  #open(): void {
    this.#screen.setBelow([{ render: (width) => this.#renderBelow(width) }]);
    this.#screen.focus(this.#editor.component);
    this.#screen.open();
  }

  #show(change: () => unknown): void {
    change();
    if (!this.#isClosed) this.#screen.changed();
  }

  #openView(options: TurnDisplayOptions): RichView {
    return new RichView(options, {
      console: this,
      add: (block) => this.#add(block),
      addFoldable: (card) => this.#addFoldable(card),
      hasLeft: (block) => this.#screen.hasLeft(block),
      changed: () => this.#screen.changed(),
    });
  }

  #add(block: Block): void {
    this.#growing = undefined;
    this.#screen.add(block);
  }

  #showAnswer(text: string): void {
    const answer = new Answer({ style: this.#options.style, onBlock: (block) => this.#add(block) });
    answer.add(text);
    answer.finish();
    this.#screen.changed();
  }

  #addFoldable(card: Foldable): void {
    this.#foldables.push(card);
    if (this.#foldables.length > foldablesMax) this.#foldables.shift();
    this.#add(card);
  }

  #renderBelow(width: number): string[] {
    const { style, words } = this.#options;
    const shown = { words, style };
    if (this.#search !== undefined) return this.#search.render(width);
    const question = this.#question();
    return [
      "",
      ...(this.#activity === undefined ? [] : wrapped(this.#activity, width, "").slice(0, 1)),
      ...waitingLines(this.#waiting, width, shown),
      ...(question === "" ? [] : wrapped(question.trimEnd(), width, "")),
      ...this.#editor.render(width),
      ...statusLine(this.#facts, this.#hint(), width, shown),
    ];
  }

  /** What is asked now; the keys only once they are taken. */
  #question(): string {
    const options = this.#reading?.options;
    if (options === undefined || !this.#isQuestion(options)) return "";
    const { attention } = this.#options.style;
    return options.want === "key" && !this.#choice.isShown ? "" : attention(options.prompt);
  }

  #isQuestion({ prompt }: ReadOptions): boolean {
    return prompt !== this.#options.prompt;
  }

  #hint(): string {
    const { rich } = this.#options.words.terminal;
    if (this.#editor.hasFoldedPaste) return rich.pasteHint();
    return this.#reading?.options.want === "aside" ? rich.runningHint() : rich.hint();
  }

  #onKey(data: string): boolean {
    if (this.#search !== undefined) return false;
    if (matchesKey(data, "ctrl+c") || matchesKey(data, "escape")) return this.#onStop(data);
    if (matchesKey(data, "ctrl+d") && !this.#isTyped()) return this.#take(() => this.#deliver({ kind: "end" }));
    if (matchesKey(data, "ctrl+z")) return this.#take(() => this.#suspension.begin());
    if (matchesKey(data, "ctrl+l")) return this.#take(() => this.#screen.redraw());
    if (matchesKey(data, "ctrl+o")) return this.#take(() => this.#unfold());
    if (matchesKey(data, "alt+up")) return this.#take(() => this.#deliver({ kind: "takeBack" }));
    if (this.#areKeysWanted()) return this.#choose(data);
    if (this.#isBetweenKeys) return true;
    if (matchesKey(data, "ctrl+r")) return this.#take(() => this.#openSearch());
    const isQueueing = matchesKey(data, "tab") && this.#isTyped() && !this.#editor.isMenuOpen;
    if (isQueueing && this.#reading?.options.want === "aside") return this.#take(() => this.#queue());
    return false;
  }

  #take(act: () => void): true {
    act();
    this.#screen.changed();
    return true;
  }

  #onStop(data: string): boolean {
    const isEscape = matchesKey(data, "escape");
    if (isEscape && this.#editor.isMenuOpen) return false;
    if (this.#reading?.options.want === "key" && this.#isTyped()) return this.#take(() => this.clear());
    const input: Input = isEscape ? { kind: "stop" } : { kind: "interrupt", isTyped: this.#isTyped() };
    return this.#take(() => this.#deliver(input));
  }

  #areKeysWanted(): boolean {
    return this.#reading?.options.want === "key" && !this.#isTyped();
  }

  /** Only the one key that somebody pressed at what they see is a choice; the rest of a sentence is not. */
  #choose(data: string): boolean {
    const key = (decodeKittyPrintable(data) ?? data).toLowerCase();
    const isChoice = this.#choice.take({ isAlone: this.#screen.isAlone(data) });
    if (key === "/") return false;
    if (!isChoice || !this.#reading?.options.keys?.includes(key)) return true;
    this.#deliver({ kind: "key", key });
    this.#isBetweenKeys = true;
    this.#screen.changed();
    return true;
  }

  #onTyped(): void {
    if (this.#isTyped()) return;
    if (this.#reading?.options.want === "key") this.#choice.begin();
    this.#wakeWhenFree();
  }

  #submit({ text, typed }: { readonly text: string; readonly typed: string }): void {
    const { options } = this.#reading ?? {};
    const isQuestion = options !== undefined && options.want !== "key" && this.#isQuestion(options);
    // An empty line says nothing, but where something is asked it is an answer.
    if (text === "" && !isQuestion) return;
    this.#echo(text === "" ? "" : typed, isQuestion ? (options?.prompt ?? "") : "");
    if (!isQuestion) this.#remember(text);
    this.#deliver({ kind: "line", text, ...(typed !== text && { typed }) });
  }

  #queue(): void {
    const line = this.#editor.take();
    this.#echo(line.typed, "");
    this.#remember(line.text);
    this.#deliver({ kind: "line", text: line.text, ...(line.typed !== line.text && line), isQueued: true });
  }

  #remember(text: string): void {
    this.#history.add(text);
    this.#editor.remember(text);
  }

  #echo(text: string, prompt: string): void {
    const { style, words } = this.#options;
    this.#growing = undefined;
    if (prompt !== "") return this.#screen.add(textBlock(`${style.dim(prompt)}${text}`));
    this.#screen.add(saidBlock(text, { sign: words.terminal.rich.said, style }));
  }

  #giveBack(text: string): void {
    const typed = this.#editor.text;
    this.#editor.set(typed === "" ? text : `${text}\n${typed}`);
    this.#screen.changed();
  }

  /** What was pasted, or else the last line that can be opened; closed again with the same key. */
  #unfold(): void {
    if (this.#editor.hasFoldedPaste) return this.#editor.unfold();
    const card = this.#foldables.at(-1);
    if (card === undefined) return;
    if (this.#screen.hasLeft(card)) return this.#screen.add(card.opened());
    card.isOpen = !card.isOpen;
  }

  #openSearch(): void {
    const { style, words } = this.#options;
    const { searchTitle, searchNothing } = words.terminal.rich;
    const leave = () => {
      this.#search = undefined;
      this.#screen.focus(this.#editor.component);
      this.#screen.changed();
    };
    this.#search = new HistorySearch({
      ...{ history: this.#history, style, title: searchTitle(), nothing: searchNothing() },
      onLeft: leave,
      onChosen: (text) => {
        leave();
        this.#editor.set(text);
      },
    });
    this.#screen.focus(this.#search);
  }

  /** Lines that were sent off or half typed; Ctrl+C and the end of input stay. */
  #forgetTyped(): void {
    const others = this.#arrived.filter(({ kind }) => kind !== "line");
    this.#arrived.splice(0, this.#arrived.length, ...others);
    this.#editor.clear();
  }

  #wakeWhenFree(): void {
    if (!this.#isWakeWanted || this.#reading === undefined || this.#isTyped()) return;
    this.#isWakeWanted = false;
    this.#deliver({ kind: "woken" });
  }

  #deliver(input: Input): void {
    const reading = this.#reading;
    if (reading === undefined) {
      this.#arrived.push(input);
      return;
    }
    this.#reading = undefined;
    this.#choice.end();
    reading.resolve(input);
  }

  #isTyped(): boolean {
    return this.#editor.text !== "";
  }
}

const foldablesMax = 100;
