import { createSocket } from "node:dgram";
import { Resolver } from "node:dns/promises";
import { once } from "node:events";
import type { Lookup } from "../../src/web/web.ts";

/** What a name means: one list of addresses for each time that somebody asks; the last one stays. */
export type Zone = Readonly<Record<string, readonly (readonly string[])[]>>;

/** A name server on a real socket, and a lookup that asks it. */
export async function dnsServer(t: { after(end: () => unknown): void }, zone: Zone) {
  const asked: string[] = [];
  const socket = createSocket("udp4");
  socket.on("message", (query, from) => {
    const { name, type, end } = questionIn(query);
    if (type === 1) asked.push(name);
    const turns = zone[name] ?? [];
    const turn = asked.filter((one) => one === name).length - 1;
    const meant = turns[Math.min(Math.max(turn, 0), turns.length - 1)] ?? [];
    const fit = meant.filter((address) => (type === 28) === address.includes(":"));
    socket.send(answerTo(query, end, { addresses: fit, isKnown: turns.length > 0 }), from.port, from.address);
  });
  socket.bind(0, "127.0.0.1");
  await once(socket, "listening");
  t.after(() => socket.close());
  const resolver = new Resolver({ timeout: 30_000, tries: 1 });
  resolver.setServers([`127.0.0.1:${socket.address().port}`]);
  const lookup: Lookup = async (host) => {
    const found = await Promise.allSettled([resolver.resolve4(host), resolver.resolve6(host)]);
    return found.flatMap((one) => (one.status === "fulfilled" ? one.value : []));
  };
  return { asked, lookup };
}

function questionIn(query: Buffer): { name: string; type: number; end: number } {
  const labels: string[] = [];
  let at = 12;
  for (let length = query[at] ?? 0; length > 0; length = query[at] ?? 0) {
    labels.push(query.toString("latin1", at + 1, at + 1 + length));
    at += 1 + length;
  }
  return { name: labels.join(".").toLowerCase(), type: query.readUInt16BE(at + 1), end: at + 5 };
}

/** RFC 1035: the same question, then a record for each address with a time to live of 0. */
function answerTo(
  query: Buffer,
  end: number,
  { addresses, isKnown }: { addresses: string[]; isKnown: boolean },
): Buffer {
  const head = Buffer.from(query.subarray(0, 12));
  head.writeUInt16BE(isKnown ? 0x8180 : 0x8183, 2);
  head.writeUInt16BE(addresses.length, 6);
  head.writeUInt32BE(0, 8);
  const records = addresses.map((address) => {
    const data = bytesOf(address);
    const record = Buffer.alloc(12);
    record.writeUInt16BE(0xc00c, 0);
    record.writeUInt16BE(data.length === 4 ? 1 : 28, 2);
    record.writeUInt16BE(1, 4);
    record.writeUInt32BE(0, 6);
    record.writeUInt16BE(data.length, 10);
    return Buffer.concat([record, data]);
  });
  return Buffer.concat([head, query.subarray(12, end), ...records]);
}

function bytesOf(address: string): Buffer {
  if (!address.includes(":")) return Buffer.from(address.split(".").map(Number));
  const [before = "", after = ""] = address.split("::");
  const words = (text: string) => text.split(":").filter((word) => word !== "");
  const missing = 8 - words(before).length - words(after).length;
  const all = address.includes("::")
    ? [...words(before), ...Array.from({ length: missing }, () => "0"), ...words(after)]
    : words(address);
  const bytes = Buffer.alloc(16);
  all.forEach((word, index) => {
    bytes.writeUInt16BE(Number.parseInt(word, 16), index * 2);
  });
  return bytes;
}
