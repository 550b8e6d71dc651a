import { decodeKittyPrintable, matchesKey } from "@earendil-works/pi-tui/dist/keys.js";
import { setCapabilityOverrides } from "@earendil-works/pi-tui/dist/terminal-image.js";
import { assert } from "../../base/assert.ts";
import type { Words } from "../../words/words.ts";
import type {
  Console,
  Facts,
  Input,
  ReadOptions,
  RichScreen,
  TurnDisplay,
  TurnDisplayOptions,
  TypedLine,
  WaitingMessage,
} from "../console.ts";
import { KeyChoice } from "../key-choice.ts";
import { Arrived } from "./arrived.ts";
import { wrapped } from "./blocks.ts";
import { HiddenLine } from "./hidden-line.ts";
import { History } from "./history.ts";
import { HistorySearch } from "./history-search.ts";
import { PromptEditor } from "./prompt-editor.ts";
import type { RichChat, RichOptions } from "./rich-parts.ts";
import { Screen } from "./screen.ts";
import { statusLine, waitingLines } from "./status-line.ts";
import { Suspension } from "./suspension.ts";
import { Transcript } from "./transcript.ts";

type Reading = { readonly options: ReadOptions; readonly resolve: (input: Input) => void };

/**
 * A terminal that is drawn: what was said above, a live part with the editor below. It stands there before there is a
 * conversation: what is entered meanwhile waits for it.
 */
export class RichConsole implements Console {
  readonly isInteractive = true;
  readonly isAttended = true;
  readonly screen: RichScreen;
  readonly #options: RichOptions;
  readonly #screen: Screen;
  readonly #transcript: Transcript;
  readonly #editor: PromptEditor;
  readonly #history: History;
  readonly #choice: KeyChoice;
  readonly #suspension: Suspension;
  readonly #arrived = new Arrived();
  #chat: RichChat | undefined;
  #search: HistorySearch | undefined;
  #hidden: HiddenLine | undefined;
  #reading: Reading | undefined;
  #activity: string | undefined;
  #waiting: readonly WaitingMessage[] = [];
  #facts: Facts | undefined;
  #isWakeWanted = false;
  #isBetweenKeys = false;
  #isClosed = false;

  constructor(options: RichOptions) {
    const { clock, isAscii, style, jobControl } = options;
    this.#options = options;
    this.#history = new History(options.history);
    this.#choice = new KeyChoice(clock, () => this.#screen.changed());
    this.#screen = new Screen({ clock, isAscii, onKey: (data) => this.#onKey(data), onEnd: () => this.end() });
    this.#transcript = new Transcript(this.#screen, style);
    this.#editor = new PromptEditor({
      ...{ renderer: this.#screen.renderer, style },
      suggest: (text) => this.#chat?.suggest(text),
      pasteLabel: (paste) => this.#words.terminal.rich.pasteLabel(paste),
      onChange: () => this.#onTyped(),
      onSubmit: (line) => this.#submit(line),
    });
    for (const text of this.#history.texts.slice(0, 100).toReversed()) this.#editor.remember(text);
    this.screen = {
      turnDisplay: (view) => this.#openDisplay(view),
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

  /** From now on there is somebody who reads. */
  begin(chat: RichChat): void {
    this.#chat = chat;
    this.#screen.changed();
  }

  get hasChat(): boolean {
    return this.#chat !== undefined;
  }

  get columns(): number {
    return this.#screen.columns;
  }

  answer(text: string): void {
    this.#transcript.grow(text);
  }

  say(line: string): void {
    this.#transcript.say(line);
  }

  note(line: string): void {
    this.say(line);
  }

  status(line: string | undefined): void {
    this.#show(() => (this.#activity = line));
  }

  isTyping(): boolean {
    return this.#isTyped() || !this.#arrived.isEmpty;
  }

  read(options: ReadOptions): Promise<Input> {
    this.#isBetweenKeys = false;
    if (options.prefill !== undefined) this.#forgetTyped();
    const arrived = this.#arrived.take({ isQuestion: this.#isQuestion(options) });
    if (arrived?.unsaid !== undefined) this.#echo(arrived.unsaid, "");
    if (arrived !== undefined) return Promise.resolve(arrived.input);
    return new Promise((resolve) => {
      this.#reading = { options, resolve };
      if (options.want === "key") this.#choice.begin();
      if (options.prefill !== undefined) this.#editor.set(options.prefill);
      if (options.isHidden === true) this.#openHidden(options.prompt);
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

  get #words(): Words {
    return this.#chat?.words ?? this.#options.words;
  }

  #show(change: () => unknown): void {
    change();
    if (!this.#isClosed) this.#screen.changed();
  }

  #openDisplay(options: TurnDisplayOptions): TurnDisplay {
    assert(this.#chat !== undefined, "a conversation is shown where there is one");
    return this.#chat.displays.turnDisplay(options, {
      console: this,
      add: (block) => this.#transcript.add(block),
      addFoldable: (card) => this.#transcript.addFoldable(card),
      hasLeft: (block) => this.#screen.hasLeft(block),
      changed: () => this.#screen.changed(),
    });
  }

  #showAnswer(text: string): void {
    const { style } = this.#options;
    this.#chat?.displays.showAnswer(text, { style, onBlock: (block) => this.#transcript.add(block) });
    this.#screen.changed();
  }

  #renderBelow(width: number): string[] {
    const shown = { words: this.#words, style: this.#options.style };
    if (this.#search !== undefined) return this.#search.render(width);
    const status = statusLine(this.#facts, this.#hint(), width, shown);
    if (this.#hidden !== undefined) return ["", ...this.#hidden.render(width), ...status];
    const question = this.#question();
    return [
      "",
      ...(this.#activity === undefined ? [] : wrapped(this.#activity, width, "").slice(0, 1)),
      ...waitingLines([...this.#waiting, ...this.#arrived.waiting], width, shown),
      ...(question === "" ? [] : wrapped(question.trimEnd(), width, "")),
      ...this.#editor.render(width),
      ...status,
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
    return prompt !== this.#chat?.prompt;
  }

  #hint(): string {
    const { rich } = this.#words.terminal;
    if (this.#editor.hasFoldedPaste) return rich.pasteHint();
    return this.#reading?.options.want === "aside" ? rich.runningHint() : rich.hint();
  }

  #onKey(data: string): boolean {
    if (this.#search !== undefined) return false;
    if (matchesKey(data, "ctrl+c") || matchesKey(data, "escape")) return this.#onStop(data);
    if (matchesKey(data, "ctrl+d") && !this.#isTyped()) return this.#take(() => this.#deliver({ kind: "end" }));
    if (matchesKey(data, "ctrl+z")) return this.#take(() => this.#suspension.begin());
    if (matchesKey(data, "ctrl+l")) return this.#take(() => this.#screen.redraw());
    if (this.#hidden !== undefined) return false;
    if (matchesKey(data, "ctrl+o")) return this.#take(() => this.#unfold());
    if (matchesKey(data, "alt+up")) return this.#take(() => this.#withdraw());
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
    if (this.#chat === undefined) return this.#take(() => this.#onStopEarly({ isEscape }));
    if (this.#reading?.options.want === "key" && this.#isTyped()) return this.#take(() => this.clear());
    const input: Input = isEscape ? { kind: "stop" } : { kind: "interrupt", isTyped: this.#isTyped() };
    return this.#take(() => this.#deliver(input));
  }

  /** Nothing runs yet that could be stopped. */
  #onStopEarly({ isEscape }: { readonly isEscape: boolean }): void {
    if (isEscape) return;
    if (this.#isTyped()) this.clear();
    else this.#options.onLeave();
  }

  #withdraw(): void {
    const unsaid = this.#arrived.withdraw();
    if (unsaid !== undefined) this.#giveBack(unsaid);
    else if (this.#chat !== undefined) this.#deliver({ kind: "withdraw" });
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
    if (!isQuestion) this.#remember(text);
    const line: Input = { kind: "line", text, ...(typed !== text && { typed }) };
    if (this.#chat === undefined) return this.#arrived.add(line, typed);
    this.#echo(text === "" ? "" : typed, isQuestion ? (options?.prompt ?? "") : "");
    this.#deliver(line);
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

  #echo(text: string, question: string): void {
    this.#transcript.echo(text, { question, sign: this.#words.terminal.rich.said });
  }

  #giveBack(text: string): void {
    const typed = this.#editor.text;
    this.#editor.set(typed === "" ? text : `${text}\n${typed}`);
    this.#screen.changed();
  }

  /** What was pasted, or else the last line that can be opened; closed again with the same key. */
  #unfold(): void {
    if (this.#editor.hasFoldedPaste) this.#editor.unfold();
    else this.#transcript.unfold();
  }

  #openSearch(): void {
    const { style } = this.#options;
    const { searchTitle, searchNothing } = this.#words.terminal.rich;
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

  #openHidden(prompt: string): void {
    const { style } = this.#options;
    this.#hidden = new HiddenLine({ prompt, style, onEnter: (text) => this.#deliver({ kind: "line", text }) });
    this.#screen.focus(this.#hidden);
  }

  /** Lines that were sent off or half typed; Ctrl+C and the end of input stay. */
  #forgetTyped(): void {
    this.#arrived.forgetLines();
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
      this.#arrived.add(input);
      return;
    }
    this.#reading = undefined;
    this.#choice.end();
    if (this.#hidden !== undefined) this.#screen.focus(this.#editor.component);
    this.#hidden = undefined;
    reading.resolve(input);
  }

  #isTyped(): boolean {
    return this.#editor.text !== "" || this.#hidden?.isTyped === true;
  }
}
