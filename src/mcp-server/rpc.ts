type RpcFault = { readonly code: number; readonly message: string; readonly data?: object };

/** Why a request was not even looked at, as JSON-RPC has it: nobody knows which of its messages it is about. */
export function rpcFault(error: RpcFault) {
  return { jsonrpc: "2.0" as const, id: null, error };
}

export function rpcRefusal(status: number, error: RpcFault): Response {
  return Response.json(rpcFault(error), { status });
}
