/** What the rules say about a call. All layers are asked and the strictest wins; so far the only layer is the tool's own word. */
export type Verdict = {
  readonly verdict: "allow" | "ask" | "deny";
  readonly risk: Risk;
  readonly layer: string;
  readonly reason: string;
};
export type Risk = "low" | "medium" | "high" | "critical";

/** Pure: the same call and facts give the same verdict. `own` is what the tool itself says of these arguments. */
export function judge(own: { readonly reason: string; readonly risk: Risk } | undefined): Verdict {
  if (own === undefined)
    return { verdict: "allow", risk: "low", layer: "default", reason: "nothing asks for a decision" };
  return { verdict: "ask", risk: own.risk, layer: "tool", reason: own.reason };
}
