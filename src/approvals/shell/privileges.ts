import { readOptions } from "./options.ts";
import { type Call, report } from "./scene.ts";

/** Programs whose work is to become somebody else, or to leave the walls around them. */
const raising: ReadonlySet<string> = new Set(
  (
    "sudo sudoedit su doas gosu su-exec setuidgid chpst aa-exec pkexec runuser setpriv setcap unshare nsenter chroot pivot_root umount capsh bwrap firejail " +
    "systemd-nspawn systemd-run newuidmap newgidmap newgrp sg gpasswd usermod useradd adduser userdel groupadd visudo " +
    "chpasswd passwd insmod modprobe rmmod kexec setenforce fusermount losetup machinectl lxc lxc-attach dockerd runc crun"
  ).split(" "),
);

/** More rights, or another name space. */
export function judgePrivilege({ program, args, scene, what }: Call): void {
  const operands = args.filter((arg) => !arg.startsWith("-"));
  const isOne =
    raising.has(program) ||
    (program === "mount" && args.length > 0 && !args.every((arg) => /^-[lvV]$/.test(arg))) ||
    (program === "chmod" && operands.some(isSetId)) ||
    (program === "install" && modesOf(args).some(isSetId)) ||
    (program === "ip" && (operands[0] === "netns" || operands[0] === "link") && operands.length > 2) ||
    (/^(docker|podman)$/.test(program) &&
      args.some((arg) => /^(--privileged|--pid=host|--cap-add.*)$|^\/:/.test(arg))) ||
    (program === "sysctl" && args.some((arg) => arg === "-w" || arg.includes("=")));
  if (isOne) report(scene, "privilege", "high", what);
}

/** `-m 4755`, `--mode=4755` */
function modesOf(args: readonly string[]): readonly string[] {
  const { values } = readOptions(args, ["m", "mode", "o", "g"]);
  return [...(values.get("m") ?? []), ...(values.get("mode") ?? [])];
}

/** `u+s`, `4755`: whoever runs it becomes its owner. */
function isSetId(mode: string): boolean {
  return /^0*[2467]\d{3}$/.test(mode) || /^[ugoa,]*[+=][rwxXt]*s/.test(mode) || /,[ugoa]*[+=][rwxX]*s/.test(mode);
}
