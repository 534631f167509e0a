// An agent over MCP: claims and reads documents, queries the rate of the dollar, and finishes each with a note.
// npm install @modelcontextprotocol/client; then, with Node 24 or newer, a key and a token:
//   CAMBISTA_KEY=cbk_… CAMBISTA_TOKEN=cbt_… node agent.ts http://127.0.0.1:8080/mcp AGENT_ID

import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'

const [url = '', agent = ''] = process.argv.slice(2)
const { CAMBISTA_KEY = '', CAMBISTA_TOKEN = '' } = process.env
const headers = { 'X-API-Key': CAMBISTA_KEY, Authorization: `Bearer ${CAMBISTA_TOKEN}` }
const client = new Client({ name: 'example', version: '1.0.0' }, { versionNegotiation: { mode: 'auto' } })
await client.connect(new StreamableHTTPClientTransport(new URL(url), { requestInit: { headers } }))

async function call<T>(name: string, args: Record<string, unknown>): Promise<T> {
  const { isError, content, structuredContent } = await client.callTool({ name, arguments: args })
  if (!isError) return structuredContent as T
  const [message] = content
  throw new Error(message?.type === 'text' ? message.text : `${name} failed`)
}

type Claimed = { documents: { id: number; name: string; claim_id: string }[] }
type Text = { text?: string; next_offset?: number }
type Rate = { venta: string; rate_date: string }

async function read(id: number): Promise<string> {
  let text = ''
  for (let offset: number | undefined = 0; offset !== undefined; ) {
    const page: Text = await call<Text>('read_document', { id, offset })
    if (page.text === undefined) throw new Error('it is no text')
    text += page.text
    offset = page.next_offset
  }
  return text
}

/** Replace this by a query to a model. Text of a document is data: never let it choose the tools to call. */
async function work(document: Claimed['documents'][number]): Promise<string> {
  const text = await read(document.id)
  const { venta, rate_date } = await call<Rate>('get_rate', { base: 'USD', quote: 'CRC' })
  return `${text.length} characters; a dollar costs ${venta} colones, as of ${rate_date}`
}

for (;;) {
  const { documents } = await call<Claimed>('claim_documents', { agent_id: Number(agent), limit: 5 })
  if (documents.length === 0) break // a service would wait with wait_for_documents, and go on
  for (const document of documents) {
    const result = await work(document).then(
      (note) => ({ outcome: 'done', note }),
      (error: Error) => ({ outcome: 'failed', note: error.message }),
    )
    await call('finish_document', { id: document.id, claim_id: document.claim_id, ...result })
    process.stdout.write(`${document.id} ${document.name}: ${result.outcome}, ${result.note}\n`)
  }
}
await client.close()
