import { existsSync } from "node:fs";

/** What can be missing on a machine, and what the package is called by each package manager. */
const packages = {
  bubblewrap: ["bubblewrap", "bubblewrap", "bubblewrap", "bubblewrap"],
  python: ["python3", "python3", "python", "python3"],
  libraries: [
    "python3-numpy python3-pandas python3-matplotlib",
    "python3-numpy python3-pandas python3-matplotlib",
    "python-numpy python-pandas python-matplotlib",
    "py3-numpy py3-pandas py3-matplotlib",
  ],
  fonts: ["fonts-wqy-microhei", "google-noto-sans-cjk-fonts", "noto-fonts-cjk", "font-noto-cjk"],
} as const;

const managers = [
  ["/usr/bin/apt-get", "apt-get install -y"],
  ["/usr/bin/dnf", "dnf install -y"],
  ["/usr/bin/pacman", "pacman -S --noconfirm"],
  ["/sbin/apk", "apk add"],
] as const;

/** The command that gets it on this machine; empty when we do not know how packages come here. */
export function installCommand(what: keyof typeof packages): string {
  const index = managers.findIndex(([path]) => existsSync(path));
  const manager = managers[index];
  return manager === undefined ? "" : `${asRoot()}${manager[1]} ${packages[what][index]}`;
}

/** What goes before a command that only root may give. */
export function asRoot(): string {
  return process.geteuid?.() === 0 ? "" : "sudo ";
}
