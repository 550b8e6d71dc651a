const count = (tokens: number) => tokens.toLocaleString("en-US");

export const enFirstRun = {
  title: "To a first answer",
  about: "Two steps: choose who answers, then give a first task. Everything stays on this server.",
  greeting: "What shall be done?",
  demoAnswers: "The demo model answers: a small program with fixed rules, not an AI. Its tools are real.",
  modelAnswers: (p: { model: string; server: string }) => `${p.model} on ${p.server} answers.`,
  connect: "Connect a model",
  stepModel: "1. A model",
  looking: "Looking for models on this machine…",
  demoNow: "Right now the demo model answers: fixed rules, not an AI. It needs no key, and you can start with it.",
  modelNow: (p: { model: string; server: string }) => `${p.model} on ${p.server} answers.`,
  noneFound: "No model server was found on this machine (Ollama, LM Studio, llama.cpp, vLLM).",
  lookAgain: "Look again",
  foundOn: (p: { kind: string; baseUrl: string; windowTokens: number | undefined; tools: boolean | undefined }) =>
    [
      `${p.kind} at ${p.baseUrl}`,
      p.windowTokens === undefined ? "window not told" : `window ${count(p.windowTokens)} tokens`,
      p.tools === undefined ? "tools not told" : p.tools ? "tools: yes" : "tools: no",
    ].join(" · "),
  useThis: "Use this one",
  withKey: "A provider, with a key",
  onlyAdmin: "Models are entered by an admin; ask one.",
  stepTry: "2. A first task",
  tryAbout: "On small files that come along. Each takes less than a minute.",
  toEmptyChat: "Or begin with an empty conversation",
  examplesTitle: "Examples",
  starting: "Starting…",
  examples: {
    chart: {
      title: "Turn a table into charts",
      about: "sales.csv: a year of a tea shop",
      message: "#sales.csv",
    },
    search: {
      title: "Search documents",
      about: "two handbooks, English and Chinese",
      message: "Search my files for annual leave",
    },
    approval: {
      title: "See how agents ask first",
      about: "deleting notes.txt needs your approval",
      message: "delete notes.txt",
    },
  },
};
