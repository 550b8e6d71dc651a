import type { enSecretFailures, SecretKeyFault } from "./en-secret-failures.ts";

export const zhSecretFailures: typeof enSecretFailures = {
  secret_key_unusable: (p) => [
    secretKeyFaults[p.why]?.what ?? p.why,
    secretKeyFaults[p.why]?.next ?? secretKeyFaults.missing.next,
  ],
  secret_sealed: (p) => [
    p.why === "other_key" ? `已保存的密文 ${p.name} 是用另一个密钥加密的。` : `已保存的密文 ${p.name} 已损坏。`,
    p.why === "other_key"
      ? "请恢复当时使用的密钥（AGENTYARD_KEY，或数据目录中的 `key` 文件），或者重新填写。"
      : "请重新填写。",
  ],
  secret_too_long: (p) => [`内容超过 ${p.limitBytes} 字节。`, "请确认只填写了令牌或密码本身。"],
};

const secretKeyFaults: Readonly<Record<SecretKeyFault, { readonly what: string; readonly next: string }>> = {
  missing: {
    what: "无法解开已保存的密文：找不到它们的密钥。",
    next: "请将 AGENTYARD_KEY 设为该密钥，或把 `key` 文件放回数据目录；否则请重新填写。",
  },
  unreadable: {
    what: "无法解开已保存的密文：无法读取数据目录中的 `key` 文件。",
    next: "请允许运行 AgentYard 的系统用户读取它，或设置 AGENTYARD_KEY。",
  },
  unwritable: {
    what: "未能保存：无法在数据目录中创建 `key` 文件。",
    next: "请清理磁盘空间或给予写权限，或设置 AGENTYARD_KEY。",
  },
  unfit: {
    what: "无法解开已保存的密文：数据目录中的 `key` 文件不是密钥。",
    next: "请放回正确的文件；如果此前没有保存过任何内容，请删除该文件，会自动生成新的。",
  },
};
