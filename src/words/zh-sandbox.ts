import type { enSandbox } from "./en-sandbox.ts";

type About = { readonly detail: string; readonly sudo: string; readonly install: string };

const because = ({ detail }: About) => (detail === "" ? "" : `（${detail}）`);
const get = ({ install }: About, what: string) => (install === "" ? `请安装${what}。` : install);
const delegate = "请以 root 运行服务器，或作为带 Delegate=yes 的 systemd 服务运行。";

export const zhSandbox: typeof enSandbox = {
  ends: {
    failed: (code) => `程序以退出码 ${code} 结束。`,
    signalled: (signal) => `程序被 ${signal} 终止。`,
    timeout: (seconds) => `程序达到 ${seconds} 秒的时间限制，已被停止。`,
    cancelled: "程序已停止。",
    killed: "程序被外部终止。",
    out_of_memory: "程序使用的内存超过限制，已被终止。",
    disk_full: "工作区已没有空间，程序已被终止。",
    lost: "程序运行时沙箱发生故障。",
    restarted: "运行它的 AgentYard 进程已结束。",
  },
  lacks: {
    no_bwrap: (about) => ["未安装 bubblewrap，程序无法与本机隔离。", get(about, " bubblewrap（仅限 Linux）")],
    no_userns: (about) => [
      `本机不允许 bubblewrap 建立隔离${because(about)}。`,
      `${about.sudo}sysctl -w user.max_user_namespaces=15000 kernel.unprivileged_userns_clone=1`,
    ],
    apparmor_userns: (about) => [
      "AppArmor 阻止 bubblewrap 创建用户命名空间（Ubuntu 23.10 及以后）。",
      `printf '%s\\n' 'abi <abi/4.0>,' 'include <tunables/global>' 'profile bwrap /usr/bin/bwrap flags=(unconfined) { userns, }' | ${about.sudo}tee /etc/apparmor.d/bwrap && ${about.sudo}apparmor_parser -r /etc/apparmor.d/bwrap`,
    ],
    no_seccomp: (about) => [
      `这里无法过滤内核调用${because(about)}。`,
      "请使用带 CONFIG_SECCOMP_FILTER 的内核，架构为 x64 或 arm64。",
    ],
    in_container: (about) => [
      `此容器不允许 bubblewrap 建立隔离${because(about)}。`,
      "请在容器之外运行服务器，或用 --security-opt seccomp=unconfined --security-opt apparmor=unconfined --security-opt systempaths=unconfined 启动容器。",
    ],
    no_python: (about) => ["缺少 /usr/bin/python3，每个沙箱都由它看管。", get(about, " Python 3")],
    no_cgroup_memory: () => ["无法限制沙箱的内存：没有可用的控制组。", delegate],
    no_cgroup_pids: () => ["无法限制沙箱的进程数：没有可用的控制组。", delegate],
    no_cgroup_cpu: () => ["无法分配沙箱的处理器时间：没有可用的控制组。", delegate],
    no_cgroup_kill: () => ["无法一次结束沙箱的所有进程。", delegate],
    shared_uid: () => [
      "所有沙箱以本机同一用户运行，彼此之间只靠命名空间隔离。",
      "请以 root 运行服务器：这样每个对话都有自己的用户。",
    ],
    no_bind_fd: (about) => [
      `此 bubblewrap${because(about)} 只能按名称挂载文件夹，名称可能恰在此时被替换。`,
      "请安装 bubblewrap 0.10 或更新版本。",
    ],
    old_bwrap: (about) => [`此 bubblewrap 过旧${because(about)}。`, "请安装 bubblewrap 0.8 或更新版本。"],
    no_data_libraries: (about) => [
      `沙箱中缺少 Python 数据处理库${because(about)}。`,
      get(about, "系统 Python 的 numpy、pandas 和 matplotlib"),
    ],
    no_cjk_fonts: (about) => ["没有中文字体：图表中的文字会显示为方框。", get(about, "中文字体，例如 Noto Sans CJK")],
    no_node: () => [
      "沙箱镜像中没有 node：无法运行 JavaScript。",
      "请用 deploy/sandbox 重新构建镜像，或使用带 node 的镜像。",
    ],
    no_engine: (about) => [
      `Docker 引擎没有回应${because(about)}。`,
      "请启动它，允许当前用户使用它的套接字（docker 组），或在 config/agentyard.yaml 中设置 sandbox.docker_host。",
    ],
    no_image: (about) => [
      `Docker 引擎中没有沙箱镜像${because(about)}。`,
      `请在 AgentYard 目录中执行：${about.install}。或在 config/agentyard.yaml 中设置 sandbox.docker_image。`,
    ],
    image_volumes: (about) => [
      `沙箱镜像自带卷${because(about)}：程序可以不受限制地往里写。`,
      "请使用没有 VOLUME 的镜像，例如 deploy/sandbox 的镜像。下层镜像的 VOLUME 无法撤销：请把它的文件复制到从 scratch 开始的镜像里。",
    ],
    no_runtime: (about) => [
      `Docker 引擎不认识 sandbox.docker_runtime 指定的运行时${because(about)}。`,
      "请安装它并写入引擎的 daemon.json（gVisor：runsc install），或去掉这项设置。",
    ],
    rootless_engine: () => [
      "Docker 引擎不以 root 运行：程序创建的文件会属于别的用户。",
      "请使用以 root 运行的引擎，或使用本机沙箱（sandbox.provider: local）。",
    ],
    engine_start: (about) => [
      `Docker 引擎无法启动沙箱${because(about)}。`,
      "引擎须在本机，能以相同路径找到数据目录，且镜像中须有 /usr/bin/python3。",
    ],
    engine_walls: (about) => [
      `此 Docker 引擎的容器没有按要求封闭${because(about)}。`,
      "请使用带默认 seccomp 配置的引擎，并且只用 deploy/sandbox 的镜像。",
    ],
    no_hosts: (about) => [
      `sandbox.provider 为 remote，但有一项没有设置${because(about)}。`,
      "请在 sandbox.hosts 中列出沙箱主机，并让 AGENTYARD_SANDBOX_SECRET 与它们一致；或使用本机沙箱（sandbox.provider: local）。",
    ],
    host_away: (about) => [
      `有沙箱主机没有回应${because(about)}。`,
      "请在那台机器上启动它（命令 sandbox-host），让本机能连到它的端口，或改正 sandbox.hosts。",
    ],
    host_secret: (about) => [
      `有沙箱主机的密钥与本服务器不同${because(about)}。`,
      "请让服务器和主机的 AGENTYARD_SANDBOX_SECRET 相同，然后都重新启动。",
    ],
    host_clock: (about) => [
      `有沙箱主机的时钟相差一分钟以上${because(about)}。`,
      "请校准两台机器的时钟（timedatectl set-ntp true）。",
    ],
    host_version: (about) => [
      `有沙箱主机运行的 AgentYard 版本不同${because(about)}。`,
      "请在服务器和主机上安装同一版本。",
    ],
    host_files: (about) => [
      `有沙箱主机看不到本服务器的文件${because(about)}。`,
      "请在两台机器上挂载同一个卷，并各自用 AGENTYARD_FILES_DIR 指明；两边都以 root 运行，或都以同一用户运行。",
    ],
    host_images: () => [
      "工作区是磁盘映像，其他机器看不到。",
      "请把 sandbox_platform.disk 设为 folder，或使用本机沙箱（sandbox.provider: local）。",
    ],
    no_cluster: (about) => [
      `Kubernetes 集群没有回应${because(about)}。`,
      "请改正 sandbox.kubernetes_server、_token_file 和 _ca_file，并让服务器能连到它；在集群内部运行时无需设置。",
    ],
    cluster_rights: (about) => [
      `Kubernetes 集群不允许本服务器创建沙箱${because(about)}。`,
      "请把 deploy/kubernetes 中的 Role 和 RoleBinding 应用到服务器的 ServiceAccount 和 sandbox.kubernetes_namespace。",
    ],
    pod_image: (about) => [
      `集群取不到沙箱镜像${because(about)}。`,
      "请用 deploy/sandbox 构建镜像，推送到各节点能拉取的地方，并写入 sandbox.kubernetes_image。",
    ],
    pod_files: (about) => [
      `沙箱看不到本服务器的文件${because(about)}。`,
      "sandbox.kubernetes_volume_claim 须是沙箱命名空间中的声明，指向挂载在 AGENTYARD_FILES_DIR 的同一个卷；sandbox.kubernetes_volume_path 为其在卷上的位置。",
    ],
    pod_start: (about) => [
      `集群无法启动沙箱${because(about)}。`,
      "详情见 kubectl -n NAMESPACE get events：多为配额、不存在的 RuntimeClass 或无法挂载的卷；镜像中须有 /usr/bin/python3。",
    ],
    pod_walls: (about) => [
      `此集群的 Pod 没有按要求封闭${because(about)}。`,
      "不得有东西中途改动沙箱的 Pod（准入 Webhook、边车容器），节点须使用默认的 seccomp 配置。",
    ],
    pod_network: (about) => [
      `沙箱中的程序能访问集群网络${because(about)}。`,
      "请应用 deploy/kubernetes 中的 NetworkPolicy，并使用能对外出连接（包括到节点本身）执行策略的网络插件（Calico 和 Cilium 可以）。",
    ],
    pod_memory: () => [
      "当一个沙箱的所有程序合计占用内存过多时，集群会结束整个沙箱，而不是其中一个程序。",
      "无需处理：单个程序会先碰到它自己的上限。",
    ],
    pod_processes: () => [
      "无法要求 Pod 限制进程数，只有节点可以。",
      "请在 kubelet 配置中设置 podPidsLimit；若服务器以 root 运行，每个对话还会按其用户受到限制。",
    ],
  },
  noNetwork:
    "程序不能访问任何主机，或者只能经由 HTTPS_PROXY 所指的代理访问 config/agentyard.yaml 中 sandbox.network_hosts 列出的主机。",
  noConversation: (p) =>
    `没有指明对话，因此 /workspace/${p.id} 不存在。请在请求正文中加上 conversation_id: "${p.id}"。`,
};
