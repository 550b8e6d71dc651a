import { derivedHex } from "../../base/ids.ts";
import type { History } from "../../log/log.ts";
import { type Failure, makeFailure, storedFailure } from "../../protocol/failure.ts";
import { type AgentDone, errorForModel } from "../../tools/tools.ts";
import { forModels } from "../../words/words.ts";
import { bouncingIn, type Deed, plainWords } from "../bouncing.ts";
import type { Run } from "../run.ts";
import { openChildren } from "./seats.ts";

const wordsCharacters = 16;

/** What a mail says, in a form that is the same for mails that say the same. */
export function wordsOf(text: string): string {
  return derivedHex(wordsCharacters, plainWords(text));
}

type Mail = { readonly id: string; readonly to: string; readonly words: string };
type Sender = Pick<Run, "agent" | "history"> & {
  readonly tenure: { readonly runs: ReadonlyMap<string, Pick<Run, "history">> };
};

/**
 * What is done in place of delivering a mail that would close a circle: its sender is refused it, and the other one is
 * told. Both end by that; see `endsInCircle`. Undefined where there is none.
 */
export function closedCircle(run: Sender, { id, to, words }: Mail): AgentDone | undefined {
  const { agent = "root", history, tenure } = run;
  const other = tenure.runs.get(to)?.history;
  if (other === undefined) return undefined;
  const found = bouncingIn([...deedsOf(history, other), { agent, to, words }]);
  if (found === undefined) return undefined;
  const reason = makeFailure("mail_in_circles", { from: nameOf(history), to: nameOf(other), ...found });
  const { code, params } = reason;
  const text = forModels.agents.circle(nameOf(history));
  return {
    text: errorForModel(reason),
    isRefusal: true,
    reason,
    events: [{ type: "agent.mailed", to, id, text, kind: "circle", failure: { code, params } }],
  };
}

/** What two agents did, as far as it is known here: both have every mail between them, and each its own work. */
function deedsOf(sender: History, reader: History): Deed[] {
  const [one, other] = [idOf(sender), idOf(reader)];
  const mails = (sender.mails.get(other) ?? []).map(({ from, words, seq }) => ({
    deed: { agent: from, to: from === one ? other : one, words },
    seq,
  }));
  const work = [sender, reader].map((history) => ({ deed: { agent: idOf(history) }, seq: history.workedAt }));
  return [...work, ...mails].toSorted((a, b) => a.seq - b.seq).map(({ deed }) => deed);
}

/**
 * Why an agent is to end now with what it has: it was part of a circle. The main agent may be so once in a turn, for all
 * others work for it; the circle is over with the end of the other one.
 */
export function endsInCircle({ self, circles }: Pick<History, "self" | "circles">): Failure | undefined {
  const last = circles.length > (self === undefined ? 1 : 0) ? circles.at(-1) : undefined;
  return last && storedFailure("mail_in_circles", last.params);
}

/**
 * Who ends because of a circle with an agent of its own lets that one end first, by itself: else it would depend on the moment
 * whether its last words are heard.
 */
export function letsOtherEnd(history: Pick<History, "self" | "circles" | "circledWith" | "children">): boolean {
  if (endsInCircle(history) === undefined) return false;
  return openChildren(history).some(({ spawned }) => history.circledWith.has(spawned.id));
}

function idOf({ self }: History): string {
  return self?.id ?? "root";
}

function nameOf({ self }: History): string {
  return self?.name ?? "root";
}
