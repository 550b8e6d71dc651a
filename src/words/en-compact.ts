/** What the terminal says about the model's window. */
export const enCompact = {
  making: () => "making room: older messages are being summed up …",
  done: (p: Compaction) =>
    p.strategy === "trim"
      ? `✂ Old results were shortened${sizes(p)}`
      : `✂ Context compacted: ${p.messagesBefore} → ${p.messagesAfter} messages${sizes(p)}`,
  because: {
    error: "no summary: the model failed",
    empty: "no summary: the model said nothing",
    too_long: "no summary: the model wrote too much",
    refused: "no summary: the model did not write one",
    off: "no summary: the demo model makes none",
    budget: "no summary: the budget does not allow it",
  },
  comma: ", ",
  cut: (p: { left: number; all: number }) =>
    `! Your message was too long for the model: about ${p.left} of its ${p.all} characters are left out. Send a long text as a file: #PATH`,
  window: (p: { model: string; tokens: number }) =>
    `! ${p.model} refused this as too long: its window is taken for ${p.tokens} tokens from now on.`,
  kept: (p: { what: string }) => `kept word for word: ${p.what}`,
  kinds: {
    request: () => "the request",
    standing: (count: number) => (count === 1 ? "1 instruction" : `${count} instructions`),
    said: (count: number) => (count === 1 ? "1 message of yours" : `${count} messages of yours`),
    todos: (count: number) => (count === 1 ? "1 to-do" : `${count} to-dos`),
    open: (count: number) => (count === 1 ? "1 open decision" : `${count} open decisions`),
    decided: (count: number) => (count === 1 ? "1 decision" : `${count} decisions`),
    files: (count: number) => (count === 1 ? "1 file" : `${count} files`),
  },
  hint: () => "/compact show prints what stands for the older messages · /compact undo sends them again",
  nothing: (p: { messages: number }) => `Nothing to do: ${p.messages} messages, and none that could be left out.`,
  noSummary: () => "✗ The model made no usable summary, so nothing was left out. Try again, or choose another model.",
  notYet: () => "Nothing is left out of this conversation.",
  undone: () => "✓ The older messages are sent again",
};

type Compaction = {
  readonly strategy: string;
  readonly messagesBefore: number;
  readonly messagesAfter: number;
  readonly tokensBefore?: number | undefined;
  readonly tokensAfter?: number | undefined;
};

function sizes({ tokensBefore, tokensAfter }: Compaction): string {
  return tokensBefore === undefined || tokensAfter === undefined
    ? ""
    : `, about ${tokensBefore} → ${tokensAfter} tokens`;
}
