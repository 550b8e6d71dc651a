import { partly, type Some } from "../../../test/world/partly.ts";
import { localOwner } from "../../protocol/ids.ts";
import type { RouteName } from "../../protocol/routes.ts";
import type { Call, Parts } from "../handler.ts";

/** Of all that handlers work with, what the one that is tested needs. */
export const partsWith = (own: Some<Parts>): Parts => partly<Parts>(own);

const never = new AbortController().signal;

/** A request as its handler gets it. */
export function asked<N extends RouteName>(_: N, of: Some<Call<N>>): Call<N> {
  const usual: Some<Call<RouteName>> = {
    ...{ params: {}, query: {}, body: {}, owner: localOwner, actsAs: undefined, once: undefined, language: "en" },
    ...{ caller: { signedIn: undefined, scopes: ["chat", "files", "admin"] }, header: () => undefined },
    ...{ isLocal: false, requestId: "r", lastEventId: undefined },
    ...{ signal: never, gone: never, closing: never, leaving: never },
  };
  return { ...usual, ...of } as Call<N>;
}
