import { whenOver } from "../base/background.ts";
import { failed, ok, type Result } from "../base/result.ts";
import { argumentsHash, chained, type DecisionState, decidedOn, type History, type Tree } from "../log/log.ts";
import type { AllowRule } from "../protocol/approval.ts";
import type { EventBody } from "../protocol/events.ts";
import { type Failure, failure } from "../protocol/failure.ts";
import { readForm } from "../protocol/form.ts";
import type { OwnerId } from "../protocol/ids.ts";
import { decisionOf } from "../protocol/resources.ts";
import type { ConversationRow } from "../storage/storage.ts";
import { toolkitOf } from "./agent-tools.ts";
import { appendSeen, soon } from "./append-seen.ts";
import { type MadeEvent, madeByRule } from "./ask-person.ts";
import { denied } from "./denied.ts";
import type { Driver } from "./driver.ts";
import { type JudgedPlace, judgeCall } from "./judge-calls.ts";
import type { DecisionMade, Engine, Verdict } from "./loop.ts";
import type { Parts } from "./parts.ts";
import { ruleRow, rulesMax } from "./rules.ts";

const decisionsMax = 200;

/** What people are asked, and what they say. A decision waits for ever; it never turns into a "no" by time. */
export function openDecisions(parts: Parts, driver: Driver): Pick<Engine, "decide" | "openDecisions"> {
  const inTurn = openTurns();
  return {
    decide: (conversation, id, verdict) =>
      inTurn(conversation.number, () => decide(parts, driver, conversation, { id, verdict })),

    async openDecisions(owner) {
      const rows = await parts.storage.openDecisions(owner, decisionsMax);
      return rows.map((row) => decisionOf(row.conversation.id, JSON.parse(row.body), row.at));
    },
  };
}

/** One after another in each conversation: each decision names the one before it, and none need be made twice. */
function openTurns() {
  const last = new Map<number, Promise<unknown>>();
  return async <T>(number: number, work: () => Promise<T>): Promise<T> => {
    const mine = whenOver(last.get(number) ?? Promise.resolve()).then(work);
    last.set(number, mine);
    try {
      return await mine;
    } finally {
      if (last.get(number) === mine) last.delete(number);
    }
  };
}

async function decide(
  parts: Parts,
  driver: Driver,
  conversation: ConversationRow,
  said: Said,
): Promise<Result<DecisionMade, Failure>> {
  const prepared = await prepare(parts, conversation, said);
  if (!prepared.ok) return prepared;
  const { rule } = prepared.value;
  const others: string[] = [];
  const stored = await appendSeen(parts, conversation.number, (_, tree) => {
    const events = decisionsMade(parts, conversation.owner, tree, { ...said, ...prepared.value });
    if (!events.ok) return events;
    const decided = events.value.map((made) => made.id);
    others.splice(0, others.length, ...decided.slice(1));
    const rules = rule === undefined ? [] : [ruleRow(conversation.owner, rule, conversation)];
    return ok({ events: events.value, with: { decided, rules, ...soon } });
  });
  if (!stored.ok) return stored;
  driver.wake(conversation);
  const elsewhere = rule?.scope === "user" ? await applyElsewhere(parts, driver, { conversation, rule }) : [];
  return ok({ decision: said.id, seq: stored.value.lastSeq - others.length, also: [...others, ...elsewhere] });
}

type Said = { readonly id: string; readonly verdict: Verdict };
type Prepared = {
  /** To be stored with the decision. */
  readonly rule: AllowRule | undefined;
  /** Other decisions of the conversation that the rule answers. */
  readonly covered: ReadonlySet<string>;
  /** Hash of the scripts that edited arguments run. */
  readonly scripts: string | undefined;
};

/** What takes time is looked up first: what the rules say of edited arguments, and what a new rule covers. */
async function prepare(
  parts: Parts,
  conversation: ConversationRow,
  { id, verdict }: Said,
): Promise<Result<Prepared, Failure>> {
  const none = { rule: undefined, covered: new Set<string>(), scripts: undefined };
  if (verdict.verdict !== "edit" && verdict.always === undefined) return ok(none);
  const tree = await parts.log.tree(conversation.number);
  const history = historiesOf(tree).find(({ decisions }) => decisions.has(id));
  const state = history?.decisions.get(id);
  if (history === undefined || state === undefined) return failure("decision_not_found", { id });
  const fits = checkVerdict(parts, conversation.owner, state, verdict);
  if (!fits.ok) return fits;
  const { asked } = state;
  if (verdict.verdict === "edit") {
    const call = { id: asked.call, name: asked.tool, arguments: verdict.arguments ?? "" };
    const judged = await judgeCall(parts, placeOf(parts, conversation, tree, history), call);
    if (!judged.ok) return judged;
    // Whoever edits has said yes to what they wrote; what nobody may do stays forbidden.
    if (judged.value.verdict.verdict === "deny") return failed(denied(asked.tool, judged.value.verdict));
    if (verdict.always === undefined) return ok({ ...none, scripts: judged.value.scripts });
  }
  const rule = await newRule(parts, conversation, asked, verdict);
  if (!rule.ok) return rule;
  const covered = await coveredBy(parts, conversation, tree, rule.value);
  return ok({ ...none, rule: rule.value, covered: new Set(covered.map((open) => open.asked.id)) });
}

async function newRule(
  { storage, ids, clock }: Parts,
  conversation: ConversationRow,
  { tool, always }: DecisionState["asked"],
  { verdict, by, always: wanted }: Verdict,
): Promise<Result<AllowRule, Failure>> {
  const { option = 0, scope = "conversation" } = wanted ?? {};
  const match = verdict === "approve" ? always?.[option] : undefined;
  if (match === undefined) return failure("rule_not_offered", { option });
  const known = await storage.listRules(conversation.owner, { limit: rulesMax });
  if (known.length >= rulesMax) return failure("rules_full", { max: rulesMax });
  const place = scope === "conversation" ? { conversation: conversation.id } : {};
  return ok({ id: ids.hex(ruleIdCharacters), tool, scope, ...place, match, at: clock.now(), by });
}

const ruleIdCharacters = 8;

/** The open approvals of a conversation that are answered by what is stored together with a new rule. */
async function coveredBy(
  parts: Parts,
  conversation: ConversationRow,
  tree: Tree,
  rule: AllowRule,
): Promise<DecisionState[]> {
  const covered: DecisionState[] = [];
  for (const history of historiesOf(tree)) {
    for (const state of history.decisions.values()) {
      const { asked, made } = state;
      if (made !== undefined || asked.kind !== "approval" || asked.tool !== rule.tool) continue;
      const call = { id: asked.call, name: asked.tool, arguments: asked.arguments ?? "" };
      const judged = await judgeCall(parts, placeOf(parts, conversation, tree, history), call, [rule]);
      if (judged.ok && judged.value.verdict.rule?.id === rule.id) covered.push(state);
    }
  }
  return covered;
}

function placeOf(parts: Parts, conversation: ConversationRow, { root }: Tree, history: History): JudgedPlace {
  return {
    ...{ conversation, history, said: root.said, agent: history.self?.id },
    toolkit: toolkitOf(history, parts, conversation.owner),
  };
}

/** What any agent of the conversation asked stands in the same list. */
function historiesOf({ root, agents }: Tree): History[] {
  return [root, ...agents.values()];
}

function decisionsIn(tree: Tree): Map<string, DecisionState> {
  return new Map(historiesOf(tree).flatMap(({ decisions }) => [...decisions]));
}

/** The decision itself, then those about the same, then those that its rule answers: each names the one before it. */
function decisionsMade(
  parts: Parts,
  owner: OwnerId,
  tree: Tree,
  { id, verdict, rule, covered, scripts }: Said & Prepared,
): Result<MadeEvent[], Failure> {
  const { lastDecision } = tree.root;
  const decisions = decisionsIn(tree);
  const state = decisions.get(id);
  if (state === undefined) return failure("decision_not_found", { id });
  const said = checkVerdict(parts, owner, state, verdict);
  if (!said.ok) return said;
  const time = parts.clock.now();
  let previous = lastDecision;
  const events: MadeEvent[] = [];
  const add = (event: MadeEvent) => {
    events.push(event);
    previous = event.hash ?? "";
  };
  const saySo = ({ asked }: DecisionState, made: Pick<EventBody<"decision.made">, "rule">) => {
    const bytes = argumentsHash(decidedOn(asked, said.value));
    const ran = scripts === undefined ? {} : { scripts };
    const of = asked.agent === undefined ? {} : { agent: asked.agent };
    const body = { ...of, id: asked.id, by: verdict.by, ...said.value, ...ran, ...made, argumentsHash: bytes, time };
    add({ type: "decision.made", ...chained(asked, body, previous) });
  };
  saySo(state, rule === undefined ? {} : { rule });
  for (const other of decisions.values()) {
    if (other.made !== undefined || other === state) continue;
    if (verdict.equal === true && isEqual(other.asked, state.asked)) saySo(other, {});
    else if (rule !== undefined && covered.has(other.asked.id)) add(madeByRule(other.asked, rule, { previous, time }));
  }
  return ok(events);
}

function isEqual(one: DecisionState["asked"], other: DecisionState["asked"]): boolean {
  const about = ({ kind, tool, arguments: args, scripts, question, context, default: fallback }: typeof one) =>
    JSON.stringify([kind, tool, args, scripts, question, context, fallback]);
  return about(one) === about(other);
}

/** A rule for all conversations answers what waits in the others, too; where that fails, a person still can. */
async function applyElsewhere(
  parts: Parts,
  driver: Driver,
  { conversation, rule }: { readonly conversation: ConversationRow; readonly rule: AllowRule },
): Promise<string[]> {
  const rows = await parts.storage.openDecisions(conversation.owner, decisionsMax);
  const places = new Map(rows.map((row) => [row.conversation.number, row.conversation]));
  places.delete(conversation.number);
  const made: string[] = [];
  for (const place of places.values()) {
    const covered = await coveredBy(parts, place, await parts.log.tree(place.number), rule);
    if (covered.length === 0) continue;
    const answered: string[] = [];
    const stored = await appendSeen(parts, place.number, (_, tree) => {
      const decisions = decisionsIn(tree);
      let previous = tree.root.lastDecision;
      const events: MadeEvent[] = [];
      for (const { asked } of covered) {
        if (decisions.get(asked.id)?.made !== undefined || !decisions.has(asked.id)) continue;
        const event = madeByRule(asked, rule, { previous, time: parts.clock.now() });
        events.push(event);
        previous = event.hash ?? "";
      }
      answered.splice(0, answered.length, ...events.map(({ id }) => id));
      return ok({ events, with: events.length === 0 ? {} : { decided: answered, ...soon } });
    });
    if (!stored.ok || answered.length === 0) continue;
    made.push(...answered);
    driver.wake(place);
  }
  return made;
}

/** A verdict must fit what was asked; edited arguments must be ones that the tool takes. */
function checkVerdict(
  parts: Parts,
  owner: OwnerId,
  { asked, made }: DecisionState,
  verdict: Verdict,
): Result<Pick<Verdict, "verdict" | "reason" | "arguments" | "answer">, Failure> {
  if (made !== undefined) return failure("decision_already_made", { id: asked.id, verdict: made.verdict });
  const verdicts: Verdict["verdict"][] =
    asked.kind === "approval" ? ["approve", "reject", "edit"] : ["answer", "reject"];
  const unfit = failure("decision_verdict_unfit", { kind: asked.kind, verdicts: verdicts.join(", ") });
  if (!verdicts.includes(verdict.verdict)) return unfit;
  const { reason, arguments: edited = "", answer = "" } = verdict;
  switch (verdict.verdict) {
    case "answer": {
      const form = asked.fields === undefined ? undefined : readForm(asked.fields, answer);
      if (form?.ok === false) return failure("form_answer_unfit", { ...form.failure });
      const isMissing = answer.trim() === "" && asked.required === true && asked.default === undefined;
      return isMissing ? failure("answer_required", {}) : ok({ verdict: "answer", answer });
    }
    case "edit": {
      const fits = parts.toolkit(owner).open({ id: asked.call, name: asked.tool, arguments: edited });
      return fits.ok ? ok({ verdict: "edit", arguments: edited }) : fits;
    }
    case "reject":
      return ok(reason === undefined ? { verdict: "reject" } : { verdict: "reject", reason });
    case "approve":
      return ok({ verdict: "approve" });
  }
}
