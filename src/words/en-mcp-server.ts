type UnsearchedFile = {
  readonly path: string;
  readonly state: "waiting" | "reading" | "failed";
  readonly code?: string | undefined;
};

/** What the users of other software read of a yard that they use from there. */
export const enMcpServer = {
  goesOn: () => "still at work",
  thinks: (p: { step: number }) => `step ${p.step}`,
  calls: (p: { tool: string }) => `calls ${p.tool}`,
  asks: () => "waits for a decision",
  verdict: () => "Decision",
  approve: () => "Approve",
  reject: () => "Reject",
  reason: () => "Reason",
  reasonAbout: () => "If you reject it: what the agent should know",
  answer: () => "Answer",
  howToDecide: () =>
    "A person decides it: with /inbox in the terminal (`agentyard`), or over HTTP (POST /api/v1/conversations/ID/decisions/DECISION). A question can be answered with answer_question, too. Then wait_for_answer.",
  notPassedOn: () =>
    "What was filled in has not reached the agent, which still waits for it. Do not send the message again.",
  forPeople: () =>
    "Whether this call may be made is for a person to decide, not for other software: with /inbox in the terminal (`agentyard`), or over HTTP.",
  running: () => "The turn goes on. Get its answer with wait_for_answer.",
  nothingSaid: () => "Nothing was said in this conversation yet.",
  noConversations: () => "There are no conversations yet. Start one with send_message.",
  unsearched: ({ path, state, code = "" }: UnsearchedFile) =>
    state === "failed"
      ? `${path} could not be searched (${code}): docs/api/failures.md says what to do about it.`
      : `${path} is still being indexed: search again in a moment.`,
  page: (page: number) => `page ${page}`,
  slide: (slide: number) => `slide ${slide}`,
  nothingFound: () => "Nothing was found. Try other words, or fewer of them.",
  noFiles: () => "There are no files here.",
  outcome: {
    done: "Done.",
    failed: "The turn failed.",
    cancelled: "The turn was stopped.",
    limit: "The turn was ended at one of its limits. Send another message to go on.",
    crashed: "The turn broke off again and again, and was given up. Send another message to go on.",
  },
  place: (p: { conversation: string; status: string }) => `conversation: ${p.conversation} · status: ${p.status}`,
  moreLines: (p: { next: number }) => `… The file goes on: read it with offset ${p.next}.`,
  noBase64: () => "The content is no base64. Send it again with letters, digits, + and / alone, or as text in utf-8.",
  notShown: (p: { path: string; size: string }) =>
    `${p.path} (${p.size}) is no text that can be shown here. Read it as a resource.`,
  tooLarge: (p: { path: string; size: string; max: string }) =>
    `${p.path} has ${p.size}, and a resource may have ${p.max}. Read it in parts with read_file, or download it over HTTP (GET /api/v1/conversations/ID/files/content).`,
  programGoesOn: (p: { id: string }) => `The program (${p.id}) goes on.`,
  batchTooLong: (p: { max: number }) => `Invalid Request: send at most ${p.max} messages at once`,
  /** On standard error, for whoever typed it: the protocol has standard output. */
  typed: () =>
    "This is an MCP server for other software: it reads JSON from standard input. Ctrl+C ends it; docs/use/mcp.md tells how to connect an IDE.",
};
