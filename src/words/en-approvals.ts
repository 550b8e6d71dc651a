/** What is said about the rules for decisions. `found` goes on after “Reason:”, so it begins with a small letter. */
export const enApprovals = {
  found: {
    delete: (p: { what: string }) => `deletes something outside temp/: ${p.what}`,
    change_upload: (p: { what: string }) => `writes into uploads/: ${p.what}`,
    secret: (p: { what: string }) => `a password or key stands in it: ${p.what}`,
    credentials: (p: { what: string }) => `reads passwords or keys: ${p.what}`,
    database: (p: { what: string }) => `removes data from a database: ${p.what}`,
    network: (p: { what: string }) => `talks to the network: ${p.what}`,
    packages: (p: { what: string }) => `installs packages: ${p.what}`,
    privilege: (p: { what: string }) => `raises privileges or leaves its surroundings: ${p.what}`,
    run_unseen: (p: { what: string }) => `runs text that nobody has seen: ${p.what}`,
    unreadable: (p: { what: string }) => `which command runs cannot be told from the text: ${p.what}`,
    not_safe: (p: { what: string }) => `is not on the list of safe commands: ${p.what}`,
    lasting: (p: { what: string }) =>
      `keeps something for later conversations after reading text from outside: ${p.what}`,
    mcp: (p: { what: string }) =>
      `may change something through an MCP server, after text from outside was read: ${p.what}`,
    checker_broke: (p: { what: string }) => `a checker broke down and gave no answer: ${p.what}`,
    checker_slow: (p: { what: string }) => `a checker took too long and gave no answer: ${p.what}`,
    checker_unclear: (p: { what: string }) =>
      `a checker answered something else than undefined or { action, risk, reason }: ${p.what}`,
    rule: (p: { what: string }) => `a rule of this installation is about it: ${p.what}`,
  },
  verdict: {
    nothing: () => "nothing asks for a decision",
    allowed: (p: { source: string }) => (p.source === "" ? "it is allowed" : `it is allowed by ${p.source}`),
    more: (p: { count: number }) => `and ${p.count} more`,
  },
  checker: {
    noDefinition: () => "its default export is not { tool, check }",
  },
};

/** `agentyard approvals`. */
export const enApprovalsCommand = {
  usage: {
    actionUnknown: (p: { value: string; known: string }) => `approvals cannot do “${p.value}”; use one of: ${p.known}`,
    testNeeds: () =>
      `approvals test needs a tool and its arguments, such as: agentyard approvals test run_bash_command '{"command":"ls"}'`,
    revokeNeeds: () => "approvals revoke needs the id of a rule; `agentyard approvals rules` lists them",
    factsUnfit: (p: { file: string; why: string }) =>
      `${p.file} is not a file of facts: ${p.why}; write {"contained": true, "network": false, "tainted": false}`,
  },
  verdict: { allow: "✓ Goes without asking", ask: "? Asks a person", deny: "✗ Is never run" },
  risk: (p: { risk: string }) => `Risk: ${p.risk}`,
  layer: {
    checker: "a checker of this installation",
    global: "the patterns for all tools",
    tool: "the rules of this tool",
    default: "what holds by default",
    always: "a rule that you stored",
  },
  saidBy: (p: { layer: string }) => `Said by: ${p.layer}`,
  reason: (p: { reason: string }) => `Reason: ${p.reason}`,
  source: (p: { source: string }) => `(${p.source})`,
  nothing: "nothing asks for a decision",
  rulesHint: () => "`agentyard approvals revoke ID` revokes one.",
  listHint: () => "Start `agentyard` and type /inbox to answer.",
};

export type ApprovalWords = typeof enApprovals;
export type ApprovalCommandWords = typeof enApprovalsCommand;
