/**
 * What the strictest of the servers refuses in a chat-completions request, as they say it in their manuals and error
 * messages: OpenAI for pairs and ids, Anthropic for empty text and unique calls, Mistral for the order of roles. A
 * sentence for each problem; empty is good.
 */
export function validateRequest(body: unknown): string[] {
  if (!isRecord(body)) return ["the body is not an object"];
  const { messages, tools } = body;
  const problems = [...strayHalves(body, ""), ...toolProblems(body)];
  if (!Array.isArray(messages) || messages.length === 0) return [...problems, "there are no messages"];
  for (const [index, message] of messages.entries()) {
    const place = `messages[${index}]`;
    if (!isRecord(message)) problems.push(`${place}: not an object`);
    else problems.push(...messageProblems(message).map((problem) => `${place}: ${problem}`));
  }
  const sound = messages.filter(isRecord);
  if (tools === undefined && sound.some(({ tool_calls: calls }) => calls !== undefined))
    problems.push("the history has calls, and there are no tools");
  return [...problems, ...orderProblems(sound), ...pairProblems(sound), ...repeatedIds(sound)];
}

type Loose = Readonly<Record<string, unknown>>;

/** Half a character, wherever it stands. */
function strayHalves(value: unknown, place: string): string[] {
  if (typeof value === "string") return value.isWellFormed() ? [] : [`${place}: half a character`];
  if (Array.isArray(value)) return value.flatMap((member, index) => strayHalves(member, `${place}[${index}]`));
  if (!isRecord(value)) return [];
  return Object.entries(value).flatMap(([key, member]) => [
    ...(key.isWellFormed() ? [] : [`${place}: half a character in a name`]),
    ...strayHalves(member, place === "" ? key : `${place}.${key}`),
  ]);
}

const toolsMax = 128;
const toolName = /^[a-zA-Z_][a-zA-Z0-9_-]{0,63}$/;

function toolProblems({ tools, tool_choice: choice, parallel_tool_calls: parallel }: Loose): string[] {
  if (tools === undefined) {
    const isChosen = choice !== undefined || parallel !== undefined;
    return isChosen ? ["a choice of tools, and there are no tools"] : [];
  }
  if (!Array.isArray(tools) || tools.length === 0) return ["tools: not a list with something in it"];
  const described = tools.map((tool) => (isRecord(tool) && isRecord(tool.function) ? tool.function : {}));
  const names = described.map(({ name }) => name);
  return [
    ...(tools.length > toolsMax ? [`tools: ${tools.length}, more than ${toolsMax}`] : []),
    ...(new Set(names).size < names.length ? ["tools: two have the same name"] : []),
    ...described.flatMap(({ name, parameters }, index) => [
      ...(isName(name) ? [] : [`tools[${index}]: a bad name`]),
      ...(isRecord(parameters) && parameters.type === "object" ? [] : [`tools[${index}]: parameters are no object`]),
    ]),
  ];
}

function messageProblems(message: Loose): string[] {
  switch (message.role) {
    case "system":
    case "developer":
      return [...strangers(message, []), ...textProblems(message.content)];
    case "user":
      return [...strangers(message, []), ...userProblems(message.content)];
    case "assistant":
      return [...strangers(message, ["tool_calls", "refusal"]), ...assistantProblems(message)];
    case "tool":
      return [
        ...strangers(message, ["tool_call_id"]),
        ...textProblems(message.content),
        ...(isText(message.tool_call_id) ? [] : ["a result without the id of its call"]),
      ];
    default:
      return [`no such role: ${String(message.role)}`];
  }
}

function strangers(message: Loose, own: readonly string[]): string[] {
  const known = ["role", "content", "name", ...own];
  const unknown = Object.keys(message).filter((key) => !known.includes(key));
  return unknown.map((key) => `a field that is not known here: ${key}`);
}

function textProblems(content: unknown): string[] {
  if (typeof content === "string") return isText(content) ? [] : ["empty content"];
  if (!Array.isArray(content)) return ["content is no text"];
  if (content.length === 0) return ["empty content"];
  const isFine = content.every((part) => isRecord(part) && part.type === "text" && isText(part.text));
  return isFine ? [] : ["a part that is empty or no text"];
}

function userProblems(content: unknown): string[] {
  if (!Array.isArray(content)) return textProblems(content);
  if (content.length === 0) return ["empty content"];
  return content.flatMap((part) => {
    if (!isRecord(part)) return ["a part that is no object"];
    if (part.type === "text") return isText(part.text) ? [] : ["an empty part"];
    if (part.type !== "image_url") return [`no such part: ${String(part.type)}`];
    const url = isRecord(part.image_url) ? part.image_url.url : undefined;
    return isImage(url) ? [] : ["an image that is not well-formed"];
  });
}

const image = /^data:image\/(?:png|jpeg|gif|webp);base64,([A-Za-z0-9+/]+={0,2})$/;

function isImage(url: unknown): boolean {
  if (typeof url !== "string") return false;
  if (url.startsWith("https://")) return URL.canParse(url);
  const data = image.exec(url)?.[1];
  return data !== undefined && data.length % 4 === 0;
}

function assistantProblems({ content, tool_calls: calls }: Loose): string[] {
  if (calls === undefined) return textProblems(content);
  if (!Array.isArray(calls) || calls.length === 0) return ["tool_calls: not a list with something in it"];
  const isSilent = content === undefined || content === null || content === "";
  return [...(isSilent ? [] : textProblems(content)), ...calls.flatMap(callProblems)];
}

const idCharactersMax = 40;

function callProblems(call: unknown): string[] {
  if (!isRecord(call) || !isRecord(call.function)) return ["a call that is no object"];
  const { id, type } = call;
  const { name, arguments: written } = call.function;
  return [
    ...(isText(id) && id.length <= idCharactersMax ? [] : ["a call without a usable id"]),
    ...(type === "function" ? [] : [`no such call: ${String(type)}`]),
    ...(isName(name) ? [] : ["a call with a bad name"]),
    ...(isObjectText(written) ? [] : ["arguments are not the text of an object"]),
  ];
}

function orderProblems(messages: readonly Loose[]): string[] {
  const isSystem = ({ role }: Loose) => role === "system" || role === "developer";
  const late = messages.flatMap((message, index) =>
    index > 0 && isSystem(message) ? [`messages[${index}]: a system message that is not the first`] : [],
  );
  const first = messages.find((message) => !isSystem(message))?.role;
  const last = messages.at(-1)?.role;
  return [
    ...late,
    ...(first === "user" ? [] : [`the first message is not the user's: ${String(first)}`]),
    ...(last === "user" || last === "tool" ? [] : [`the last message is neither the user's nor a result: ${last}`]),
  ];
}

/** Every call is answered once, before anything else is said, and nothing is answered that was not asked. */
function pairProblems(messages: readonly Loose[]): string[] {
  const problems: string[] = [];
  let open: unknown[] = [];
  const close = (place: string) => {
    for (const id of open) problems.push(`${place}: call ${String(id)} was not answered before`);
    open = [];
  };
  for (const [index, message] of messages.entries()) {
    const place = `messages[${index}]`;
    if (message.role !== "tool") {
      close(place);
      open = callsOf(message).map(({ id }) => id);
      continue;
    }
    const answered = open.indexOf(message.tool_call_id);
    if (answered < 0) problems.push(`${place}: a result without its call directly before it`);
    else open.splice(answered, 1);
  }
  close("the end");
  return problems;
}

function repeatedIds(messages: readonly Loose[]): string[] {
  const seen = new Set<string>();
  const repeated = new Set<string>();
  for (const { id } of messages.flatMap(callsOf)) (seen.has(String(id)) ? repeated : seen).add(String(id));
  return [...repeated].map((id) => `two calls have the id ${id}`);
}

function callsOf({ role, tool_calls: calls }: Loose): Loose[] {
  return role === "assistant" && Array.isArray(calls) ? calls.filter(isRecord) : [];
}

function isName(value: unknown): boolean {
  return typeof value === "string" && toolName.test(value);
}

/** Blanks alone are refused like nothing. */
function isText(value: unknown): value is string {
  return typeof value === "string" && value.trim() !== "";
}

function isObjectText(value: unknown): boolean {
  if (typeof value !== "string") return false;
  try {
    return isRecord(JSON.parse(value));
  } catch {
    return false;
  }
}

function isRecord(value: unknown): value is Loose {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
