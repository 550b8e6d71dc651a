/** What the demo model says. */
export const enDemo = {
  introduction:
    "I am AgentYard's demo model: a small program with fixed rules, not an AI. I do not think, but the tools I call are real.",
  greeting: "Hello!",
  about:
    "I am here so that you can see AgentYard at work before you connect a model. My answers come from a short table of rules; conversations, tools and questions are real.",
  abilitiesHead: "You can say to me:",
  abilities: [
    ["what time is it", "I look at the clock with the tool `now`"],
    ["plan a birthday party", "I write a list with `todo_write`"],
    ["show my list", "I read it with `todo_read`"],
    ["do two things at once", "I call two tools side by side"],
    ["ask me something", "I ask you a question and go on with your answer"],
    ["connect a model", "I tell you how to put a real model in my place"],
  ] as readonly (readonly [say: string, then: string])[],
  ability: (say: string, then: string) => `- “${say}”: ${then}`,
  noRule: "I have no rule for that; it takes a real model to answer it.",
  connectShort:
    "To connect a real model, put `OPENAI_API_KEY=…` into the file `.env`, or `MODEL_BASIC_BASE_URL=…` and `MODEL_BASIC_ID=…` for a local server, and start AgentYard again. Say “connect a model” for the exact lines.",

  connectHead: "To connect a real model, put one of these blocks into the file `.env` and start AgentYard again.",
  foundHead: "Found on this machine:",
  found: (model: string, server: string, tokens: number | undefined, tools: boolean | undefined) =>
    `${model} on ${server} (window: ${tokens === undefined ? "not told" : `${count(tokens)} tokens`}, tools: ${tools === undefined ? "not told" : tools ? "yes" : "no"})`,
  openAiHead: "OpenAI:",
  compatibleHead: "Any other server with an OpenAI-compatible API:",
  localHead: "A local server needs no key, for example Ollama:",

  time: (now: string) => `It is ${now}.`,
  planTopic: "this",
  planSteps: (topic: string) => [
    `Write down what “${topic}” should lead to`,
    `List what is needed for “${topic}”, and who does it`,
    "Set a date and check the result",
  ],
  planned: (topic: string, steps: string) =>
    `I wrote a list for “${topic}”:\n\n${steps}\n\nIt is always the same three steps; a real model would fit them to the task. “Show my list” reads it again.`,
  list: (lines: string) => `This is your list:\n\n${lines}`,
  together: (now: string, list: string) =>
    `Both tools ran side by side.\n\n- \`now\`: ${now}\n- \`todo_read\`:\n\n${list}`,
  question: "What shall I call you?",
  questionContext: "The demo model asks so that you see how a question looks. Any answer will do.",
  questionDefault: "friend",
  answered: (answer: string) => `Good to meet you, ${answer}. A real model would remember that and go on from there.`,

  toolNotThere: (tool: string) => `For that I would call the tool \`${tool}\`, which I may not use here.`,
  called: (tool: string, result: string) => `- \`${tool}\`: ${result}`,
  declined: (tool: string) => `- You declined \`${tool}\`, so I left it.`,
  failed: (tool: string, why: string) => `- \`${tool}\` did not work: ${why}`,
};

function count(tokens: number): string {
  return tokens.toLocaleString("en-US");
}
