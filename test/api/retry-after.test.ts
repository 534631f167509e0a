// Retry-After is on every 503, in each face: damaged database, lost data directory, stale rates.
// test/engines/outage.test.ts has the unreachable database.

import assert from 'node:assert/strict'
import { closeSync, openSync, readSync, renameSync, statSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import Sqlite from 'better-sqlite3'
import { ofSqlite, startTestApp, type TestApp, temporaryDirectory } from '../support/app.ts'
import { batch, CREATE, fillDirectory, pdf, post, TOKENS } from '../support/directory.ts'
import { ASMX } from './compat/asmx.ts'

const PAGE = 4096
const SDDE = '/SDDE/api/Bccr.GE.SDDE.Publico.Indicadores.API/indicadoresEconomicos'
const OLD_SERVICE =
  'Indicador=333&FechaInicio=02/02/2026&FechaFinal=02/02/2026&Nombre=N&SubNiveles=N&CorreoElectronico=a@b.cr&Token=x'

/** Requests that need the database: a path, and the body of a POST. */
const UNREADABLE: [path: string, body?: unknown][] = [
  ['/api/v1/health'],
  ['/api/v1/status'],
  ['/api/v1/scheduler'],
  ['/api/v1/sync/runs'],
  ['/api/v1/series/3/history'],
  ['/api/v1/history?base=EUR&quote=USD'],
  ['/api/v1/convert?amount=1&from=EUR&to=CRC'],
  ['/api/v1/convert/batch', [{ amount: 1, from: 'EUR', to: 'CRC', on: '2026-02-03' }]],
  ['/api/v1/export.csv'],
  ['/api/v1/documents'],
  ['/api/v1/documents/1'],
  ['/api/v1/documents/1/content'],
  [CREATE, batch(pdf('uno'))],
  ['/api/v1/agent/get_by_company', { company_id: 1, code: 'ACME' }],
  ['/mcp', { jsonrpc: '2.0', id: 1, method: 'tools/list' }],
  ['/session/code', { code: 'unknown' }],
  ['/compat/valor?de=EUR&a=CRC&fecha=2026-02-02'],
  ['/k/unknown/compat/valor?de=EUR&a=CRC'],
  ['/v1/2026-02-02?base=USD'],
  ['/v2/rate/EUR/CRC?date=2026-02-02'],
  ['/historical?date=2026-02-02&source=USD&currencies=EUR'],
  ['/api/2026-02-02?base=USD&symbols=EUR'],
  ['/api/historical/2026-02-02.json?base=USD'],
  ['/v6/history/USD/2026/2/2'],
  [`${ASMX}/ObtenerIndicadoresEconomicosXML?${OLD_SERVICE}`],
  [`${SDDE}/333/series?fechaInicio=2026/02/02&fechaFin=2026/02/02&idioma=ES`],
]

/** Requests of the dollar, which is in memory: their answers do not need the database. */
const OF_DOLLAR = [
  '/api/v1/history?base=USD&quote=CRC',
  '/compat/valor?de=USD&a=CRC&fecha=2026-02-02',
  '/indicadores/tc/dolar/historico?d=2026-01-05&h=2026-02-02',
]

test('Retry-After is on the 503 of an unreadable database, in every face', ofSqlite, async (t) => {
  const app = await startTestApp(t, { listen: { compat: { open: 'any', serveRounded: false } } })
  await fillDirectory(app)
  await app.sync()
  const ask = (path: string) => fetch(app.app.url + path, { headers: { 'x-api-key': app.key } })
  for (const path of OF_DOLLAR) await ask(path)
  damage(t, app)
  for (const [path, body] of UNREADABLE) {
    const isOfDocuments = /documents|agent/.test(path)
    const response = await fetch(app.app.url + path, {
      headers: {
        ...(isOfDocuments ? { authorization: `Bearer ${TOKENS.all}` } : {}),
        // For /mcp an unknown key, which needs a query of the database.
        ...(isOfDocuments ? {} : { 'x-api-key': path === '/mcp' ? 'unknown' : app.key }),
        ...(body ? { 'content-type': 'application/json' } : {}),
      },
      ...(body ? { method: 'POST', body: JSON.stringify(body) } : {}),
    })
    const about = `${path}: ${(await response.text()).slice(0, 200)}`
    assert.deepEqual([response.status, response.headers.get('retry-after')], [503, '5'], about)
  }
  for (const path of OF_DOLLAR) assert.equal((await ask(path)).status, 200, path)
})

test('Retry-After is on the 503 of an upload whose folder is gone', async (t) => {
  const app = await startTestApp(t, { dataDir: join(temporaryDirectory(t), 'data') })
  await fillDirectory(app)
  renameSync(app.dataDir, `${app.dataDir}-gone`)
  const refused = await post(app, CREATE, batch(pdf('uno')))
  assert.deepEqual([refused.status, refused.headers.get('retry-after')], [503, '5'])
})

test('Retry-After is on the 503 of /readyz when the dollar is stale', async (t) => {
  const app = await startTestApp(t)
  const stale = await fetch(`${app.app.url}/readyz?fresh=true`)
  assert.deepEqual([stale.status, stale.headers.get('retry-after')], [503, '5'])
  await app.sync()
  const fresh = await fetch(`${app.app.url}/readyz?fresh=true`)
  assert.deepEqual([fresh.status, fresh.headers.get('retry-after')], [200, null])
})

/** Damages every page of the database but the first; the commit makes the server read them again. */
function damage(t: TestContext, app: TestApp): void {
  const path = join(app.dataDir, 'cambista.db')
  const other = new Sqlite(path)
  t.after(() => other.close())
  other.pragma('wal_checkpoint(truncate)')
  other.exec('begin immediate; update companies set name = upper(name)')
  const file = openSync(path, 'r+')
  const byte = Buffer.alloc(1)
  for (let at = PAGE; at < statSync(path).size; at += PAGE) {
    readSync(file, byte, 0, 1, at)
    writeSync(file, Buffer.of((byte[0] ?? 0) ^ 0x10), 0, 1, at)
  }
  closeSync(file)
  other.exec('commit')
}
