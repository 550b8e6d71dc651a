/** A body that works, by the name of its route; undefined: none was written down. */
export function exampleOf(route: string): unknown {
  return Object.hasOwn(examples, route) ? examples[route] : undefined;
}

const chat = {
  query: "What time is it?",
  conversation_id: "report-7",
  agent_id: "general",
  stream: true,
  inc_stream: true,
};

/** Parameters of a path with which the first try works. */
export const parameterExamples: Readonly<Record<string, string>> = {
  app_key: "general",
  agent_key: "general",
  model: "general",
  version: "latest",
};

/** Checked against the schemas of their routes by a test. */
export const examples: Readonly<Record<string, unknown>> = {
  createConversation: { title: "Report" },
  sendMessage: { text: "What time is it?" },
  decide: { verdict: "approve" },
  chatCompletion: chat,
  debugCompletion: { input: { query: "Hello" }, agent_id: "general", stream: false },
  apiChatCompletion: { ...chat, stream: false },
  resumeChat: { conversation_id: "report-7" },
  terminateChat: { conversation_id: "report-7" },
  createChatConversation: { title: "Report", agent_id: "general" },
  createChatCompletion: { model: "general", messages: [{ role: "user", content: "What time is it?" }], stream: true },
  createResponse: { model: "general", input: "What time is it?" },
  addMemory: { fact: "I live in Hamburg." },
  createSession: { user_id: "ada" },
  execute: { code: "print(6 * 7)", language: "python" },
  executeSync: { code: "print(6 * 7)", language: "python" },
  createToolBox: {
    metadata_type: "openapi",
    box_name: "Weather",
    data: "openapi: 3.1.0\nservers: [{ url: https://api.example.com }]\npaths: { /forecast: { get: { operationId: getForecast } } }",
    credential: { type: "bearer", token: "the service's token" },
  },
  setToolBoxStatus: { status: "published" },
  addBoxTools: { metadata_type: "openapi", tool: { name: "getForecast", path: "/forecast" } },
  invokeTool: { query: { city: "Hamburg" } },
  addUser: { id: "ada", password: "correct horse battery" },
  signIn: { user: "ada", password: "correct horse battery" },
  addKey: { name: "laptop", scopes: ["chat", "files"], days: 90 },
};
