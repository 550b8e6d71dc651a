/** What is wrong with one value of a request, or of a file; it stands behind the name of its field. */
export const enFaults = {
  /** Of a file as a whole; `said` is what the system, or the reader of JSON, says. */
  noFile: () => "there is no such file",
  unreadable: (p: { said: string }) => `it cannot be read (${p.said})`,
  noJson: (p: { said: string }) => `it is not JSON (${p.said})`,
  missing: () => "missing",
  type: (p: { type: ValueType }) => `must be ${types[p.type]}`,
  choice: (p: { values: string }) => `must be one of ${p.values}`,
  tooLong: (p: { max: string }) => `must have no more than ${p.max} characters`,
  tooShort: (p: { min: string }) => (p.min === "1" ? "must not be empty" : `must have at least ${p.min} characters`),
  tooMany: (p: { max: string }) => `must have no more than ${p.max} entries`,
  tooFew: (p: { min: string }) => (p.min === "1" ? "must not be empty" : `must have at least ${p.min} entries`),
  tooBig: (p: { max: string }) => `must not be more than ${p.max}`,
  tooSmall: (p: { min: string }) => `must not be less than ${p.min}`,
  form: () => "does not have the form that is needed",
  unknown: (p: { keys: string }) => `has what is not known: ${p.keys}`,
  other: () => "does not fit",
};

export type FaultWords = typeof enFaults;
export type ValueType = "text" | "number" | "whole" | "flag" | "list" | "object" | "other";
const types: Readonly<Record<ValueType, string>> = {
  text: "a text",
  number: "a number",
  whole: "a whole number",
  flag: "true or false",
  list: "a list",
  object: "an object",
  other: "of another type",
};
