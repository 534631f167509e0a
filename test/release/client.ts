// A client of an installed service: key, token, a rate and a document. Its bank is a fake.

import assert from 'node:assert/strict'
import { createHash, randomBytes } from 'node:crypto'
import type { TestContext } from 'node:test'
import { startBank } from '../../src/demo/bank.ts'
import { currentDay } from '../../src/values/dates.ts'
import { freePort } from '../support/program.ts'
import { until } from '../support/terminal.ts'
import type { Root } from './roots.ts'

const DAY = '2026-01-16'
const RATE = `/api/v1/rates/latest?on=${DAY}`

/** Settings of a service with a fake bank, on a free port. */
export async function bankSettings(t: TestContext) {
  const bank = await startBank({ today: () => currentDay(() => new Date()) })
  t.after(() => bank.close())
  const port = await freePort()
  const variables = { CAMBISTA_BCCR_URL: bank.url, CAMBISTA_BCCR_PACE: '0' }
  const own = { CAMBISTA_DATA_DIR: '/var/lib/cambista', CAMBISTA_PORT: port, CAMBISTA_NO_SCHEDULER: 1 }
  const lines = Object.entries({ ...own, ...variables }).map(([name, value]) => `${name}="${value}"\n`)
  return { variables, text: lines.join(''), url: `http://127.0.0.1:${port}`, closeBank: bank.close }
}

/** A client of the installed service, with a key, a token, a rate and a document. */
export async function useService(root: Root, url: string) {
  const client = await makeClient(async (...words) => {
    const { code, text } = await root.run('sh', '-c', 'exec cambista "$@" 2>/dev/null', 'sh', ...words)
    assert.equal(code, 0, `${words.join(' ')}: ${text}`)
    return text
  })
  await until(async () => (await fetch(`${url}/api/v1/rates/latest?on=${DAY}`, client.rates)).status === 200)
  await client.upload(url)
  return { ...client, look: (other = url) => client.look(other) }
}

/** Makes key, token and rates by a command, which returns stdout. */
export async function makeClient(cambista: (...words: string[]) => Promise<string>) {
  const rates = { headers: { 'x-api-key': (await cambista('key', 'create', 'erp')).trim() } }
  await cambista('company', 'create', '--name', 'Acme', '--code', 'ACME', '--id', '1')
  await cambista('owner', 'create', '--name', 'Ana', '--company', '1', '--id', '1')
  await cambista('agent', 'create', '--name', 'Lector', '--company', '1', '--id', '1')
  const families = ['documents:POST', 'documents:GET', 'documents:CLAIM']
  const allow = families.flatMap((family) => ['--allow', family])
  const headers = { authorization: `Bearer ${(await cambista('token', 'create', 'erp', ...allow)).trim()}` }
  await cambista('sync', '--from', '2026-01-12', '--to', DAY)
  const bytes = randomBytes(200_000)
  const hash = (content: Uint8Array) => createHash('sha256').update(content).digest('hex')
  return {
    ...{ rates, headers },
    async upload(url: string): Promise<void> {
      const document = {
        name: 'a.bin',
        mimetype: 'application/octet-stream',
        base64: bytes.toString('base64'),
      }
      const body = JSON.stringify({ owner_id: 1, company_id: 1, agent_id: 1, documents: [document] })
      const response = await fetch(`${url}/api/v1/documents/create`, { method: 'POST', headers, body })
      assert.equal(response.status, 200, await response.text())
    },
    /** Returns the statuses of a rate and of the document, and the hash of its content. */
    async look(url: string) {
      const rate = await fetch(`${url}${RATE}`, rates)
      await rate.body?.cancel()
      const content = await fetch(`${url}/api/v1/documents/1/content`, { headers })
      return [rate.status, content.status, hash(await content.bytes())]
    },
    expected: [200, 200, hash(bytes)],
  }
}
