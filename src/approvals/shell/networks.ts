import { writeFile } from "./files.ts";
import { readOptions } from "./options.ts";
import { type Call, report, unseenStream } from "./scene.ts";

/** Programs whose work is to reach another machine. They ask also where there is no network: it may be there tomorrow. */
const clients: ReadonlySet<string> = new Set(
  (
    "curl curlie wget wget2 aria2c axel http https httpie xh nc ncat netcat socat telnet ftp lftp sftp tftp scp ssh ssh-copy-id ssh-keyscan " +
    "mosh autossh rsh rlogin rcp dig nslookup host drill whois ping ping6 fping traceroute tracepath mtr nmap masscan " +
    "openvpn wg-quick ngrok cloudflared tor gh glab hub aws gcloud gsutil az doctl heroku kubectl helm terraform s3cmd " +
    "mc rclone lynx links w3m elinks youtube-dl yt-dlp mail mailx sendmail mutt swaks websocat grpcurl ldapsearch " +
    "huggingface-cli kaggle wscat smbclient rpcclient finger iperf iperf3 svn hg bzr fossil mongosh mongo gdown"
  ).split(" "),
);

/** Local commands of programs that otherwise reach out. */
const local: Readonly<Record<string, RegExp>> = {
  gh: /^(help|version|completion|config|alias)$/,
  aws: /^(help|configure)$/,
  kubectl: /^(help|version|config|completion|kustomize)$/,
  helm: /^(help|version|template|lint|create|package)$/,
  terraform: /^(fmt|validate|version|show|output|graph|console)$/,
  svn: /^(status|st|diff|info|log|add|help|revert|stat)$/,
  hg: /^(status|st|diff|log|add|commit|ci|summary|branch|branches|init|help|annotate|cat)$/,
  gcloud: /^(help|version|info|config)$/,
  rclone: /^(help|version|config)$/,
  tor: /^$/,
};

/** Reaching out asks; sending something with it is the greater risk. */
export function judgeNetwork(call: Call): void {
  const { program, args, scene, what } = call;
  if (isFar(call)) report(scene, "network", riskOf(call), what, `${program} *`);
  if (program === "curl" || program === "wget") keepFetched(call);
  if (program === "openssl" && /^s_(client|server)$/.test(args[0] ?? "")) report(scene, "network", "medium", what);
}

function isFar({ program, args }: Call): boolean {
  const operands = args.filter((arg) => !arg.startsWith("-"));
  if (program === "rsync") return args.some((arg) => /^[^/\s=]+:|^rsync:/.test(arg) && !arg.startsWith("-"));
  if (/^(psql|mysql|mariadb|redis-cli|mysqldump|pg_dump|pg_restore)$/.test(program)) return hasHost(args);
  if (/^gpg2?$/.test(program)) return args.some((arg) => /^--(recv|send|search|refresh)-keys?$|^--keyserver/.test(arg));
  if (program === "docker" || program === "podman" || program === "skopeo")
    return /^(pull|push|login|search|run|build|compose|copy)$/.test(operands[0] ?? "");
  if (/^python[\d.]*$/.test(program)) return isFarModule(args);
  if (!clients.has(program)) return false;
  const own = local[program];
  return own === undefined ? args.length > 0 : operands.length > 0 && !own.test(operands[0] ?? "");
}

function hasHost(args: readonly string[]): boolean {
  const { values } = readOptions(args, ["h", "host", "p", "u", "U", "d", "P", "user", "password"]);
  const addressed = args.flatMap((arg) => /^\w+:\/\/(?:[^@/]*@)?([^:/?]+)/.exec(arg)?.[1] ?? []);
  const hosts = [...(values.get("h") ?? []), ...(values.get("host") ?? []), ...addressed];
  return hosts.some((host) => !isHere(host) && !host.startsWith("/"));
}

function isFarModule(args: readonly string[]): boolean {
  const module = args[args.indexOf("-m") + 1] ?? "";
  if (!args.includes("-m")) return false;
  return (
    /^(nltk\.downloader|ftplib|telnetlib|webbrowser|smtplib|urllib\.request)$/.test(module) ||
    (module === "spacy" && args.includes("download"))
  );
}

function isHere(host: string): boolean {
  return /^(localhost|127(\.\d+){3}|\[?::1\]?|0\.0\.0\.0)$/.test(host);
}

function riskOf({ program, args }: Call): "low" | "medium" | "high" {
  const urls = args.filter((arg) => /^(https?:\/\/)?(localhost|127\.|\[::1\]|0\.0\.0\.0)/.test(arg));
  if (urls.length === 1 && args.filter((arg) => !arg.startsWith("-")).length === 1) return "low";
  const sends = /^(-d|-F|-T|--data.*|--form.*|--upload-file|--post-.*|--body-.*|--json|-e|--mail-.*|-K|--config)$/;
  const isSender =
    /^(nc|ncat|netcat|socat|telnet|scp|sftp|ftp|mail|mailx|sendmail|mutt|swaks|rsync|gsutil|s3cmd|rclone|ssh)$/;
  const posts = args.some(
    (arg, at) => /^(POST|PUT|PATCH|DELETE)$/.test(arg) && /^(-X|--request)$/.test(args[at - 1] ?? ""),
  );
  return isSender.test(program) ||
    posts ||
    args.some(
      (arg) =>
        sends.test(arg) ||
        (program === "curl" && /^-[a-zA-Z]*[dFTK]|^--(upload-file|config|data|form|json)[-\w]*=/.test(arg)),
    )
    ? "high"
    : "medium";
}

/** A file that was just fetched: nobody has seen what is in it. */
function keepFetched(call: Call): void {
  const { args, program } = call;
  const { values, flags, rest } = readOptions(
    args,
    ["o", "O", "output", "output-document", "H", "d", "X", "u", "A", "P", "directory-prefix", "output-dir"].filter(
      (key) => program !== "curl" || key !== "O",
    ),
  );
  const named = [..."oO"].concat("output", "output-document").flatMap((key) => values.get(key) ?? []);
  const own = (program === "wget" && named.length === 0) || flags.has("O") || flags.has("remote-name") ? rest : [];
  const folder =
    program === "wget" ? (values.get("P") ?? values.get("directory-prefix"))?.[0] : values.get("output-dir")?.[0];
  const files = own.map((url) => `${folder ?? "."}/${url.slice(url.lastIndexOf("/") + 1).replace(/\?.*$/, "")}`);
  for (const path of [...named, ...files]) if (path !== "" && path !== "-") writeFile(call, path, unseenStream, false);
}
