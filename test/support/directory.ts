// A company with an owner, agents and tokens, made straight in the database.

import { hashOfSecret } from '../../src/domain/access/secrets.ts'
import type { WriteDb } from '../../src/store/tables.ts'
import type { TestApp } from './app.ts'
import { openTestDatabase } from './temporary.ts'
import { until } from './terminal.ts'

export const AT = '2026-03-01T00:00:00.000Z'

/** Tokens of the directory below, by their permission. */
export const TOKENS = {
  all: 'cbt_all',
  upload: 'cbt_upload',
  read: 'cbt_read',
  agent: 'cbt_agent',
  expired: 'cbt_expired',
  lastDay: 'cbt_last_day',
  revoked: 'cbt_revoked',
  work: 'cbt_work',
  other: 'cbt_other',
  ofAgent: 'cbt_of_agent',
  ofCompany: 'cbt_of_company',
  remove: 'cbt_remove',
} as const

const WORK = 'documents:CLAIM documents:GET'

/** The logged name of a token of the tests; secrets are never logged. */
export function tokenName(secret: string): string {
  return secret.replace('cbt_', 'test-')
}

/**
 * Inserts company 1 (ACME) with owner 1 and agents 1 (active) and 2 (inactive). Company 2 (OTRA) has owner 2 and
 * agent 3. Owner 3 has no company. The server accepts the tokens when this returns. Its day must be 2026-03-24.
 */
export async function fillDirectory(app: TestApp): Promise<void> {
  await fillDatabase(app.dataDir)
  await until(async () => (await read(app, '/api/v1/documents')).status === 200)
}

/** Fills the database of a server that is stopped, or that is another process. */
export async function fillDatabase(dataDir: string): Promise<void> {
  const db = openTestDatabase(dataDir)
  await fillTables(db)
  await db.destroy()
}

export async function fillTables(db: WriteDb): Promise<void> {
  const agent = (facts: {
    id: number
    company_id: number
    name: string
    description?: string
    active?: number
  }) => ({
    description: '',
    active: 1,
    created_at: AT,
    ...facts,
  })
  await db
    .insertInto('companies')
    .values([
      { id: 1, name: 'Acme S.A.', code: 'ACME', created_at: AT },
      { id: 2, name: 'Otra', code: 'OTRA', created_at: AT },
    ])
    .execute()
  await db
    .insertInto('owners')
    .values([
      { id: 1, name: 'Ana', company_id: 1, created_at: AT },
      { id: 2, name: 'Beto', company_id: 2, created_at: AT },
      { id: 3, name: 'Caro', company_id: null, created_at: AT },
    ])
    .execute()
  await db
    .insertInto('agents')
    .values([
      agent({ id: 1, company_id: 1, name: 'Lector', description: '<p>Lee <b>facturas</b></p>' }),
      agent({ id: 2, company_id: 1, name: 'Dormido', active: 0 }),
      agent({ id: 3, company_id: 2, name: 'Otro' }),
    ])
    .execute()
  type More = { expires_at?: string; revoked_at?: string; company_id?: number; agent_id?: number }
  const token = (secret: string, allow: string, more: More = {}) => ({
    name: tokenName(secret),
    hash: hashOfSecret(secret),
    allow,
    created_at: AT,
    expires_at: null,
    revoked_at: null,
    company_id: null,
    agent_id: null,
    ...more,
  })
  await db
    .insertInto('tokens')
    .values([
      token(TOKENS.all, 'documents:POST documents:GET agent:POST'),
      token(TOKENS.upload, 'documents:POST'),
      token(TOKENS.read, 'documents:GET'),
      token(TOKENS.agent, 'agent:POST'),
      token(TOKENS.expired, 'documents:POST', { expires_at: '2026-03-23' }),
      token(TOKENS.lastDay, 'documents:POST', { expires_at: '2026-03-24' }),
      token(TOKENS.revoked, 'documents:POST', { revoked_at: AT }),
      token(TOKENS.work, WORK),
      token(TOKENS.other, WORK),
      token(TOKENS.ofAgent, `${WORK} documents:POST agent:POST documents:DELETE`, {
        company_id: 1,
        agent_id: 1,
      }),
      token(TOKENS.ofCompany, WORK, { company_id: 2 }),
      token(TOKENS.remove, 'documents:DELETE'),
    ])
    .execute()
}

/** A POST of JSON, or of a text or bytes unchanged. */
export function post(
  app: TestApp,
  path: string,
  body: unknown,
  headers: Record<string, string> = {},
): Promise<Response> {
  return fetch(app.app.url + path, {
    method: 'POST',
    headers: { authorization: `Bearer ${TOKENS.all}`, ...headers },
    body: typeof body === 'string' || body instanceof Uint8Array ? (body as string) : JSON.stringify(body),
  })
}

/** A GET with a token. */
export function read(app: TestApp, path: string, headers: Record<string, string> = {}): Promise<Response> {
  return fetch(app.app.url + path, { headers: { authorization: `Bearer ${TOKENS.all}`, ...headers } })
}

export const CREATE = '/api/v1/documents/create'

/** A valid upload of these documents. */
export function batch(...documents: unknown[]): Record<string, unknown> {
  return { owner_id: 1, company_id: 1, agent_id: 1, documents }
}

export function pdf(text = 'hola', name = 'factura.pdf') {
  return { name, mimetype: 'application/pdf', base64: Buffer.from(text).toString('base64') }
}

/** Requests that wait for a document. The app needs `listen: { metrics: 'local' }`. */
export async function countWaits(app: TestApp): Promise<number> {
  const metrics = await (await fetch(`${app.app.url}/metrics`)).text()
  return Number(/^cambista_document_waits (\d+)$/m.exec(metrics)?.[1])
}
