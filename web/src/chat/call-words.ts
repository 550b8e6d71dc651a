/** Arguments that say best what a call is about, the telling ones first. */
const tellingNames = ["path", "command", "code", "query", "url", "pattern", "question", "task", "name", "title"];
const shownCharactersMax = 120;

/** What a call is about, in one line; empty where its arguments do not say. */
export function objectOf(json: string): string {
  const parsed = argumentsIn(json);
  if (parsed === undefined) return "";
  const name = tellingNames.find((one) => typeof parsed[one] === "string");
  const value = name === undefined ? Object.values(parsed).find((one) => typeof one === "string") : parsed[name];
  const line =
    String(value ?? "")
      .split("\n")
      .find((one) => one.trim() !== "") ?? "";
  return line.length > shownCharactersMax ? `${line.slice(0, shownCharactersMax)}…` : line;
}

/** The arguments as people read them: texts of several lines as they are, the rest as JSON. */
export function shownArguments(json: string): readonly { readonly name: string; readonly text: string }[] {
  const parsed = argumentsIn(json);
  if (parsed === undefined) return json.trim() === "" ? [] : [{ name: "", text: json }];
  return Object.entries(parsed).map(([name, value]) => ({
    name,
    text: typeof value === "string" ? value : JSON.stringify(value, null, 2),
  }));
}

function argumentsIn(json: string): Readonly<Record<string, unknown>> | undefined {
  try {
    const parsed: unknown = JSON.parse(json);
    return typeof parsed === "object" && parsed !== null ? (parsed as Record<string, unknown>) : undefined;
  } catch {
    return undefined; // A model may write what is no JSON.
  }
}

/** Text from outside stands between marks that are for models. */
export function withoutMarks(text: string): string {
  return text.replaceAll(/^<data source="(?:[^"\\\n]|\\.)*" mark="\w+">\n|\n?<\/data mark="\w+">$/gm, "");
}
