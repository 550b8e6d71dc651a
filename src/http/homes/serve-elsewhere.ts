import { ok, type Result } from "../../base/result.ts";
import type { HomeKey, Homes } from "../../homes/homes.ts";
import type { Failure } from "../../protocol/failure.ts";
import type { Route } from "../../protocol/route.ts";
import { type RouteName, routes } from "../../protocol/routes.ts";
import type { Elsewhere } from "../bind/bind.ts";
import type { IncomingBytes } from "../bytes.ts";
import { doorOf, type HandOn } from "../door.ts";
import type { Call, Parts } from "../handler.ts";
import { type FindHome, type HomeParts, userKey } from "./find-home.ts";
import { keepForm, orLetGo } from "./form-home.ts";
import { isNamedBeside } from "./named-homes.ts";
import { routeHomes } from "./route-homes.ts";

type ElsewhereParts = HomeParts & Pick<Parts, "sandboxSettings">;

/** Before a call is done: where it is to be done. */
export function openElsewhere(parts: ElsewhereParts, handOn: HandOn, { onBack }: Pick<Homes, "onBack">): Elsewhere {
  let doubt = new AbortController();
  onBack(() => {
    doubt.abort();
    doubt = new AbortController();
  });
  return async (c, name, { call, raw }) => {
    const { passed } = doorOf(c);
    const found = passed === undefined ? await placeOf(parts, name, call) : ok({ ...asItCame(call), key: passed.key });
    if (!found.ok) return found;
    const { key, bytes, close } = found.value;
    const body = raw === undefined ? { stream: bytes.chunks, announced: bytes.announced } : { bytes: raw };
    // Before it is asked whose it is: what is taken from then on is heard of.
    const doubted = key === undefined ? undefined : doubt.signal;
    const response = key === undefined ? undefined : await orLetGo(close, () => handOn(c, key, body));
    if (response === undefined) return ok({ bytes, close, doubted });
    close();
    return ok({ response });
  };
}

type Place = { readonly key: HomeKey | undefined; readonly bytes: IncomingBytes; readonly close: () => void };

async function placeOf<N extends RouteName>(
  parts: ElsewhereParts,
  name: N,
  call: Call<N>,
): Promise<Result<Place, Failure>> {
  const find: FindHome<Call<N>> = routeHomes[name];
  const route: Route = routes[name];
  const kept = isForm(name, call) && !isNamedBeside(call) ? await keepForm(parts, call) : ok(undefined);
  if (!kept.ok) return kept;
  const place = kept.value ?? { ...asItCame(call), key: await find(parts, call) };
  // What is done once for a key is done by one server, so that two tries at once meet there.
  const isOnce = route.creates === true && call.header("idempotency-key") !== undefined;
  return ok({ ...place, key: place.key ?? (isOnce ? userKey(call.owner) : undefined) });
}

function isForm(name: RouteName, _: Call<RouteName>): _ is Call<"uploadSandboxFile"> {
  return name === "uploadSandboxFile";
}

function asItCame({ bytes }: { readonly bytes: IncomingBytes }) {
  return { bytes, close: () => {} };
}
