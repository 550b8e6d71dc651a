import { findSecret, isSecretValue, shown, withoutSecrets } from "../secrets.ts";
import { type Run, report, type Scene, shellLimits } from "./scene.ts";

/** Programs that look for a text, or keep a message: they do not use what they name. */
const mentions = /^(grep|egrep|fgrep|rg|ag|ack|sed|awk|gawk|find|git|man|which|type|ls)$/;

/** Secrets in the words of a command. They end up in logs, in lists of processes and in the history. */
export function judgeSecrets(run: Run, argv: readonly string[], what: string): void {
  const [program = ""] = argv;
  const base = program.slice(program.lastIndexOf("/") + 1);
  const byName = !mentions.test(base);
  const found = argv.map((word) => findSecret(word, byName)).find((one) => one !== undefined);
  const hit = found?.secret ?? optionSecret(base, argv);
  if (hit !== undefined) reportSecret(run.scene, hit, what);
}

/** Kept until all is read: whatever else is told of the text does not give it away. */
export function reportSecret(scene: Scene, secret: string, what: string): void {
  if (scene.secrets.size <= shellLimits.secretsMax) scene.secrets.add(secret);
  report(scene, "secret", "high", what);
}

/** `--password hunter2`, `curl -u me:hunter2`, `mysql -phunter2`, `sshpass -p hunter2`. */
function optionSecret(program: string, argv: readonly string[]): string | undefined {
  for (const [at, arg] of argv.entries()) {
    const next = argv[at + 1] ?? "";
    if (
      /^--?(password|passwd|passphrase|token|api-?key|secret|secret-?key|access-?key|auth-?token|storepass|keypass)$/i.test(
        arg,
      ) &&
      isValue(next)
    )
      return next;
    if (
      /^(curl|wget|http|xh)$/.test(program) &&
      /^(-u|--user)$/.test(arg) &&
      /^[^:]+:[^:]{2,}$/.test(next) &&
      isValue(next)
    )
      return next.slice(next.indexOf(":") + 1);
    if (/^(mysql|mysqldump|mysqladmin|mariadb)$/.test(program) && /^-p.{3,}$/.test(arg) && isValue(arg.slice(2)))
      return arg.slice(2);
    if (
      /^(sshpass|unzip|zip|7z|docker)$/.test(program) &&
      arg === (/^(sshpass|docker)$/.test(program) ? "-p" : "-P") &&
      isValue(next)
    )
      return next;
  }
  const set = argv.findIndex((arg, at) => arg === "set" && /^config(ure)?$/.test(argv[at - 1] ?? ""));
  const [key = "", value = ""] = set === -1 ? [] : argv.slice(set + 1).filter((arg) => !arg.startsWith("-"));
  if (/secret|password|passphrase|token|api[_-]?key/i.test(key) && isValue(value)) return value;
  if (program !== "openssl") return undefined;
  return argv.find((arg, at) => /^pass:.{4,}$/.test(arg) || (argv[at - 1] === "-k" && isValue(arg)));
}

function isValue(text: string): boolean {
  return isSecretValue(text) && !text.startsWith("-");
}

/** As it is told: a person sees which secret it is; what is kept of the question does not give it away. */
export function masked(scene: Scene, what: string): string {
  if (scene.secrets.size > shellLimits.secretsMax) return "…";
  let text = what;
  for (const secret of scene.secrets) {
    // Quotes in the middle of it do not save it.
    const plain = text.replace(/["'\\]/g, "");
    if (!text.includes(secret) && plain.includes(secret)) text = plain;
    text = text.replaceAll(secret, shown(secret));
  }
  return withoutSecrets(text);
}
