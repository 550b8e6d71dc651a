/** `install`: the command that gets what is missing, empty when it is not known. `sudo`: before what only root may do. */
export type LackAbout = { readonly detail: string; readonly sudo: string; readonly install: string };

const because = ({ detail }: LackAbout) => (detail === "" ? "" : ` (${detail})`);
const get = ({ install }: LackAbout, what: string) => (install === "" ? `Install ${what}.` : install);
const delegate = "Run the server as root, or as a systemd service with Delegate=yes.";

/** What people are told about running code; `lacks`: what this machine lacks for it, the reason and what mends it. */
export const enSandbox = {
  /** Why an execution did not come to a good end, in a line. */
  ends: {
    failed: (code: number) => `The program ended with exit code ${code}.`,
    signalled: (signal: string) => `The program was ended by ${signal}.`,
    timeout: (seconds: number) => `The program was stopped after ${seconds} s, its time limit.`,
    cancelled: "The program was stopped.",
    killed: "The program was ended from outside.",
    out_of_memory: "The program used more memory than it may, and was ended.",
    disk_full: "There is no room left in the workspace; the program was ended.",
    lost: "The sandbox broke down while the program ran.",
    restarted: "The AgentYard process that ran it ended.",
  },
  lacks: {
    no_bwrap: (about: LackAbout) => [
      "bubblewrap is not installed, so programs cannot be kept apart from this machine.",
      get(about, "bubblewrap (Linux only)"),
    ],
    no_userns: (about: LackAbout) => [
      `This machine does not let bubblewrap build its walls${because(about)}.`,
      `${about.sudo}sysctl -w user.max_user_namespaces=15000 kernel.unprivileged_userns_clone=1`,
    ],
    apparmor_userns: (about: LackAbout) => [
      "AppArmor keeps bubblewrap from making user namespaces (Ubuntu 23.10 and later).",
      `printf '%s\\n' 'abi <abi/4.0>,' 'include <tunables/global>' 'profile bwrap /usr/bin/bwrap flags=(unconfined) { userns, }' | ${about.sudo}tee /etc/apparmor.d/bwrap && ${about.sudo}apparmor_parser -r /etc/apparmor.d/bwrap`,
    ],
    no_seccomp: (about: LackAbout) => [
      `The kernel's calls cannot be filtered here${because(about)}.`,
      "Use a kernel with CONFIG_SECCOMP_FILTER, on x64 or arm64.",
    ],
    in_container: (about: LackAbout) => [
      `This container does not let bubblewrap build its walls${because(about)}.`,
      "Run the server outside of the container, or start the container with --security-opt seccomp=unconfined --security-opt apparmor=unconfined --security-opt systempaths=unconfined.",
    ],
    no_python: (about: LackAbout) => [
      "/usr/bin/python3 is missing; every sandbox is looked after by it.",
      get(about, "Python 3"),
    ],
    no_cgroup_memory: () => ["The memory of a sandbox cannot be limited: there is no control group for it.", delegate],
    no_cgroup_pids: () => [
      "The processes of a sandbox cannot be limited: there is no control group for them.",
      delegate,
    ],
    no_cgroup_cpu: () => [
      "The processor time of a sandbox cannot be shared out: there is no control group for it.",
      delegate,
    ],
    no_cgroup_kill: () => ["The processes of a sandbox cannot be ended in one stroke.", delegate],
    shared_uid: () => [
      "All sandboxes run as the same user of this machine; the walls between them are namespaces only.",
      "Run the server as root: each conversation then gets a user of its own.",
    ],
    no_bind_fd: (about: LackAbout) => [
      `This bubblewrap${because(about)} mounts folders by name only; a name could be swapped at that moment.`,
      "Install bubblewrap 0.10 or later.",
    ],
    old_bwrap: (about: LackAbout) => [`This bubblewrap is old${because(about)}.`, "Install bubblewrap 0.8 or later."],
    no_data_libraries: (about: LackAbout) => [
      `Python libraries for data are missing in the sandbox${because(about)}.`,
      get(about, "numpy, pandas and matplotlib for the system's Python"),
    ],
    no_cjk_fonts: (about: LackAbout) => [
      "There is no font for Chinese: charts show boxes instead of characters.",
      get(about, "a font for Chinese, Noto Sans CJK for one"),
    ],
    no_node: () => [
      "There is no node in the sandbox's image: JavaScript cannot be run.",
      "Build the image again from deploy/sandbox, or use one that has node.",
    ],
    no_engine: (about: LackAbout) => [
      `The Docker engine does not answer${because(about)}.`,
      "Start it, let this user use its socket (the group docker), or set sandbox.docker_host in config/agentyard.yaml.",
    ],
    no_image: (about: LackAbout) => [
      `The Docker engine has no image for sandboxes${because(about)}.`,
      `In the folder of AgentYard: ${about.install}. Or set sandbox.docker_image in config/agentyard.yaml.`,
    ],
    image_volumes: (about: LackAbout) => [
      `The image for sandboxes has volumes of its own${because(about)}: programs could write there without a limit.`,
      "Use an image without VOLUME, that of deploy/sandbox for one. VOLUME of an image below cannot be removed: copy its files into an image from scratch.",
    ],
    no_runtime: (about: LackAbout) => [
      `The Docker engine does not know the runtime of sandbox.docker_runtime${because(about)}.`,
      "Install it and name it in the engine's daemon.json (gVisor: runsc install), or leave the setting out.",
    ],
    rootless_engine: () => [
      "The Docker engine runs without root: files that programs make would belong to somebody else.",
      "Use an engine that runs as root, or the local sandbox (sandbox.provider: local).",
    ],
    engine_start: (about: LackAbout) => [
      `The Docker engine does not start a sandbox${because(about)}.`,
      "The engine has to be on this machine, find the data directory by the same path, and its image needs /usr/bin/python3.",
    ],
    engine_walls: (about: LackAbout) => [
      `A container of this Docker engine is not closed as it must be${because(about)}.`,
      "Use an engine with its usual seccomp profile, and no other image than that of deploy/sandbox.",
    ],
    no_hosts: (about: LackAbout) => [
      `sandbox.provider is remote, but something is not set${because(about)}.`,
      "Name the sandbox hosts in sandbox.hosts and give AGENTYARD_SANDBOX_SECRET the value that they have; or use the sandbox of this machine (sandbox.provider: local).",
    ],
    host_away: (about: LackAbout) => [
      `A sandbox host does not answer${because(about)}.`,
      "Start it there (the command sandbox-host), let this machine reach its port, or correct sandbox.hosts.",
    ],
    host_secret: (about: LackAbout) => [
      `A sandbox host has another secret${because(about)}.`,
      "Give AGENTYARD_SANDBOX_SECRET the same value on the server and on the host, and start both again.",
    ],
    host_clock: (about: LackAbout) => [
      `The clock of a sandbox host is more than a minute off${because(about)}.`,
      "Set the clocks of both machines right (timedatectl set-ntp true).",
    ],
    host_version: (about: LackAbout) => [
      `A sandbox host has another version of AgentYard${because(about)}.`,
      "Install the same version on the server and on the host.",
    ],
    host_files: (about: LackAbout) => [
      `A sandbox host does not see the files of this server${because(about)}.`,
      "Mount the same volume on both machines, and let AGENTYARD_FILES_DIR name it there as here; run both as root, or both as the same user.",
    ],
    host_images: () => [
      "Workspaces are images of disks, which no other machine can see.",
      "Set sandbox_platform.disk to folder, or use the sandbox of this machine (sandbox.provider: local).",
    ],
    no_cluster: (about: LackAbout) => [
      `The Kubernetes cluster does not answer${because(about)}.`,
      "Correct sandbox.kubernetes_server, _token_file and _ca_file, and let the server reach it. Inside the cluster these need not be set.",
    ],
    cluster_rights: (about: LackAbout) => [
      `The Kubernetes cluster does not let the server make sandboxes${because(about)}.`,
      "Apply the Role and the RoleBinding of deploy/kubernetes to the server's service account and to sandbox.kubernetes_namespace.",
    ],
    pod_image: (about: LackAbout) => [
      `The cluster cannot get the image for sandboxes${because(about)}.`,
      "Build it from deploy/sandbox, push it to where the nodes can pull it, and name it in sandbox.kubernetes_image.",
    ],
    pod_files: (about: LackAbout) => [
      `A sandbox does not see the files of this server${because(about)}.`,
      "sandbox.kubernetes_volume_claim has to be a claim in the namespace of the sandboxes for the volume that is mounted at AGENTYARD_FILES_DIR; sandbox.kubernetes_volume_path says where on the volume that is.",
    ],
    pod_start: (about: LackAbout) => [
      `The cluster does not start a sandbox${because(about)}.`,
      "kubectl -n NAMESPACE get events says more: mostly a quota, a runtime class that is not there, or a volume that cannot be mounted. The image needs /usr/bin/python3.",
    ],
    pod_walls: (about: LackAbout) => [
      `A pod of this cluster is not closed as it must be${because(about)}.`,
      "Nothing may change the pods of sandboxes on their way (admission webhooks, sidecars), and the nodes need their usual seccomp profile.",
    ],
    pod_network: (about: LackAbout) => [
      `Programs in a sandbox reach the network of the cluster${because(about)}.`,
      "Apply the NetworkPolicy of deploy/kubernetes, with a cluster network that enforces policies for outgoing connections, to the node itself, too (Calico and Cilium do).",
    ],
    pod_memory: () => [
      "When all programs of a sandbox together use too much memory, the cluster ends the whole sandbox and not one of them.",
      "Nothing has to be done: a single program meets its own limit before that.",
    ],
    pod_processes: () => [
      "A pod cannot be asked to limit its processes; only the node can.",
      "Set podPidsLimit in the configuration of the kubelets; where the server runs as root, each conversation is limited by its user, too.",
    ],
  } satisfies Readonly<Record<string, (about: LackAbout) => readonly [reason: string, fix: string]>>,
  /** To an execution over HTTP that looked for a network in vain. */
  noNetwork:
    "Programs reach no host, or only those of sandbox.network_hosts in config/agentyard.yaml, by the proxy that HTTPS_PROXY names.",
  /** To an execution over HTTP that looked for files without having said whose. */
  noConversation: (p: { id: string }) =>
    `No conversation was named, so /workspace/${p.id} is not there. Send conversation_id: "${p.id}" in the body.`,
};
