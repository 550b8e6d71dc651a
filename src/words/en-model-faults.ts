/** What may be the matter with a model's answer where its server did not say so itself. */
export type ModelFault =
  | "silent"
  | "closed"
  | "garbled"
  | "cancelled"
  | "broken_off"
  | "no_choice"
  | "not_json"
  | "foreign"
  | "too_long"
  | "too_many_calls"
  | "redirected"
  | "unsendable"
  | "no_vectors";

/** `said`: what the server or the system says, in its own words. A log of before there were causes has ours there, too. */
export type ModelTrouble = { model: string; server: string; said: string; because?: ModelFault };

const reach = "Check the base URL, the network and that the server runs; then send the message again.";
const again = "Send the message again; if it stays so, choose another model with /model.";
const less = "Ask for less at once, or choose another model with /model.";

/** `what` follows the name of the server. */
const modelFaults: Readonly<Record<ModelFault, { readonly what: string; readonly next: string }>> = {
  silent: { what: "sent nothing for too long", next: reach },
  closed: { what: "closed the connection before its answer was complete", next: reach },
  garbled: { what: "sent compressed data that is broken", next: again },
  cancelled: { what: "had not answered when the call was stopped", next: "Send the message again." },
  broken_off: { what: "broke its answer off because of a failure on its side", next: again },
  no_choice: { what: "sent an answer with nothing in it", next: again },
  not_json: { what: "sent something that is not JSON", next: again },
  foreign: {
    what: "does not answer as the API of a model does",
    next: "Check the base URL (it often ends in /v1), and the wire format if you set one (MODEL_BASIC_API).",
  },
  too_long: { what: "sent an answer that is too long", next: less },
  too_many_calls: { what: "sent an answer that asks for too many tool calls", next: less },
  redirected: {
    what: "sends its callers to another address",
    next: "Set that as the base URL if it is right.",
  },
  unsendable: {
    what: "was not asked: the key or the address has characters that HTTP cannot carry",
    next: "Check the API key and the base URL.",
  },
  no_vectors: {
    what: "sent something other than one vector of numbers for each text",
    next: "Name a model for embeddings, and not one that chats.",
  },
};

/** The cause where we found one; otherwise what is told of such failures. */
export function modelTrouble({ server, said, because }: ModelTrouble, otherwise: [string, string]): [string, string] {
  const fault = because === undefined ? undefined : modelFaults[because];
  return fault === undefined ? otherwise : [`${server} ${fault.what}${said === "" ? "" : ` (${said})`}.`, fault.next];
}
