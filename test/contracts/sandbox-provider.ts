import { after, test } from "node:test";
import { endPromises } from "./sandbox-ends.ts";
import { executionPromises } from "./sandbox-executions.ts";
import { lifePromises } from "./sandbox-lives.ts";
import { orderPromises } from "./sandbox-order.ts";
import { type ProviderUnderTest, placeFor } from "./sandbox-place.ts";

/** What every `SandboxProvider` promises. `open` answers a provider with nothing in it; it is asked for more than one. */
export function providerContract(
  name: string,
  open: () => Promise<ProviderUnderTest>,
  options: { readonly skip: string | false },
): void {
  let shared: Promise<ProviderUnderTest> | undefined;
  after(async () => (await shared)?.provider.close());
  for (const { says, holds } of [orderPromises, executionPromises, endPromises, lifePromises].flat()) {
    test(`${name}: ${says}`, { skip: options.skip }, async (t) => {
      shared ??= open();
      await holds(placeFor(t, await shared, open));
    });
  }
}
