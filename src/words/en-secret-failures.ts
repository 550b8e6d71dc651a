/** What can go wrong with stored secrets: what happened, and what a person can do. */
export const enSecretFailures = {
  secret_key_unusable: (p: { why: SecretKeyFault }) => [
    secretKeyFaults[p.why]?.what ?? p.why,
    secretKeyFaults[p.why]?.next ?? secretKeyFaults.missing.next,
  ],
  /** `name`: what the secret is for, never what it is. */
  secret_sealed: (p: { name: string; why: "other_key" | "damaged" }) => [
    p.why === "other_key"
      ? `The stored secret ${p.name} was sealed under another key than the one that is here.`
      : `The stored secret ${p.name} is damaged.`,
    p.why === "other_key"
      ? "Put the key back that was used then (AGENTYARD_KEY, or the file `key` of the data directory), or enter the secret anew."
      : "Enter the secret anew.",
  ],
  secret_too_long: (p: { limitBytes: number }) => [
    `The secret is longer than ${p.limitBytes} bytes.`,
    "Check that it is the token or password alone.",
  ],
} satisfies Record<string, (params: never) => [what: string, next: string]>;

/** Why nothing can be sealed or opened. */
export type SecretKeyFault = "missing" | "unreadable" | "unwritable" | "unfit";
const secretKeyFaults: Readonly<Record<SecretKeyFault, { readonly what: string; readonly next: string }>> = {
  missing: {
    what: "Stored secrets cannot be opened: their key is not here.",
    next: "Set AGENTYARD_KEY to it, or put the file `key` back into the data directory; otherwise enter the secrets anew.",
  },
  unreadable: {
    what: "Stored secrets cannot be opened: the file `key` of the data directory cannot be read.",
    next: "Give the user of AgentYard permission to read it, or set AGENTYARD_KEY.",
  },
  unwritable: {
    what: "The secret was not stored: the file `key` cannot be made in the data directory.",
    next: "Free some space or give permission to write there, or set AGENTYARD_KEY.",
  },
  unfit: {
    what: "Stored secrets cannot be opened: the file `key` of the data directory holds no key.",
    next: "Put the right one back; if no secret was stored before, delete the file and a new one is made.",
  },
};
