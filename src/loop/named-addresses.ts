import type { History } from "../log/log.ts";
import type { LogEvent } from "../protocol/events.ts";
import type { Message, ToolCall } from "../protocol/message.ts";
import { addressesIn, comparable } from "../web/web.ts";
import { dataBlocksIn } from "../words/words.ts";

/** Whose results come from the web itself: what stands there was known out there before. */
const webTools: ReadonlySet<string> = new Set([
  "fetch_web",
  "web_search",
  "google_search",
  "jina_reader",
  "http_fetch",
]);

export function isOfWeb(tool: string): boolean {
  return webTools.has(tool);
}

/** What stands before a call. */
export type Told = {
  /**
   * What people said to the main agent, whichever agent calls. That a message is sent as the user's says nothing: briefs,
   * mail, summaries, names of files and reminders are, too, and an agent can have those say anything.
   */
  readonly said: History["said"];
  /** What the agent reads that calls. */
  readonly messages: readonly Message[];
};

type Given = Readonly<Record<string, unknown>>;

/**
 * Whether a call names an address that the user wrote, or that a page or a search brought up. The results of programs and
 * files do not count: an agent can have them say anything.
 */
export function isNamedAddress({ said, messages }: Told, given: Given): boolean {
  const wanted = wantedIn(given);
  if (wanted === undefined) return false;
  if (said.some((line) => addressesSaid(line).includes(wanted))) return true;
  let ofWeb = new Set<string>();
  for (const message of messages) {
    // Results stand directly behind their calls; an id may come again.
    if (message.role === "assistant") ofWeb = webCallsIn(message.toolCalls);
    const isFound = message.role === "tool" && ofWeb.has(message.toolCallId);
    if (isFound && addressesFound(message.text).includes(wanted)) return true;
  }
  return false;
}

/**
 * Whether a page or a search brought it up that the calling agent does not see (any more): whoever gave it the work has
 * read it, or it was left out to make room.
 */
export function wasBroughtUp(events: readonly LogEvent[], given: Given): boolean {
  const wanted = wantedIn(given);
  if (wanted === undefined) return false;
  const ofWeb = new Map<string, ReadonlySet<string>>();
  for (const event of events) {
    if (event.type === "message.assistant") ofWeb.set(event.agent ?? "root", webCallsIn(event.calls));
    const isFound = event.type === "call.finished" && ofWeb.get(event.agent ?? "root")?.has(event.call) === true;
    if (isFound && addressesFound(event.text).includes(wanted)) return true;
  }
  return false;
}

function wantedIn({ url }: Given): string | undefined {
  return typeof url === "string" ? comparable(url) : undefined;
}

function webCallsIn(calls: readonly ToolCall[] = []): Set<string> {
  return new Set(calls.filter(({ name }) => isOfWeb(name)).map(({ id }) => id));
}

function addressesSaid({ text, inputs }: Told["said"][number]): string[] {
  const values = inputs === undefined ? "" : `\n${JSON.stringify(inputs)}`;
  return addressesIn(text + values, { isPerson: true });
}

/** Only what stands between the marks: our own words around it repeat what the model asked for. */
function addressesFound(text: string): string[] {
  return dataBlocksIn(text).flatMap(({ from, to }) => addressesIn(text.slice(from, to)));
}
