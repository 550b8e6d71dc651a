/** What a text of JSON says. Undefined for a text that is none, and only then: JSON itself knows no undefined. */
export function parsedJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** The same where only an object will do; a list counts as one, as in JavaScript. */
export function parsedObject(text: string): Readonly<Record<string, unknown>> | undefined {
  const parsed = parsedJson(text);
  return typeof parsed === "object" && parsed !== null ? { ...parsed } : undefined;
}
