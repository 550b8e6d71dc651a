import { type Config, type ConfigRequest, hasChanged, reloadConfig } from "./config/config.ts";
import type { Logger } from "./observe/observe.ts";
import type { Failure } from "./protocol/failure.ts";

type Reloading = {
  readonly logger: Logger;
  /** What no log line may show. Grows by what is read: one that was taken out of a file may still be said by a program. */
  readonly secrets: string[];
  readonly onBroken: (failures: readonly Failure[]) => void;
};

/** Reads the files again when one has changed. A file with a mistake changes nothing: the settings before it stay. */
export function reloader(
  first: Config,
  request: ConfigRequest,
  { logger, secrets, onBroken }: Reloading,
): () => Promise<Config | undefined> {
  let current = first;
  let told = "";
  return async () => {
    if (!hasChanged(current)) return undefined;
    const fresh = await reloadConfig(current, request);
    if (!fresh.ok) {
      const failures = JSON.stringify(fresh.failure);
      logger.warn("changed settings cannot be used", { failures });
      if (failures !== told) onBroken(fresh.failure);
      told = failures;
      return undefined;
    }
    told = "";
    current = fresh.value.config;
    secrets.push(...current.secrets.filter((secret) => !secrets.includes(secret)));
    return current;
  };
}
