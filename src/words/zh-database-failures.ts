import type { DatabaseFault, enDatabaseFailures } from "./en-database-failures.ts";

export const zhDatabaseFailures: typeof enDatabaseFailures = {
  database_away: (p) => [
    {
      away: `无法连接数据库服务器（${p.said}）。`,
      starting: `数据库服务器正在启动或停止（${p.said}）。`,
      full: `数据库服务器的连接数已满（${p.said}）。`,
      commit_unknown: "保存时与数据库的连接中断，内容可能已保存，也可能没有。",
    }[p.why],
    {
      away: "请确认 PostgreSQL 正在运行、AGENTYARD_DATABASE_URL 中的地址正确；已经确认保存的内容都是安全的。",
      starting: "请稍后重试。",
      full: "请调大 PostgreSQL 的 max_connections，或者调小 storage.connections_max，然后重试。",
      commit_unknown: "请先查看是否已经保存，再决定是否重做。",
    }[p.why],
  ],
  database_unusable: (p) => [
    `AGENTYARD_DATABASE_URL 指定的数据库无法使用：${databaseFaults[p.why]?.what ?? p.why}${p.said === "" ? "" : `（${p.said}）`}。`,
    databaseFaults[p.why]?.next ?? "请运行 `agentyard doctor` 查看详情。",
  ],
  database_not_set: () => [
    "AGENTYARD_DATABASE_URL 没有指定要迁移到的数据库。",
    "请设置：AGENTYARD_DATABASE_URL=postgres://user:password@host/database agentyard migrate",
  ],
  database_not_empty: () => [
    "AGENTYARD_DATABASE_URL 指定的数据库中已有数据，没有改动任何内容。",
    "请使用空的数据库，或者换一个模式：在地址后加上 ?schema=NAME。",
  ],
  files_elsewhere: (p) => [
    `对话的文件在 ${p.from} 中，而 AGENTYARD_FILES_DIR 指定的是 ${p.to}；没有迁移任何内容。`,
    "请先把其中的 workspace、workspaces、kept 和 trash 目录移到那里，或者不设置 AGENTYARD_FILES_DIR。",
  ],
};

const databaseFaults: Readonly<Record<DatabaseFault, { readonly what: string; readonly next: string }>> = {
  refused: {
    what: "服务器拒绝这个用户登录",
    next: "请检查 AGENTYARD_DATABASE_URL 中的用户名和密码，以及服务器的 pg_hba.conf。",
  },
  no_database: {
    what: "没有这个名称的数据库",
    next: "请创建一个：createdb --encoding=UTF8 --template=template0 NAME",
  },
  no_rights: {
    what: "这个用户无权在其中建表",
    next: "请让该用户拥有这个数据库：ALTER DATABASE name OWNER TO user",
  },
  no_tls: {
    what: "无法按地址要求的方式加密连接",
    next: "请在服务器上配置 TLS，或者修改 AGENTYARD_DATABASE_URL 中的 sslmode。",
  },
  too_old: { what: "服务器版本太旧", next: "请使用 PostgreSQL 14 或更新的版本。" },
  encoding: {
    what: "它不以 UTF-8 保存文字",
    next: "请另建一个：createdb --encoding=UTF8 --template=template0 NAME",
  },
  foreign: {
    what: "其模式（schema）中有其他程序的表",
    next: "请换一个模式：在 AGENTYARD_DATABASE_URL 后加上 ?schema=NAME；原有内容没有被改动。",
  },
  other_key: {
    what: "其中的密钥数据是用另一个密钥加密的，不是这个服务器的密钥",
    next: "请给所有服务器设置相同的 AGENTYARD_KEY（第一个服务器数据目录中的 `key` 文件就是它）。如果那个密钥已彻底丢失，加密的内容也无法找回：DELETE FROM agentyard.secret",
  },
  other_files: {
    what: "它的文件在另一个目录中，不是这个服务器看到的目录",
    next: "请把 AGENTYARD_FILES_DIR 设为所有服务器共用的目录。如果这就是那个目录，或者文件已彻底丢失，请把冒号后的文字写入冒号前的文件。",
  },
  in_use: {
    what: "另一个 AgentYard 正在使用它",
    next: "请先结束那一个，或者给这一个单独的模式：在 AGENTYARD_DATABASE_URL 后加上 ?schema=NAME。",
  },
};
