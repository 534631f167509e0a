// Reply of the fake bank.

export type BankReply = { status: number; headers?: Record<string, string>; body?: string }

/** Returns an error of the public API (upstream 1). */
export function bankError(status: number, message: string): BankReply {
  return { status, body: JSON.stringify({ CodigoError: String(status), Mensaje: message }) }
}
