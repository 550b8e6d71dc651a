/** What people are asked before something runs, what they can say, and what they allowed always. */
export const enDecisions = {
  approval: (p: { tool: string }) => `? Approval needed: ${p.tool}`,
  question: (p: { question: string }) => `? ${p.question}`,
  asker: (p: { path: string }) => `Asked by: ${p.path}`,
  risk: (p: { risk: string }) => `Risk: ${p.risk}`,
  riskLevel: { low: "low", medium: "medium", high: "high", critical: "critical" },
  reason: (p: { reason: string; source: string | undefined }) =>
    `Reason: ${p.reason}${p.source === undefined ? "" : ` (${p.source})`}`,
  default: (p: { value: string }) => `Enter alone answers: ${p.value}`,
  left: (p: { lines: number }) =>
    p.lines === 1 ? "… 1 line is left out here …" : `… ${p.lines} lines are left out here …`,
  cut: (p: { characters: number }) => `… (${p.characters} more characters of this line are not shown)`,
  raised: () => "Riskier than usual: this conversation has read text from outside.",
  equal: (p: { count: number }) =>
    p.count === 1 ? "One more request is the same." : `${p.count} more requests are the same.`,
  choices: (p: { offersRule: boolean; equal: number; hasWhole: boolean }) =>
    [
      "[y] approve  [n] reject  [e] edit  ",
      p.hasWhole ? "[v] show all of it  " : "",
      p.offersRule ? "[a] always  " : "",
      p.equal > 0 ? `[s] approve all ${p.equal + 1}  [x] reject all ${p.equal + 1}  ` : "",
      "[l] later ",
    ].join(""),
  lineHelp: (p: { offersRule: boolean; equal: number }) =>
    [
      "Answer y, n REASON, or e ARGUMENTS_JSON",
      p.offersRule ? "; a lists what can be allowed always, a NUMBER allows it" : "",
      p.equal > 0 ? "; s or x REASON for all that are the same" : "",
      ".",
    ].join(""),
  rejectReason: () => "Reason (Enter: none)> ",
  edit: () => "Arguments> ",
  editAgain: () => "Nothing was run; e opens what you wrote again.",
  editCommand: () => "Command> ",
  answer: () => "Answer (Esc: later)> ",
  answerNeeded: () => "An answer is needed here.",
  alwaysTitle: () => "Allow from now on without asking:",
  alwaysOption: (p: { number: number; rule: string; scope: string }) => `  ${p.number}. ${p.rule} · ${p.scope}`,
  alwaysWhich: () => "Which one? (Esc: back) ",
  alwaysLine: () => "a and the number allows one; y approves this call alone.",
  noSuchRule: (p: { number: string; count: number }) =>
    `There is no rule “${p.number}” here; choose one of 1 to ${p.count}.`,
  approved: () => "✓ Approved",
  rejected: () => "✓ Rejected",
  edited: () => "✓ Approved with these arguments",
  answered: () => "✓ Answered",
  allowed: (p: { rule: string; scope: string }) =>
    `✓ Approved, and allowed always: ${p.rule} · ${p.scope}; /rules revokes it`,
  also: (p: { count: number }) =>
    p.count === 1
      ? "  One more that waited is answered with it."
      : `  ${p.count} more that waited are answered with it.`,
  later: (p: { count: number }) =>
    `Left open; /inbox answers it later. The turn waits for ${p.count === 1 ? "it" : `${p.count} decisions`}.`,
  elsewhere: (p: { what: string }) => `Decided elsewhere: ${p.what}`,
  byRule: (p: { tool: string; id: string }) => `✓ ${p.tool}: allowed always by rule ${p.id}`,
  verdict: { approve: "approved", reject: "rejected", edit: "approved with other arguments", answer: "answered" },
  inboxEmpty: () => "Nothing waits for a decision.",
  inboxHint: () => "/inbox N opens one.",
  inboxEntry: (p: { number: number; what: string; conversation: string; title: string; at: string }) =>
    `  ${p.number}. ${p.what}  [${p.conversation} ${p.title}] ${p.at}`,
  wait: (p: { count: number }) =>
    p.count === 1
      ? "1 decision waits for you; /inbox shows it."
      : `${p.count} decisions wait for you; /inbox shows them.`,
  waitsThere: (p: { id: string; count: number }) =>
    `Its conversation waits for ${p.count === 1 ? "one more decision" : `${p.count} more decisions`}; /inbox shows what, /load ${p.id} opens it.`,
  goesOn: (p: { id: string }) => `Its conversation goes on; /load ${p.id} opens it.`,
  rule: {
    call: (p: { shown: string }) => `exactly ${p.shown}`,
    here: "in this conversation",
    there: (p: { id: string }) => `in conversation ${p.id}`,
    everywhere: "in all your conversations",
    entry: (p: { id: string; tool: string; rule: string; scope: string; at: string }) =>
      `  ${p.id}  ${p.tool}: ${p.rule} · ${p.scope}  ${p.at}`,
    none: () => "Nothing is allowed always.",
    hint: () => "/rules revoke ID revokes one.",
    revokeWhat: () => "✗ Which one? /rules revoke and the id of a rule; /rules lists them.",
    revoked: (p: { id: string }) => `✓ Rule ${p.id} is revoked; from now on you are asked again`,
    usage: (p: { word: string }) => `✗ /rules cannot do “${p.word}”. Use: /rules or /rules revoke ID`,
  },
};
export type DecisionWords = typeof enDecisions;
