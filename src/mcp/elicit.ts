import type { ElicitRequest, ElicitResult } from "@modelcontextprotocol/client";
import type { FormField } from "../protocol/form.ts";
import type { FormAsked, ToolContext } from "../tools/tools.ts";
import { forModels } from "../words/words.ts";

/** What a server asks a person, put to whoever's call it belongs to. */
export async function askFor(
  { params }: ElicitRequest,
  server: string,
  { askForm }: Pick<ToolContext, "askForm">,
): Promise<ElicitResult> {
  const answer = await askForm(formOf(params, server));
  if (answer.action !== "accept") return { action: answer.action };
  const content = Object.fromEntries(
    Object.entries(answer.content).map(([name, value]) => [name, typeof value === "object" ? [...value] : value]),
  );
  return params.mode === "url" ? { action: "accept" } : { action: "accept", content };
}

const fieldsMax = 50;
const textMax = 2_000;

function formOf(params: ElicitRequest["params"], server: string): FormAsked {
  const question = forModels.mcp.asks(server, cut(params.message));
  if (params.mode === "url") return { question, context: forModels.mcp.openLink(cut(params.url)), fields: [] };
  const { properties, required = [] } = params.requestedSchema;
  const fields = Object.entries(properties)
    .slice(0, fieldsMax)
    .map(([name, schema]) => fieldOf(name, schema, required.includes(name)));
  return { question, context: fields.map(lineOf).join("\n"), fields };
}

/** Any of the few forms that a field may have; read by what stands in it, for servers have written them in several ways. */
type Schema = Readonly<Record<string, unknown>>;

function fieldOf(name: string, schema: Schema, required: boolean): FormField {
  const { title, description, type, default: usual } = schema;
  const choices = choicesOf(schema) ?? choicesOf(recordOf(schema.items));
  const kind = choices === undefined ? kinds[String(type)] : type === "array" ? "choices" : "choice";
  const typed = Array.isArray(usual) ? usual.join(", ") : usual === undefined || usual === null ? "" : String(usual);
  return {
    ...{ name, required, kind: kind ?? "text" },
    ...(typeof title === "string" && { title: cut(title) }),
    ...(typeof description === "string" && { description: cut(description) }),
    ...(choices !== undefined && { choices }),
    ...(typed !== "" && { default: cut(typed) }),
  };
}

const kinds: Readonly<Record<string, FormField["kind"]>> = {
  ...{ string: "text", number: "number", integer: "integer", boolean: "boolean" },
};

function choicesOf(schema: Schema): FormField["choices"] | undefined {
  const { enum: values, enumNames: names, oneOf, anyOf } = schema;
  const titled = Array.isArray(oneOf) ? oneOf : Array.isArray(anyOf) ? anyOf : undefined;
  if (titled !== undefined)
    return titled.map(recordOf).map((one) => ({ value: String(one.const), title: String(one.title ?? one.const) }));
  if (!Array.isArray(values)) return undefined;
  return values.map((value, index) => ({
    value: String(value),
    title: String((Array.isArray(names) ? names[index] : undefined) ?? value),
  }));
}

/** `name (whole number, required): What it is for. [a, b]` */
function lineOf({ name, title, description, kind, required, choices, default: usual }: FormField): string {
  const about = [title, description].filter(Boolean).join(". ");
  const listed = choices
    ?.map((one) => (one.title === one.value ? one.value : `${one.value} = ${one.title}`))
    .join(", ");
  return forModels.mcp.field({ name, kind, required, about, choices: listed, default: usual });
}

function recordOf(value: unknown): Schema {
  return typeof value === "object" && value !== null ? { ...value } : {};
}

function cut(text: string): string {
  return text.slice(0, textMax).toWellFormed();
}
