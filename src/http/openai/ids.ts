/** A function that the agent calls: where the turn stands that waits for its result. */
export type CallPlace = { readonly conversation: string; readonly decision: string };

/** One answer: to a message, or, in the same turn, to the result of a function. */
export type ResponsePlace = {
  readonly conversation: string;
  readonly message: string;
  /** The decision with whose answer it began. */
  readonly since: string | undefined;
};

/**
 * The id of a call as its caller gets it. It tells where the turn waits, so that nothing has to be kept for it, and has
 * at most 40 characters where we made the conversation's id: more are refused by OpenAI when a history moves there.
 */
export function callId({ conversation, decision }: CallPlace): string {
  return `call_${decision}${packedId(conversation)}`;
}

export function readCallId(id: string): CallPlace | undefined {
  const [, decision, packed] = /^call_([0-9a-f]{12})([uc].+)$/.exec(id) ?? [];
  const conversation = packed === undefined ? undefined : unpackedId(packed);
  return decision === undefined || conversation === undefined ? undefined : { conversation, decision };
}

export function responseId({ conversation, message, since = "" }: ResponsePlace): string {
  return `resp_${packedUuid(message)}${since}_${packedId(conversation)}`;
}

export function readResponseId(id: string): ResponsePlace | undefined {
  const [, message, since, packed] = /^resp_([A-Za-z0-9_-]{22})([0-9a-f]{12})?_([uc].+)$/.exec(id) ?? [];
  if (message === undefined || packed === undefined) return undefined;
  const conversation = unpackedId(packed);
  return conversation === undefined ? undefined : { conversation, message: unpackedUuid(message), since };
}

/** Ids that a client chose stay as they are. */
function packedId(conversation: string): string {
  return isUuid.test(conversation) ? `u${packedUuid(conversation)}` : `c${conversation}`;
}

const isUuid = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

function unpackedId(packed: string): string | undefined {
  if (packed.startsWith("c")) return packed.slice(1);
  return /^u[A-Za-z0-9_-]{22}$/.test(packed) ? unpackedUuid(packed.slice(1)) : undefined;
}

function packedUuid(uuid: string): string {
  return Buffer.from(uuid.replaceAll("-", ""), "hex").toString("base64url");
}

function unpackedUuid(packed: string): string {
  const hex = Buffer.from(packed, "base64url").toString("hex");
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join("-");
}
