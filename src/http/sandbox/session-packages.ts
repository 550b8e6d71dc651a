import { ok, type Result } from "../../base/result.ts";
import type { Failure } from "../../protocol/failure.ts";
import type { SandboxSession } from "../../protocol/sandbox-resources.ts";
import type { PackagesWanted } from "../../sandbox/sandbox.ts";
import { failureWords, type Language, wordsFor } from "../../words/words.ts";
import type { Call, Parts } from "../handler.ts";
import { toSession } from "./session-answer.ts";

/** What is to be installed, in our words. */
export function packagesWanted(body: Call<"installDependencies">["body"]): PackagesWanted {
  const { package_manager: manager, dependencies } = body;
  return {
    packages: dependencies.map(({ name, version }) => ({ manager, name, version: version ?? undefined })),
    index: body.python_package_index_url ?? undefined,
    timeoutMs: body.install_timeout * 1000,
    allowsConflicts: body.allow_version_conflicts,
  };
}

/** The packages of a session that is about to be made; undefined when it wants none. */
export function firstPackages(body: Call<"createSession">["body"]): PackagesWanted | undefined {
  const dependencies = body.dependencies ?? [];
  return dependencies.length === 0 ? undefined : packagesWanted({ ...body, package_manager: "pip", dependencies });
}

type Creating = Pick<Call<"createSession">, "owner" | "body" | "language">;

/** For a session that was just made; answered when they are there. One that was wanted only with them goes again. */
export async function withPackages(
  { sandbox }: Pick<Parts, "sandbox">,
  { owner, body, language }: Creating,
  wanted: PackagesWanted,
): Promise<Result<SandboxSession, Failure>> {
  const installed = await sandbox.packages.install(owner, wanted);
  if (installed.ok) return ok(toSession(installed.value, language));
  if (body.fail_on_dependency_error) {
    await sandbox.sessions.stop(owner, { forget: true });
    return installed;
  }
  const session = await sandbox.sessions.find(owner);
  // What was refused before it began left no trace in the session.
  return session === undefined
    ? installed
    : ok({ ...toSession(session, language), ...notInstalled(wanted, installed.failure, language) });
}

function notInstalled({ packages }: PackagesWanted, why: Failure, language: Language): Partial<SandboxSession> {
  return {
    requested_dependencies: packages.map(({ name, version }) => ({ name, ...(version !== undefined && { version }) })),
    dependency_install_status: "failed",
    dependency_install_error: failureWords(wordsFor(language), why).join(" "),
  };
}
