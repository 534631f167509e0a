// Agents that work by tools of MCP, with clients of both revisions. An agent compares a conversion, and reads, claims
// and finishes documents. A tool that fails is a fault, unless the claim had ended.

import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { TOKENS } from '../../directory.ts'
import { type Claims, noteOutcome } from '../workers.ts'
import { count, fault, request, rest, type Soak } from '../world.ts'

type Result = { content: { text?: string }[]; structuredContent?: unknown; isError?: boolean }
type ClaimedDocument = { id: number; claim_id: string }

const ERAS = ['2026-07-28', '2025-11-25']
const CALLS_OF_A_CLIENT = 20
const CLAIM_SECONDS = 60

/** Works until `isDone`. */
export async function workByTools(
  soak: Soak,
  claims: Claims,
  { key, isDone }: { key: string; isDone: () => boolean },
): Promise<void> {
  const headers = { 'x-api-key': key, authorization: `Bearer ${TOKENS.work}` }
  for (let turn = 0; !isDone(); turn++) {
    const client = await connectClient(soak, ERAS[turn % ERAS.length] ?? '', headers)
    const call = async <T>(name: string, args: Record<string, unknown>): Promise<T | undefined> => {
      const { isError, content, structuredContent } = (await client.callTool({
        ...{ name, arguments: args },
      })) as Result
      count(soak, `tool ${name}${isError ? ' refused' : ''}`)
      if (!isError) return structuredContent as T
      if (name !== 'finish_document') fault(soak, `tool ${name}: ${content[0]?.text}`)
      return undefined
    }
    try {
      for (let calls = 0; calls < CALLS_OF_A_CLIENT && !isDone(); calls++) {
        await compareConversion(soak, headers, call)
        await call('list_documents', { limit: 5 })
        const claim = await call<{ documents: ClaimedDocument[] }>('claim_documents', {
          ...{ agent_id: 1, limit: 2, lease_seconds: CLAIM_SECONDS },
        })
        for (const one of claim?.documents ?? []) await finishByTool(claims, one, call)
        await rest(soak, 50, 300)
      }
    } finally {
      await client.close()
    }
  }
}

type Call = <T>(name: string, args: Record<string, unknown>) => Promise<T | undefined>

async function connectClient(soak: Soak, era: string, headers: Record<string, string>): Promise<Client> {
  const mode = era === ERAS[0] ? { pin: era } : 'legacy'
  const client = new Client({ name: 'soak', version: '1' }, { versionNegotiation: { mode } })
  const address = new URL(`${soak.urls()[0]}/mcp`)
  await client.connect(new StreamableHTTPClientTransport(address, { requestInit: { headers } }))
  return client
}

async function compareConversion(soak: Soak, headers: Record<string, string>, call: Call): Promise<void> {
  const amount = soak.random.int(1, 9999)
  const on = `2026-0${soak.random.int(4, 9)}-10`
  const byTool = await call('convert', { amount, from: 'USD', to: 'CRC', on })
  const path = `/api/v1/convert?amount=${amount}&from=USD&to=CRC&on=${on}`
  const answer = await request(soak, 'conversion', path, { headers })
  if (!answer || byTool === undefined) return
  if (JSON.stringify(byTool) !== JSON.stringify(JSON.parse(`${answer.body}`)))
    fault(soak, `tool convert: ${JSON.stringify(byTool)}, not ${answer.body}`)
}

async function finishByTool(claims: Claims, { id, claim_id }: ClaimedDocument, call: Call): Promise<void> {
  await call('read_document', { id })
  const result = `{"read":${id}, "by": "tool"}`
  // Others must not count the claim as theirs: it is live until the answer.
  claims.held.delete(id)
  const finish = await call('finish_document', { id, claim_id, outcome: 'done', result })
  if (finish !== undefined) noteOutcome(claims, { id, claim_id }, { outcome: 'done', result })
}
