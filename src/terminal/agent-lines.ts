import type { EventOf, LogEvent } from "../protocol/events.ts";
import { failureWords, type Words, withoutMarks } from "../words/words.ts";
import { safeLine, safeText } from "./safe-text.ts";
import type { Style } from "./style.ts";

const lineCharacters = 200;
const linesMax = 12;

/** A message between agents without the line that says who writes. */
export function mailText(text: string): string {
  return withoutMarks(text.replace(/^\[[^\n]*\]\n/, ""));
}

/** What agents do that another one made, in lines with their names before them: several may be at work at once. */
export class AgentLines {
  readonly #words: Words;
  readonly #style: Style;
  readonly #names = new Map<string, string>();

  constructor({ words, style }: { readonly words: Words; readonly style: Style }) {
    this.#words = words;
    this.#style = style;
  }

  /** Who was made before this was opened is called by name, too. */
  learn(event: LogEvent): void {
    if (event.type === "agent.spawned" && event.mode !== "handoff") this.#names.set(event.id, shownName(event));
  }

  /** Undefined where the event is the main agent's own. */
  linesOf(event: LogEvent): string[] | undefined {
    this.learn(event);
    // Who is handed over to is the main agent for a while.
    if (event.type === "agent.spawned" && event.mode === "handoff") return this.#handedOver(event);
    if (event.type === "agent.ended" && event.id.startsWith("handoff-"))
      return event.agent === undefined ? undefined : [];
    const { team: texts } = this.#words.terminal;
    switch (event.type) {
      case "agent.spawned":
        return [this.#line(event.id, texts.begins({ task: safeLine(event.brief, lineCharacters) }))];
      case "agent.ended":
        return [this.#line(event.id, this.#endOf(event))];
      case "agent.mailed":
        return this.#mail(event);
      default:
        return "agent" in event && event.agent !== undefined ? this.#workOf(event, event.agent) : undefined;
    }
  }

  #handedOver({ agent, name, role }: EventOf<"agent.spawned">): string[] | undefined {
    if (agent === undefined) return undefined;
    return [this.#line(agent, this.#words.terminal.turn.handedOver({ name: safeLine(name ?? role, 64) }))];
  }

  #workOf(event: LogEvent, agent: string): string[] {
    if (event.type === "message.assistant") {
      const lines = safeText(event.text)
        .split("\n")
        .filter((line) => line.trim() !== "");
      const shown = lines.slice(0, linesMax).map((line) => this.#line(agent, line));
      const more = lines.length > linesMax ? [this.#line(agent, "…")] : [];
      const calls = (event.calls ?? []).map(({ name, arguments: input }) =>
        this.#line(agent, `⚙ ${safeLine(name, 64)} ${safeLine(input, 120)}`),
      );
      return [...shown, ...more, ...calls];
    }
    if (event.type === "step.failed") return [this.#line(agent, `! ${this.#failure(event.failure)}`)];
    return [];
  }

  #endOf({ outcome, steps = 0, failure, folder }: EventOf<"agent.ended">): string {
    const { team: texts } = this.#words.terminal;
    const why = failure === undefined ? "" : `: ${this.#failure(failure)}`;
    const files = folder === undefined ? "" : ` → ${safeLine(folder, 80)}/`;
    return `${outcome === "done" ? "✓" : "✗"} ${texts.state[outcome]} · ${texts.steps({ count: steps })}${why}${files}`;
  }

  /** What it said at its end stands there already. */
  #mail({ agent = "root", to, text, kind = "message" }: EventOf<"agent.mailed">): string[] {
    if (kind !== "message") return [];
    const name = to === "root" ? to : (this.#names.get(to) ?? to);
    return [this.#line(agent, `→ ${safeLine(name, 64)}: ${safeLine(mailText(text), lineCharacters)}`)];
  }

  #failure(failure: { readonly code: string; readonly params: object }): string {
    return safeLine(failureWords(this.#words, failure)[0], lineCharacters);
  }

  #line(agent: string, text: string): string {
    const name = agent === "root" ? agent : (this.#names.get(agent) ?? agent);
    return this.#style.dim(`[${safeLine(name, 64)}] ${text}`);
  }
}

/** A worker goes by the name that the main agent reads. */
function shownName({ id, context, name }: EventOf<"agent.spawned">): string {
  return context ?? name ?? id;
}
