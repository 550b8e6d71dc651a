import type { Sources } from "./open-sources.ts";

/** Every variable that sounds like a secret counts as one, also those of other programs. */
export function secretsAmong(variables: Sources["variables"]): string[] {
  const isSecret = /(KEY|TOKEN|SECRET|PASSWORD|PASSWD|CREDENTIALS?)$/i;
  const values = variables.filter(([name]) => isSecret.test(name)).map(([, value]) => value?.trim() ?? "");
  const passwords = variables.flatMap(([name, value]) => (/_URL$/.test(name) ? passwordIn(value ?? "") : []));
  return [...new Set([...values, ...passwords])].filter((value) => value !== "");
}

/** As it is written, and as it is meant where the two differ; beside the user, or in the query, as PostgreSQL has it, too. */
function passwordIn(value: string): string[] {
  const url = URL.parse(value.trim());
  if (url === null) return [];
  const asked = [...url.search.matchAll(/[?&]password=([^&]*)/g)].map(([, written = ""]) => written);
  const found = [url.password, ...asked].filter((written) => written !== "");
  // Whoever shows the address as it is shows the password, too.
  return found.length === 0 ? [] : [value.trim(), ...found.flatMap((written) => [written, ...meantBy(written)])];
}

/** A plus is a plus beside the user; in a query some read a space. */
function meantBy(written: string): string[] {
  const read = (text: string) => new URLSearchParams(`password=${text}`).get("password") ?? "";
  return [read(written.replaceAll("+", "%2B")), read(written)];
}
