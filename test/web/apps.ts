// A box with what each screen can show: rates since 1983, two companies, documents of every kind that a preview knows; and
// an empty one. The clock of both stands still, and that of the pages begins at the same moment.

import { makeLoginLink } from '../../src/domain/login-links.ts'
import { hashOfSecret } from '../../src/domain/secrets.ts'
import { openDatabase } from '../../src/store/sqlite/database.ts'
import { openApp } from '../api/support.ts'
import { COMPANY, makeDirectory, runJson } from '../support/company.ts'
import { NOW, openPageApp, type PageApp, post, type Sent } from './support.ts'

// 1 x 1 pixel
const PNG = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=='

export const DOCUMENTS: readonly Sent[] = [
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

/** With all of it, for the tests of a whole file. It takes some seconds. */
export async function openFullBox(): Promise<PageApp> {
  const box = await openPageApp({ backfillFrom: '1983-01-01' })
  const make = (...words: string[]) => runJson(box.dataDir, ...words)
  await make('agent', 'create', '--name', 'Archivista', '--company', String(COMPANY))
  await make('company', 'create', '--name', 'Comercial Demostración S.A.', '--code', 'DEMO', '--id', '8')
  await make('owner', 'create', '--name', 'Luis Rojas', '--company', '8')
  await make('agent', 'create', '--name', 'Lector', '--company', '8')
  for (const document of DOCUMENTS) await post(box, [document])
  return box
}

/** The path of a one-time link for the key and the token of a box, as `cambista web` prints it. */
export async function loginPath({ dataDir, key, token, clock }: PageApp): Promise<string> {
  const db = openDatabase(dataDir)
  const idIn = async (table: 'api_keys' | 'tokens', secret: string) =>
    (
      await db
        .selectFrom(table)
        .select('id')
        .where('hash', '=', hashOfSecret(secret))
        .executeTakeFirstOrThrow()
    ).id
  try {
    const target = { keyId: await idIn('api_keys', key), tokenId: await idIn('tokens', token) }
    return `/#login=${(await makeLoginLink(db, target, clock.read)).code}`
  } finally {
    await db.destroy()
  }
}

/** One that was just installed: nothing is synchronized, and nothing has arrived. */
export async function openEmptyBox(): Promise<PageApp> {
  const app = await openApp({ now: NOW })
  await makeDirectory(app.dataDir)
  const words = ['token', 'create', 'facturas', '--allow', 'documents:GET', '--allow', 'documents:POST']
  const { token } = await runJson<{ token: string }>(app.dataDir, ...words)
  return Object.assign(app, { token })
}
