/** What a caller's wishes become where no model can be made to follow them. */
export const callersForModels = {
  mustCall: "Call one of the functions of the caller before you answer.",
  mustCallThis: (name: string) => `Call the function ${name} of the caller before you answer.`,
  jsonOnly: "Answer with one JSON object and nothing else: no words before or after it, no code fence.",
  fitsSchema: (schema: string) =>
    `Your last answer must be JSON that fits this JSON Schema, and nothing else: no words before or after it, no code fence.\n\n${schema}`,
  notFitting: (why: string) =>
    `That answer does not fit the JSON Schema: ${why}. Answer again with the JSON alone, so that it fits.`,
};
