// What the stand-in bank answers with.

export type BankReply = { status: number; headers?: Record<string, string>; body?: string }

/** An error as the public API words it (upstream 1). */
export function bankError(status: number, message: string): BankReply {
  return { status, body: JSON.stringify({ CodigoError: String(status), Mensaje: message }) }
}
