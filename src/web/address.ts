import { BlockList, isIP, isIPv6 } from "node:net";
import { networkInterfaces } from "node:os";

/**
 * What an address stands for. `private`: a network that an operator may open by name. `never`: what no name may lead to,
 * such as the services by which clouds hand out the credentials of this machine.
 */
export type AddressKind = "public" | "private" | "never";

/** Looked up in the order of these lists: an address of the first one is never reached, whatever the others say. */
const never = listOf(
  // "This" network: on Linux a way to this machine itself.
  ["0.0.0.0", 8],
  ["169.254.0.0", 16],
  ["224.0.0.0", 4],
  ["240.0.0.0", 4],
  // The metadata services of Azure and of Alibaba Cloud: the only ones outside of link-local addresses.
  ["168.63.129.16", 32],
  ["100.100.100.200", 32],
  ["fd00:ec2::254", 128],
  ["fd20:ce::254", 128],
  ["::", 128],
  // IPv4 in other clothes: mapped, compatible, translated, by 6to4 and by Teredo.
  ["::ffff:0:0", 96],
  ["::ffff:0:0:0", 96],
  ["64:ff9b::", 96],
  ["64:ff9b:1::", 48],
  ["2002::", 16],
  ["2001::", 32],
  ["fe80::", 10],
  ["fec0::", 10],
  ["ff00::", 8],
);
const inside = listOf(
  ["10.0.0.0", 8],
  ["100.64.0.0", 10],
  ["127.0.0.0", 8],
  ["172.16.0.0", 12],
  ["192.168.0.0", 16],
  // For special uses, documentation and measurements: nobody out there has them.
  ["192.0.0.0", 24],
  ["192.0.2.0", 24],
  ["192.88.99.0", 24],
  ["198.18.0.0", 15],
  ["198.51.100.0", 24],
  ["203.0.113.0", 24],
  ["2001::", 23],
  ["2001:db8::", 32],
  ["3fff::", 20],
);
/** All addresses of the internet's second half are below it today. */
const global6 = listOf(["2000::", 3]);

export function kindOf(address: string): AddressKind {
  const family = isIPv6(address) ? "ipv6" : "ipv4";
  // A zone belongs to link-local addresses only.
  if (isIP(address) === 0 || address.includes("%") || never[family].check(address, family)) return "never";
  if (inside[family].check(address, family) || isOfThisMachine(address)) return "private";
  return family === "ipv6" && !global6.ipv6.check(address, family) ? "private" : "public";
}

/** Its services trust those who come from it, also by its public name. */
export function isOfThisMachine(address: string): boolean {
  const own = new BlockList();
  // All of them, though an interface has only the first.
  own.addSubnet("127.0.0.0", 8, "ipv4");
  own.addAddress("::1", "ipv6");
  for (const { address: mine, family } of Object.values(networkInterfaces()).flatMap((all) => all ?? []))
    own.addAddress(mine, family === "IPv6" ? "ipv6" : "ipv4");
  return own.check(address, isIPv6(address) ? "ipv6" : "ipv4");
}

type Lists = { readonly ipv4: BlockList; readonly ipv6: BlockList };

/** Two lists: in one, an IPv4 address would also be found by what was said of its mapped form. */
function listOf(...subnets: readonly (readonly [net: string, bits: number])[]): Lists {
  const lists = { ipv4: new BlockList(), ipv6: new BlockList() };
  for (const [net, bits] of subnets) {
    const family = isIPv6(net) ? "ipv6" : "ipv4";
    lists[family].addSubnet(net, bits, family);
  }
  return lists;
}
