import type { CallState } from "../log/log.ts";
import type { OwnerId } from "../protocol/ids.ts";
import type { ToolCall } from "../protocol/message.ts";
import type { Parts } from "./parts.ts";

/** The call as it would run: with the arguments that a person put in place of the model's. */
export function asDecided({ call, decision }: CallState): ToolCall {
  const { asked, made } = decision ?? {};
  // Asked again: the arguments may be those that a person wrote the first time.
  const again = asked?.instead === undefined ? undefined : asked.arguments;
  return { ...call, arguments: made?.arguments ?? again ?? call.arguments };
}

/**
 * Says of a call whether it has to wait for an earlier one that has no result yet: it is left alone until then, and a
 * person is not asked about it either.
 */
export function inOrder(
  calls: readonly CallState[],
  parts: Pick<Parts, "toolkit" | "approvals">,
  owner: OwnerId,
): (state: CallState) => boolean {
  const open = calls.filter(({ result }) => result === undefined);
  const orders = new Map(open.length < 2 ? [] : open.map((state) => [state, orderOf(state, parts, owner)]));
  return (state) => {
    const order = orders.get(state);
    const earlier = open.slice(0, open.indexOf(state));
    return (
      order !== undefined && earlier.some((other) => other.result === undefined && waits(order, orders.get(other)))
    );
  };
}

type Order = {
  /** The arguments that it was found for. */
  readonly written: string;
  readonly key: string | undefined;
  readonly runsScripts: boolean;
  readonly mayWrite: boolean;
};

/** A script is judged by its text: nothing that could give it another one may run until the script has ended. */
function waits(later: Order, earlier: Order | undefined): boolean {
  if (earlier === undefined) return false;
  if (later.key !== undefined && later.key === earlier.key) return true;
  return (later.runsScripts && earlier.mayWrite) || (later.mayWrite && earlier.runsScripts);
}

/** Reading a program for the scripts that it runs takes a while, and calls are planned often. */
const known = new WeakMap<CallState, Order>();

function orderOf(
  state: CallState,
  { toolkit, approvals }: Pick<Parts, "toolkit" | "approvals">,
  owner: OwnerId,
): Order | undefined {
  const call = asDecided(state);
  const before = known.get(state);
  if (before?.written === call.arguments) return before;
  const found = toolkit(owner).open(call);
  if (!found.ok) return undefined;
  const { tool, opened } = found.value;
  const { input = {} } = opened; // A tool of somebody else's need not keep to our types.
  const order = {
    written: call.arguments,
    key: opened.order,
    runsScripts: approvals.scriptsOf({ tool: tool.name, arguments: input }).length > 0,
    mayWrite: tool.class !== "pure",
  };
  known.set(state, order);
  return order;
}
