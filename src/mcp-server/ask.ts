import { type InputRequest, inputRequired } from "@modelcontextprotocol/server";
import { z } from "zod";
import { ok, type Result } from "../base/result.ts";
import type { Client, ClientFailure } from "../client/client.ts";
import type { FormField } from "../protocol/form.ts";
import type { Decision } from "../protocol/resources.ts";
import { findingWords, type Words } from "../words/words.ts";

/** More of a call than this nobody reads in a form, and nobody should say yes to what they have not read. */
const charactersAskedMax = 8_000;

/** What is put to a person by the client, where it can be; the rest they find in their inbox. */
export function formsFor(decisions: readonly Decision[], words: Words): Readonly<Record<string, InputRequest>> {
  return Object.fromEntries(
    decisions.flatMap((decision) => {
      const form = formFor(decision, words);
      return form === undefined || form.message.length > charactersAskedMax
        ? []
        : [[decision.id, inputRequired.elicit(form)]];
    }),
  );
}

type Form = Parameters<typeof inputRequired.elicit>[0];

function formFor(decision: Decision, words: Words): Form | undefined {
  const { mcpServer: texts } = words;
  switch (decision.kind) {
    case "approval":
      return {
        message: approvalText(decision, words),
        requestedSchema: {
          type: "object",
          properties: {
            verdict: {
              type: "string",
              title: texts.verdict(),
              oneOf: [
                { const: "approve", title: texts.approve() },
                { const: "reject", title: texts.reject() },
              ],
            },
            reason: { type: "string", title: texts.reason(), description: texts.reasonAbout() },
          },
          required: ["verdict"],
        },
      };
    case "question":
      return {
        message: plain(questionText(decision)),
        requestedSchema: {
          type: "object",
          properties: {
            answer: {
              type: "string",
              title: texts.answer(),
              ...(decision.default !== undefined && { default: decision.default }),
            },
          },
          ...(decision.required === true && { required: ["answer"] }),
        },
      };
    case "elicitation": {
      const fields = decision.fields ?? [];
      return {
        message: plain(questionText(decision)),
        requestedSchema: {
          type: "object",
          properties: Object.fromEntries(fields.map((field) => [field.name, propertyOf(field)])),
          required: fields.filter(({ required }) => required).map(({ name }) => name),
        },
      };
    }
    case "function":
      // It is for the caller who brought the function along.
      return undefined;
  }
}

/** What would be done, why somebody is asked, and how grave it is. */
export function approvalText(decision: Decision, words: Words): string {
  const { callers } = words;
  const { decision: texts } = words.terminal;
  const reasons = (decision.findings ?? []).map((finding) => findingWords(words, finding));
  const why = reasons.length > 0 ? reasons : decision.reason === undefined ? [] : [decision.reason];
  return plain(
    [
      callers.approval({ tool: decision.tool, arguments: decision.arguments ?? "{}" }),
      ...why,
      ...(decision.risk === undefined ? [] : [texts.risk({ risk: texts.riskLevel[decision.risk] })]),
    ].join("\n"),
  );
}

export function questionText({ question = "", context = "" }: Decision): string {
  return [question, context].filter((part) => part !== "").join("\n");
}

/** What a model wrote may hold signs that make a screen show something else. */
function plain(text: string): string {
  return text.replaceAll(/[^\P{C}\n\t]/gu, "");
}

function propertyOf({ title, description, kind, choices = [], default: usual }: FormField) {
  const about = { ...(title !== undefined && { title }), ...(description !== undefined && { description }) };
  const named = choices.map((choice) => ({ const: choice.value, title: choice.title }));
  switch (kind) {
    case "text":
      return { ...about, type: "string" as const, ...(usual !== undefined && { default: usual }) };
    case "number":
    case "integer":
      return { ...about, type: kind, ...(usual !== undefined && { default: Number(usual) }) };
    case "boolean":
      return { ...about, type: "boolean" as const, ...(usual !== undefined && { default: usual === "true" }) };
    case "choice":
      return { ...about, type: "string" as const, oneOf: named, ...(usual !== undefined && { default: usual }) };
    case "choices":
      return { ...about, type: "array" as const, items: { anyOf: named } };
  }
}

const Content = z.record(z.string(), z.unknown());
/** What the client says came of a form. */
const Filled = z.object({ action: z.enum(["accept", "decline", "cancel"]), content: Content.optional() });

/**
 * Takes what a person filled in to the door that all decisions go through. Answers with those that nobody is to be asked
 * about again: the person put them off, or what they said does not fit.
 */
export async function takeAnswers(
  conversation: string,
  answers: Readonly<Record<string, unknown>>,
  client: Client,
): Promise<Result<ReadonlySet<string>, ClientFailure>> {
  const left = new Set<string>();
  if (Object.keys(answers).length === 0) return ok(left);
  const state = await client.call("getState", { params: { id: conversation } });
  if (!state.ok) return state;
  for (const decision of state.value.decisions) {
    if (!Object.hasOwn(answers, decision.id)) continue;
    const body = verdictOf(decision, Filled.safeParse(answers[decision.id]).data);
    const params = { id: conversation, decision: decision.id };
    const made = body === undefined ? undefined : await client.call("decide", { params, body });
    if (made?.ok !== true && made?.failure.code !== "decision_already_made") left.add(decision.id);
  }
  return ok(left);
}

/** Undefined: it stays open. Only a clear yes is one. */
function verdictOf({ kind }: Decision, filled: z.infer<typeof Filled> | undefined) {
  if (filled === undefined || filled.action === "cancel") return undefined;
  const { action, content = {} } = filled;
  const { verdict, reason, answer } = content;
  if (kind === "question") {
    if (action === "decline") return undefined;
    return { verdict: "answer" as const, answer: typeof answer === "string" ? answer : "" };
  }
  if (action === "decline") return { verdict: "reject" as const };
  if (kind === "elicitation") return { verdict: "answer" as const, answer: JSON.stringify(content) };
  if (verdict === "approve") return { verdict: "approve" as const };
  if (verdict !== "reject") return undefined;
  return { verdict: "reject" as const, ...(typeof reason === "string" && reason !== "" && { reason }) };
}
