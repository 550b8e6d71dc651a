export const enDecisions = {
  title: "Inbox",
  about: "No approvals waiting. Agents ask here before risky steps.",
};
