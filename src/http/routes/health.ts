import { ok, type Result } from "../../base/result.ts";
import type { Failure } from "../../protocol/failure.ts";
import { protocolVersion } from "../../protocol/routes.ts";
import type { DetailedHealth } from "../../protocol/sandbox-resources.ts";
import { failureWords, type Language, wordsFor } from "../../words/words.ts";
import type { Handlers, Parts } from "../handler.ts";
import { toLack } from "../sandbox/lack-answer.ts";

type Names = "health" | "healthDetailed" | "healthSync";

export function healthHandlers({ version, clock, sandbox, storage, workspaces }: Parts): Pick<Handlers, Names> {
  const startedAt = clock.monotonic();
  const uptime = () => Math.round(clock.monotonic() - startedAt) / 1000;
  return {
    async health() {
      return ok({ status: "ok", version, protocol: protocolVersion, uptime: uptime() });
    },
    async healthDetailed({ language }) {
      const [database, files, probe] = await Promise.all([storage.check(), workspaces.check(), sandbox.probe()]);
      const dependencies = {
        database: wellOr(database, language),
        storage: wellOr(files, language),
        sandbox: { ...sandboxHealth(probe, language), ...sandbox.load() },
      };
      const statuses = Object.values(dependencies).map((one) => one.status);
      return ok({ status: worst(statuses), version, uptime: uptime(), dependencies });
    },
    async healthSync() {
      const [swept] = await Promise.all([sandbox.sweep(), workspaces.sweep()]);
      return ok({ status: "completed", ...swept });
    },
  };
}

type Status = DetailedHealth["status"];

function wellOr(checked: Result<void, Failure>, language: Language) {
  if (checked.ok) return { status: "healthy", error: null } as const;
  return { status: "unhealthy", error: failureWords(wordsFor(language), checked.failure).join(" ") } as const;
}

function sandboxHealth(probe: Awaited<ReturnType<Parts["sandbox"]["probe"]>>, language: Language) {
  const missing = probe.missing.map((lack) => toLack(lack, language));
  const degraded = probe.degraded.map((lack) => toLack(lack, language));
  const status: Status = missing.length > 0 ? "unhealthy" : degraded.length > 0 ? "degraded" : "healthy";
  return { status, error: missing[0]?.reason ?? null, missing, degraded };
}

function worst(statuses: readonly Status[]): Status {
  return (["unhealthy", "degraded"] as const).find((status) => statuses.includes(status)) ?? "healthy";
}
