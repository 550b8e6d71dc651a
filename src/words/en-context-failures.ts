/** What can go wrong with the window, with decisions and with what is remembered. */
export const enContextFailures = {
  context_exhausted: (p: { used: number; window: number }) => [
    `The conversation does not fit the model's window any more: it still has about ${p.used} tokens after making room, and the window takes ${p.window}.`,
    "Undo the last turn with /undo and send a shorter message, choose a model with a larger window, or start a new conversation: /new.",
  ],
  compaction_off: () => [
    "Making room is switched off.",
    "Set CONTEXT_MANAGEMENT_ENABLED=true (context.management_enabled in agentyard.yaml), or start a new conversation.",
  ],
  compaction_not_found: () => [
    "Nothing is left out of this conversation.",
    "Go on as it is: the model sees all of it.",
  ],
  decision_broken: (p: { id: string }) => [
    `Decision ${p.id} was made about other arguments than these: the call is not run.`,
    "Check the record of decisions with `agentyard doctor`.",
  ],
  rule_not_offered: (p: { option: number }) => [
    `This decision offers no rule number ${p.option}.`,
    "Choose one of those that it lists, or approve it once.",
  ],
  skill_not_found: (p: { skill: string; near: string }) => [
    `There is no skill ${p.skill}.`,
    p.near === "" ? "See those there are with /skills." : `Did you mean ${p.near}? /skills lists all.`,
  ],
  rule_not_found: (p: { id: string }) => [`There is no rule ${p.id}.`, "See what is allowed always with /rules."],
  rules_full: (p: { max: number }) => [
    `You have ${p.max} rules already.`,
    "Revoke those you no longer need with /rules, or approve this call once.",
  ],
  /** What was found is for people in other languages. */
  tool_denied: (p: { tool: string; why: string; kind?: string; what?: string; source?: string }) => [
    `The rules of this installation do not allow ${p.tool}: ${p.why}.`,
    "The operator can change them in hitl_rules.yaml.",
  ],
  checker_broken: (p: { file: string; why: string; because?: "no_definition" }) => [
    `The checker ${p.file} cannot be used: ${p.why}.`,
    "Mend it or take it out of the folder; nothing starts without it, for less would be asked than you meant.",
  ],
  memory_full: (p: { max: number }) => [
    `There is room for ${p.max} memories.`,
    "Forget one that is no longer true with /memory forget, then add this one.",
  ],
  memory_not_found: (p: { id: string }) => [`There is no memory ${p.id}.`, "See all of them with /memory."],
  memory_secret: () => [
    "This looks like a password or a key, and those are not remembered.",
    "Put secrets into .env instead.",
  ],
} satisfies Record<string, (params: never) => [string, string]>;
