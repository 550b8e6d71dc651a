import { test } from "node:test";
import { compare, linesOf, rowsOf } from "../../test/world/judged-commands.ts";
import { commandFindings } from "./commands.ts";

function judged(title: string, rows: readonly (readonly [command: string, kinds: string])[]): void {
  test(title, () => compare(commandFindings, rows));
}

/** In two words: no file of ours names the folder of a machine. */
const [me, root] = [`${"/home"}/me`, "/root"];

/** Files that open doors for whoever reads them, and for whoever writes them. */
const stores = `
  /etc/passwd /etc/shadow /etc/gshadow /etc/sudoers /etc/master.passwd /etc/security/opasswd /etc/passwd- /etc/shadow.bak
  /etc/sudoers.d /etc/sudoers.d/x /etc/ssl/private /etc/ssl/private/x /etc/ssh/ssh_host_rsa_key /etc/krb5.keytab
  ~/.ssh ~/.ssh/known_hosts ~/.aws/config ~/.gnupg/x ~/.azure/x ~/.kube/cache ~/.netrc ~/_netrc ~/.pgpass
  ~/.git-credentials ${me}/.ssh/config ${root}/.aws`;

judged("each file that opens other doors asks, wherever it lies [H1]", [
  ...rowsOf("credentials", "cat %", stores),
  ...rowsOf("credentials", "echo x > %", stores),
  ...rowsOf(
    "credentials",
    "cat %",
    `/proc/self/environ /proc/77/environ /run/secrets /run/secrets/x /var/run/secrets/x
       ~/.config/gcloud/x ~/.config/gh/x ~/.config/hub ~/.config/op/x ~/.config/rclone/x ~/.docker/config.json
       .npmrc .pypirc .my.cnf .htpasswd .s3cfg .boto .dockercfg .vault-token .yarnrc.yml a/.env a/.envrc a/.env.local
       a/.env.production-2 a/.env.example.x id_rsa id_dsa id_ecdsa id_ed25519 id_ecdsa_sk my-private.pem private_1.key
       server.key client.pem tls.key ssl.pem key.key key.pem my_key.pem SERVER.KEY a.p12 a.pfx a.jks a.keystore a.kdbx a.ppk
       A.PFX credentials.json client_secret.json client_secrets-1.json service-account.json service_account.json
       serviceaccount-1.json secret.yaml secrets.yml secret.json secrets.toml secret.env
       ~/.terraform.d/credentials.tfrc.json a/kubeconfig /etc/kubernetes/admin.conf`,
  ),
  // What only looks like one of them.
  ...rowsOf(
    "",
    "cat %",
    `.env.example .env.sample .env.template .env.dist .env.default .env.defaults .env.schema env environment.md /etc/group
       /etc/hosts /etc/passwd.md a/etc/shadow sshd.md .sshrc id_rsa.pub public.pem key.txt servers.key.md secrets.md
       credentials.md package.json /proc/self/status .config/other/x .docker/readme ~/.bashrc`,
  ),
]);

judged("credentials ask when a pattern, an option or an address names them [H1]", [
  ...rowsOf("credentials", "cat /srv/*.%", "pem key p12 pfx kdbx keytab"),
  ...rowsOf("", "cat *.%", "pem key"),
  ...rowsOf("credentials", "cat a/%", ".en* .netr* .npmr* id_rs* id_ed*"),
  ...rowsOf(
    "credentials",
    "cat %",
    `.e?v ~/.aw?/credentials ~/.kub?/config ${root}/.aw?/credentials /home/*/.aw?/credentials /etc/pas*d /etc/s?adow
       /etc/gsh?dow /etc/sud?ers /proc/self/env* /proc/1/env*`,
  ),
  ...rowsOf("", "cat %", "* */* .* a/*nv /etc/*.conf a/.e* data/*.csv"),
  ...rowsOf(
    "credentials",
    "run %",
    `--file=/etc/shadow -file=/etc/shadow @/etc/shadow data=@/etc/shadow data=/etc/shadow -f/etc/shadow -f@/etc/shadow
       -f~/.netrc -f./.env file:///etc/shadow file://///etc/shadow file:/etc/shadow FILE:///etc/shadow`,
  ),
  ...rowsOf("credentials", "getent %", "passwd shadow gshadow"),
  ...rowsOf("", "getent %", "hosts group"),
  ...rowsOf("credentials", "% --export-secret-keys", "gpg gpg2"),
  ...rowsOf("credentials", "gpg %", "--export-secret-keys --export-secret-subkeys"),
]);

judged("a program that takes all below a folder of the system asks for each such program and folder [H1]", [
  ...rowsOf("credentials", "tar cf temp/a.tar %", `/ /etc /root /home ${me} /proc /proc/self /run /var/run`),
  ...rowsOf("", "tar cf temp/a.tar %", `/usr ${me}/work /etc/apt /opt .`),
  ...linesOf(
    "credentials",
    `bsdtar cf temp/a.tar /etc
       zip temp/a.zip /etc
       7z a temp/a.7z /etc
       7za a temp/a.7z /etc
       rsync /etc temp/a
       rg word /etc
       ag word /etc
       egrep -r word /etc
       fgrep -r word /etc`,
  ),
  ...rowsOf("credentials", "cp % /etc temp/a", "-r -R -a -pr --recursive --archive"),
  ...rowsOf("credentials", "grep % word /etc", "-r -R --recursive --dereference-recursive"),
  ...linesOf("credentials network", "scp -r /etc temp/a"),
  ...linesOf("", "cp /etc temp/a\n grep word /etc\n ls /etc\n cat /etc"),
]);

judged("who only asks for a file, looks for its name or calls a copy so does not read it [H1]", [
  ...rowsOf(
    "",
    "'%' temp/.env",
    `echo printf ls stat test [ [[ file basename dirname realpath readlink touch mkdir rm rmdir unlink chmod chown which type
       man help find fd locate tree git cd pushd export declare local readonly alias true false : read tee mktemp du kill`,
  ),
  ...rowsOf("credentials", "% temp/.env", "cat head less strings xxd base64 wc sort diff python3"),
  ...rowsOf("", "% /etc/passwd notes.txt", "grep egrep fgrep rg ag sed awk gawk jq"),
  ...rowsOf("credentials", "% word /etc/passwd", "grep egrep fgrep rg ag sed awk gawk jq"),
  ...rowsOf("credentials", "grep % /etc/passwd", "-eword -flist --regexp=word --file=list"),
  ...linesOf("credentials", "sed --expression=p /etc/passwd"),
  ...rowsOf("", "% notes.txt a/.env", "cp mv install ln"),
  ...rowsOf("credentials", "% a/.env notes.txt", "cp mv install ln"),
]);
