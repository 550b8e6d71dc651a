/** What callers read in the place of an answer, and their people with them. */
export const enCallers = {
  waits: (p: { count: number }) =>
    p.count === 1 ? "The agent waits for a decision:" : `The agent waits for ${p.count} decisions:`,
  approval: (p: { tool: string; arguments: string }) => `May it call ${p.tool} with ${p.arguments}?`,
  /** One line. */
  how: () =>
    'Answer with /inbox in the terminal, or send {"verdict": "approve"}, {"verdict": "reject"} or {"verdict": "answer", "answer": "…"} there. Then go on here.',
};
