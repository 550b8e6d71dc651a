import { callOver } from "../../../test/world/callers.ts";
import { type Play, playedProvider, sandboxOver } from "../../../test/world/played-provider.ts";
import { startYard, type TestYardOptions } from "../../../test/world/yard.ts";
import { systemClock } from "../../base/clock.ts";
import type { Execution } from "../../sandbox/provider.ts";

type Timer = { readonly ms: number; readonly fire: () => void; isOpen: boolean };

/**
 * A server whose programs are played, and Ann, who calls. `ran`: the programs, as they came to their guest. `timers`: what
 * waits for the clock, which the test may let pass at once.
 */
export async function playedPrograms({ play, ...options }: TestYardOptions & { readonly play?: Play } = {}) {
  const ran: Execution[] = [];
  const timers: Timer[] = [];
  const provider = playedProvider((execution) => {
    ran.push(execution);
    return play?.(execution) ?? { code: 0 };
  });
  const clock = {
    ...systemClock,
    after(ms: number, action: () => void) {
      const timer: Timer = { ms, fire: action, isOpen: true };
      timers.push(timer);
      const cancel = systemClock.after(ms, action);
      return () => {
        timer.isOpen = false;
        cancel();
      };
    },
  };
  const yard = await startYard({ ...sandboxOver(provider), clock, ...options });
  return {
    ...{ yard, provider, ran, timers },
    async call(way: string, body?: object, headers: Readonly<Record<string, string>> = {}) {
      const sent = body === undefined ? {} : { body };
      const answer = await callOver(yard.app, way, { "x-account-id": "ann", ...headers, ...sent });
      return { ...answer, body: answer.text === "" ? {} : JSON.parse(answer.text) };
    },
    [Symbol.asyncDispose]: yard[Symbol.asyncDispose],
  };
}
