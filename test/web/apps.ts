// Apps for tests of the page. The full one has rates since 1983, two companies and documents of every preview kind. The
// clocks of apps and pages start at the same time.

import { cpSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after } from 'node:test'
import { makeLoginLink } from '../../src/domain/access/login-links.ts'
import { hashOfSecret } from '../../src/domain/access/secrets.ts'
import { openDatabase } from '../../src/store/sqlite/database.ts'
import { openApp } from '../api/support.ts'
import type { TestApp, TestAppOptions } from '../support/app.ts'
import { COMPANY, makeDirectory, runJson } from '../support/company.ts'
import { createDocuments, fillPageApp, type NewDocument, NOW, type PageApp } from './support.ts'

// 1 x 1 pixel
const PNG = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=='

export const DOCUMENTS: readonly NewDocument[] = [
  {
    name: 'Estado de cuenta octubre.csv',
    mimetype: 'text/csv',
    content: 'fecha;monto\n2026-10-31;1.250.000,00\n',
  },
  { name: 'sello.png', mimetype: 'image/png', content: Buffer.from(PNG, 'base64') },
  {
    name: 'Contrato de arrendamiento firmado.pdf',
    mimetype: 'application/pdf',
    content: '%PDF-1.4\n%%EOF\n',
  },
  {
    name: 'FE-00100001010000000123-comprobante-electronico-con-un-nombre-muy-largo-de-verdad.xml',
    mimetype: 'application/xml',
    content: `<?xml version="1.0"?>\n<FacturaElectronica>\n${'  <Linea>Café molido 500 g</Linea>\n'.repeat(60)}</FacturaElectronica>\n`,
  },
  { name: '<img src=x onerror=alert(1)>.html', mimetype: 'text/html', content: '<script>alert(1)</script>' },
  { name: 'respaldo.zip', mimetype: 'application/zip', content: Buffer.alloc(1_400_000) },
  { name: 'Factura 2026-11.txt', mimetype: 'text/plain', content: 'Factura 118: 15.000,00 CRC\n' },
]

/** Environment variable with the data directory that `full-app.ts` made for all files of a run. */
export const FULL_APP_VARIABLE = 'CAMBISTA_TEST_FULL_APP'
export const FULL_APP: TestAppOptions = { now: NOW, backfillFrom: '1983-01-01' }
export const SECRETS_FILE = 'secrets.json'

/** Starts the full app for a file of tests, on a copy of the data of the run. Without them it makes its own. */
export async function openFullApp(): Promise<PageApp> {
  const { [FULL_APP_VARIABLE]: data } = process.env
  if (data === undefined) return fillFullApp(await openApp(FULL_APP))
  const dataDir = mkdtempSync(join(tmpdir(), 'cambista-test-'))
  cpSync(data, dataDir, { recursive: true })
  const app = await openApp({ ...FULL_APP, dataDir })
  after(() => rmSync(dataDir, { recursive: true, force: true }))
  return { ...app, ...JSON.parse(readFileSync(join(dataDir, SECRETS_FILE), 'utf8')) }
}

export async function fillFullApp(started: TestApp): Promise<PageApp> {
  const app = await fillPageApp(started)
  const create = (...words: string[]) => runJson(app.dataDir, ...words)
  await create('agent', 'create', '--name', 'Archivista', '--company', String(COMPANY))
  await create('company', 'create', '--name', 'Comercial Demostración S.A.', '--code', 'DEMO', '--id', '8')
  await create('owner', 'create', '--name', 'Luis Rojas', '--company', '8')
  await create('agent', 'create', '--name', 'Lector', '--company', '8')
  for (const document of DOCUMENTS) await createDocuments(app, [document])
  return app
}

/** Path of a one-time link for the key and the token, as `cambista web` prints it. */
export async function loginPath({ dataDir, key, token, clock }: PageApp): Promise<string> {
  const db = openDatabase(dataDir)
  const selectId = async (table: 'api_keys' | 'tokens', secret: string) =>
    (
      await db
        .selectFrom(table)
        .select('id')
        .where('hash', '=', hashOfSecret(secret))
        .executeTakeFirstOrThrow()
    ).id
  try {
    const target = { keyId: await selectId('api_keys', key), tokenId: await selectId('tokens', token) }
    return `/#login=${(await makeLoginLink(db, target, clock.read)).code}`
  } finally {
    await db.destroy()
  }
}

/** Starts an app as after an installation, without rates and documents. */
export async function openEmptyApp(): Promise<PageApp> {
  const app = await openApp({ now: NOW })
  await makeDirectory(app.dataDir)
  const words = ['token', 'create', 'facturas', '--allow', 'documents:GET', '--allow', 'documents:POST']
  const { token } = await runJson<{ token: string }>(app.dataDir, ...words)
  return Object.assign(app, { token })
}
