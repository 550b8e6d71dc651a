import { isIP, type Socket } from "node:net";
import { connect as connectTls } from "node:tls";
import { bareHost, hostInAddress } from "../base/host.ts";
import { failed, ok, type Result } from "../base/result.ts";
import { type Connect, type ConnectLimits, connectToAny, lookUp } from "./connect.ts";
import type { Lookup } from "./lookup.ts";

type Parts = ConnectLimits & {
  readonly lookup: Lookup;
  readonly connect?: Connect | undefined;
  readonly signal: AbortSignal;
};

const headBytesMax = 16 * 1024;

/**
 * Through the operator's own proxy to an address that was looked at by us: it is asked for the address, and not for the
 * name, which might mean somebody else when the proxy looks it up. The proxy itself may be anywhere.
 */
export async function openTunnel(
  proxy: URL,
  { address, port }: { readonly address: string; readonly port: number },
  parts: Parts,
): Promise<Result<Socket, "unreachable" | "proxy">> {
  const host = bareHost(proxy.hostname);
  const isSecure = proxy.protocol === "https:";
  const addresses = await lookUp({ ...parts, host });
  const plain = await connectToAny(addresses, Number(proxy.port || (isSecure ? 443 : 80)), parts);
  if (plain === undefined) return failed("proxy");
  const socket = isSecure
    ? connectTls({ socket: plain, host, ...(isIP(host) === 0 ? { servername: host } : {}) })
    : plain;
  const target = `${hostInAddress(address)}:${port}`;
  const name = decoded(proxy.username);
  const credentials = Buffer.from(`${name}:${decoded(proxy.password)}`).toString("base64");
  const authorization = name === "" ? "" : `Proxy-Authorization: Basic ${credentials}\r\n`;
  return ask(socket, `CONNECT ${target} HTTP/1.1\r\nHost: ${target}\r\n${authorization}\r\n`, parts);
}

/** Somebody may have written a percent sign as it is. */
function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** Sends the request and takes the answer's head off the stream; what comes after it is the other side's. */
function ask(socket: Socket, request: string, { clock, connectMsMax, signal }: Parts) {
  return new Promise<Result<Socket, "proxy">>((resolve) => {
    let came = Buffer.alloc(0);
    const end = (isOpen: boolean) => {
      stopTimer();
      signal.removeEventListener("abort", refuse);
      socket.off("data", take).off("error", refuse).off("close", refuse);
      socket.on("error", () => {});
      if (!isOpen) socket.destroy();
      resolve(isOpen ? ok(socket) : failed("proxy"));
    };
    const refuse = () => end(false);
    const take = (chunk: Buffer) => {
      came = Buffer.concat([came, chunk]);
      const at = came.indexOf("\r\n\r\n");
      if (at < 0) return void (came.length > headBytesMax && refuse());
      if (!/^HTTP\/1\.[01] 2\d\d/.test(came.toString("latin1", 0, at))) return refuse();
      socket.pause();
      const rest = came.subarray(at + 4);
      end(true);
      if (rest.length > 0) socket.unshift(rest);
    };
    const stopTimer = clock.after(connectMsMax, refuse);
    signal.addEventListener("abort", refuse, { once: true });
    socket.on("data", take).once("error", refuse).once("close", refuse);
    socket.write(request);
  });
}
