import { argumentsHash } from "../log/log.ts";
import { redact } from "../observe/observe.ts";
import { type AllowRule, type Finding, type FindingKind, Risk, type RuleMatch } from "../protocol/approval.ts";
import type { CallFacts, JudgedCall } from "./approvals.ts";
import { shortened, textOf } from "./argument-texts.ts";
import { unreadScript } from "./shell/scene.ts";

/** What a person may allow always: the same call again, and, where that is sensible, everything of its kind. */
export function alwaysOffered(call: JudgedCall, facts: CallFacts, findings: readonly Finding[]): RuleMatch[] {
  if (hasUnread(facts)) return [];
  const same: RuleMatch = { match: "call", hash: callHash(call, facts), shown: shownCall(call, findings) };
  const covers = findings.flatMap((finding) => {
    const { kind, shape, risk } = finding;
    return shape === undefined || !mayBeWidened(finding) ? [] : [{ kind, pattern: shape, risk }];
  });
  if (covers.length < findings.length) return [same];
  // Among those that are alike the gravest counts, which was shown as well.
  const gravestLast = covers.toSorted((one, other) => risks.indexOf(one.risk) - risks.indexOf(other.risk));
  const distinct = new Map(gravestLast.map((cover) => [`${cover.kind} ${cover.pattern}`, cover]));
  return [same, { match: "findings", covers: [...distinct.values()] }];
}

/** The rule that allows this call. Of several that do it together the newest, which comes first. */
export function coveringRule(
  call: JudgedCall,
  facts: CallFacts,
  findings: readonly Finding[],
  stored: readonly AllowRule[],
): AllowRule | undefined {
  const ours = stored.filter(({ tool }) => tool === call.tool);
  if (ours.length === 0 || hasUnread(facts)) return undefined;
  const hash = callHash(call, facts);
  const exact = ours.find(({ match }) => match.match === "call" && match.hash === hash);
  if (exact !== undefined) return exact;
  const covering = findings.map((finding) => ours.find(({ match }) => isCovered(finding, match)));
  return covering.every((rule) => rule !== undefined) ? covering[0] : undefined;
}

const risks = Risk.options;

/** What runs then is known to nobody: it may be something else the next time. */
function hasUnread({ scripts }: CallFacts): boolean {
  return [...scripts.values()].includes(unreadScript);
}

/** `pip install *` covers `pip install` and any further words, as long as those make it no graver. */
function isCovered(finding: Finding, match: RuleMatch): boolean {
  if (match.match !== "findings" || !mayBeWidened(finding)) return false;
  const { kind, what } = finding;
  return match.covers.some(({ kind: coveredKind, pattern, risk = "medium" }) => {
    if (coveredKind !== kind || risks.indexOf(finding.risk) > risks.indexOf(risk)) return false;
    if (!pattern.endsWith(" *")) return pattern === what;
    const words = pattern.slice(0, -2);
    return what === words || what.startsWith(`${words} `);
  });
}

/** What could hide anything is allowed to the byte or not at all. */
const onlySame: ReadonlySet<FindingKind> = new Set<FindingKind>(["privilege", "run_unseen", "unreadable", "secret"]);

function mayBeWidened({ kind, risk }: Finding): boolean {
  return risk !== "critical" && !onlySame.has(kind);
}

/** A script belongs to the call that runs it, and a host to the one that goes there: with another it is another call. */
function callHash({ written, outward }: JudgedCall, { scripts }: CallFacts): string {
  const texts = [...scripts].toSorted(([one], [other]) => (one < other ? -1 : 1));
  const around = [...(outward === undefined ? [] : [{ host: outward.host }]), ...texts];
  return argumentsHash(around.length === 0 ? written : JSON.stringify([written, ...around]));
}

/** For people, who choose by it: the command or the code itself where there is one, and never a secret that stands in it. */
function shownCall(call: JudgedCall, findings: readonly Finding[]): string {
  const secret = findings.find(({ kind }) => kind === "secret");
  if (secret !== undefined) return secret.what;
  return shortened(redact(textOf(call, "command") || textOf(call, "code") || call.written, []));
}
