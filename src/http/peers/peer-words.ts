/** Where a server says to another one why it did not serve what was handed on to it. */
export const peerHeader = "agentyard-peer";

/** Not at home here; no pass that counts; not open yet, or about to end. */
const words = ["elsewhere", "refused", "not now"] as const;
export type PeerWord = (typeof words)[number];

export function peerWordIn(headers: Headers): PeerWord | undefined {
  return words.find((word) => word === headers.get(peerHeader));
}
