// Parts that the executable loads on their first use. Each is packed and works, and shares its error classes with the
// rest.

import assert from 'node:assert/strict'
import { once } from 'node:events'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { createWorkbook, dayCell, TWO } from '../support/rates/workbooks.ts'
import { directory, run, serve, start } from './executable.ts'

test('commands load what they alone need', async (t) => {
  const home = directory(t)
  const at = ['--data-dir', join(home, 'data')]
  const certificate = await run(t, ['cert', 'create', '--host', 'localhost', '--out', join(home, 'tls')])
  assert.equal(certificate.code, 0, certificate.err)
  const host = 'gee.bccr.fi.cr'
  const interceptCert = await run(t, ['compat', 'cert', '--host', host, '--out', join(home, 'stand-in')])
  assert.equal(interceptCert.code, 0, interceptCert.err)
  assert.match((await run(t, ['metrics', 'rules'])).out, /^groups:/m)
  assert.ok(JSON.parse((await run(t, ['metrics', 'dashboard'])).out).panels.length > 0)
  assert.match((await run(t, ['--help'], { env: { LC_ALL: 'es_CR.UTF-8' } })).out, /^Uso: /m)
  assert.match((await run(t, ['service', 'print', '--low-ports'])).out, /CAP_NET_BIND_SERVICE/)

  const csv = join(home, 'erp.csv')
  writeFileSync(csv, 'kind,id,name,code\ncompany,7,Café Britt,BRITT\n')
  assert.equal((await run(t, ['directory', 'import', csv, ...at])).code, 0)
  writeFileSync(csv, 'kind,id,colour\ncompany,7,red\n')
  const wrong = await run(t, ['directory', 'import', csv, ...at])
  assert.deepEqual([wrong.code, wrong.err.includes('colour')], [1, true])

  const rates = join(home, 'rates.ndjson')
  assert.equal((await run(t, ['export', rates, ...at])).code, 0)
  assert.equal((await run(t, ['import', rates, ...at])).code, 0)
  writeFileSync(rates, readFileSync(rates, 'utf8').replace('\n', '\n{"of":"another program"}\n'))
  const refused = await run(t, ['import', rates, ...at])
  assert.deepEqual([refused.code, refused.err.includes(rates)], [1, true])

  const bank = join(home, 'bank.xlsx')
  const cells = [dayCell('2025-03-10'), { n: '503.89999999999998', style: TWO }]
  writeFileSync(bank, await createWorkbook({ Datos: [['Fecha', 'Tipo cambio venta'], cells] }))
  const imported = await run(t, ['import', '--bccr', bank, ...at])
  assert.deepEqual([imported.code, imported.out.includes('1 new')], [0, true], imported.err)
  writeFileSync(bank, 'PK and no more')
  const damaged = await run(t, ['import', '--bccr', bank, ...at])
  assert.deepEqual([damaged.code, damaged.err.includes('the workbook cannot be read')], [1, true])
})

test('an agent speaks MCP with it over stdin and over HTTP', async (t) => {
  const dataDir = join(directory(t), 'data')
  const key = (await run(t, ['key', 'create', 'agent', '--data-dir', dataDir])).out.trim()
  const hello = JSON.stringify({
    jsonrpc: '2.0',
    id: 1,
    method: 'initialize',
    params: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'test', version: '1' } },
  })
  const agent = start(t, ['mcp', '--data-dir', dataDir])
  agent.child.stdin.write(`${hello}\n`)
  const [line] = await once(agent.child.stdout, 'data')
  assert.equal(JSON.parse(String(line)).result.serverInfo.name, 'cambista')
  agent.child.stdin.end()
  assert.equal((await agent.ended()).code, 0)

  const { url } = await serve(t, dataDir)
  const headers = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' }
  const ask = (secret: string) =>
    fetch(`${url}/mcp`, { method: 'POST', headers: { ...headers, 'x-api-key': secret }, body: hello })
  assert.equal(JSON.parse(await (await ask(key)).text()).result.serverInfo.name, 'cambista')
  assert.equal((await ask('cbk_wrong')).status, 401)

  const keyFile = join(dataDir, 'agent-key')
  writeFileSync(keyFile, `${key}\n`, { mode: 0o600 })
  const relay = start(t, ['mcp', '--url', url, '--key-file', keyFile])
  relay.child.stdin.end(`${hello}\n`)
  const { code, out } = await relay.ended()
  assert.deepEqual([code, JSON.parse(out).result.serverInfo.name], [0, 'cambista'])
})

test('requests load their APIs, and invalid ones have the errors of their API', async (t) => {
  const dataDir = join(directory(t), 'data')
  const at = ['--data-dir', dataDir]
  await run(t, ['company', 'create', '--name', 'Acme', '--code', 'ACME', '--id', '1', ...at])
  await run(t, ['owner', 'create', '--name', 'Ana', '--company', '1', '--id', '1', ...at])
  const about = ['--description', '<p>Reads <b>all</b></p>']
  await run(t, ['agent', 'create', '--name', 'Lector', '--company', '1', '--id', '1', ...about, ...at])
  const key = (await run(t, ['key', 'create', 'erp', ...at])).out.trim()
  const allow = ['--allow', 'documents:POST', '--allow', 'documents:GET']
  const token = await run(t, ['token', 'create', 'erp', ...allow, ...at])
  assert.equal(token.code, 0, token.err)
  const authorization = `Bearer ${token.out.trim()}`
  const { url, ended } = await serve(t, dataDir, { env: { CAMBISTA_METRICS: 'true' } })
  const ask = async (path: string, init: RequestInit = {}) => {
    const response = await fetch(`${url}${path}`, init)
    return `${response.status} ${await response.text()}`
  }
  const withKey = { headers: { 'x-api-key': key } }

  assert.match(await ask('/openapi.json'), /^200 \{"openapi":"3\.1/)
  assert.match(await ask('/metrics'), /^200 # HELP process_/)
  assert.match(
    await ask('/compat/frankfurter/v1/latest?base=USD&symbols=XXX', withKey),
    /^404 \{"message":"not found"\}$/,
  )
  const batch = { method: 'POST', headers: { 'x-api-key': key, 'content-type': 'application/json' } }
  const conversion = { amount: '1', from: 'USD', to: 'CRC', on: '2026-01-05' }
  assert.match(
    await ask('/api/v1/convert/batch', { ...batch, body: JSON.stringify([conversion]) }),
    /^200 \[\{"status":404,"detail":"No rate for USD/,
  )
  const agents = await ask('/api/v1/companies/1/agents', { headers: { authorization } })
  assert.match(agents, /^200 .*"description":"Reads all"/)

  const form = (field: string) => {
    const body = new FormData()
    for (const name of [field, 'company_id', 'agent_id']) body.set(name, '1')
    body.set('file', new Blob(['a letter'], { type: 'text/plain' }), 'letter.txt')
    return ask('/api/v1/documents', { method: 'POST', headers: { authorization }, body })
  }
  assert.match(await form('owner_id'), /^200 /)
  assert.match(await form('owner'), /^4\d\d .*owner/)
  const { code, err } = await ended('SIGTERM')
  assert.deepEqual([code, /^\s+at /m.test(err)], [0, false], err)
})
