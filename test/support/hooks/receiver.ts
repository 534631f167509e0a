// A receiver of webhooks: a real server that stores its messages and answers as the test defines. The package of
// Standard Webhooks verifies signatures.

import { once } from 'node:events'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import { createServer as createTlsServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import type { TestContext } from 'node:test'
import { Webhook } from 'standardwebhooks'

export type ReceivedMessage = {
  /** The header `webhook-id`. */
  id: string
  path: string
  headers: Record<string, string>
  text: string
  body: { type: string; timestamp: string; data: Record<string, unknown> }
}

export type Receiver = {
  url: string
  received: ReceivedMessage[]
  /** Answers each request after its body arrived; by default with 204. */
  answer: (response: ServerResponse, received: ReceivedMessage) => void
  /** Parses the message as a receiver does. @throws if no signature fits the secret, or if it is too old */
  verify(secret: string, received: ReceivedMessage | undefined): unknown
  close(): Promise<void>
}

export async function startReceiver(
  t: Pick<TestContext, 'after'>,
  { tls, port = 0 }: { tls?: { cert: string; key: string }; port?: number } = {},
): Promise<Receiver> {
  const receiver: Receiver = {
    url: '',
    received: [],
    answer: (response) => response.writeHead(204).end(),
    verify: (secret, one) => new Webhook(secret).verify(one?.text ?? '', one?.headers ?? {}),
    async close() {
      server.closeAllConnections()
      if (server.listening) await new Promise((resolve) => server.close(resolve))
    },
  }
  const receive = async (request: IncomingMessage, response: ServerResponse) => {
    request.setEncoding('utf8')
    let text = ''
    for await (const some of request) text += some
    const headers = Object.fromEntries(
      Object.entries(request.headers).map(([name, value]) => [name, String(value)]),
    )
    const one = {
      id: headers['webhook-id'] ?? '',
      path: request.url ?? '',
      headers,
      text,
      body: JSON.parse(text),
    }
    receiver.received.push(one)
    receiver.answer(response, one)
  }
  const onRequest = (request: IncomingMessage, response: ServerResponse) => {
    receive(request, response).catch(() => response.destroy()) // the sender aborted it
  }
  const server: Server = tls ? createTlsServer(tls, onRequest) : createServer(onRequest)
  server.listen(port, '127.0.0.1')
  await once(server, 'listening')
  t.after(() => receiver.close())
  receiver.url = `${tls ? 'https' : 'http'}://127.0.0.1:${(server.address() as AddressInfo).port}/hook`
  return receiver
}
