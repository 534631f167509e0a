// Linters and generators of types read /openapi.json and /openapi-compat.json.

import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { before, test } from 'node:test'
import type { Document } from '../api/openapi/description.ts'
import { temporaryDirectory } from '../support/app.ts'
import { openForClients, run, runProgram } from './support.ts'

const app = await openForClients()
let dir: string
let file: string
let compatFile: string
before(async (t) => {
  dir = temporaryDirectory(t as Parameters<typeof temporaryDirectory>[0])
  file = join(dir, 'openapi.json')
  compatFile = join(dir, 'openapi-compat.json')
  writeFileSync(file, await (await fetch(`${app.app.url}/openapi.json`)).text())
  writeFileSync(compatFile, await (await fetch(`${app.app.url}/openapi-compat.json`)).text())
})

test("Redocly's recommended rules and Spectral's find nothing in either description", async () => {
  assert.deepEqual(await runProgram<string[]>('lint-openapi.mjs', [file]), [])
  assert.deepEqual(await runProgram<string[]>('lint-openapi.mjs', [compatFile]), [])
})

test('the linters find a parameter without a description, and an operation without credentials', async () => {
  const document = (await (await fetch(`${app.app.url}/openapi.json`)).json()) as Document
  delete document.paths['/api/v1/convert']?.get?.parameters[0]?.description
  document.paths['/healthz'] = { get: { ...document.paths['/healthz']?.get, security: undefined } as never }
  const other = join(dir, 'other.json')
  writeFileSync(other, JSON.stringify(document))
  const findings = (await runProgram<string[]>('lint-openapi.mjs', [other])).map((line) =>
    line.split(' ', 2).join(' '),
  )
  assert.deepEqual(
    new Set(findings),
    new Set(['redocly security-defined', 'spectral oas3-parameter-description']),
  )
})

test('the types that openapi-typescript makes of both are used under strict tsc', async () => {
  writeFileSync(join(dir, 'api.d.ts'), await runProgram<string>('openapi-types.mjs', [file]))
  writeFileSync(join(dir, 'compat.d.ts'), await runProgram<string>('openapi-types.mjs', [compatFile]))
  const use = (type: string) => `import type { components, paths, webhooks } from './api.d.ts'
import type { paths as compatPaths } from './compat.d.ts'
type Answer = paths['/api/v1/convert']['get']['responses'][200]['content']['application/json']
type Asked = paths['/api/v1/convert']['get']['parameters']['query']
export const asked: Asked = { amount: '1', from: 'USD', to: 'CRC', type: 'compra' }
export const result = (answer: Answer): ${type} => answer.result
export const points = (history: components['schemas']['SeriesHistory']) => history.points.map(({ value }) => value)
type Message = webhooks['document.created']['post']['requestBody']['content']['application/json']
export const ids = (message: Message): number[] => message.data.document_ids
export const csv = (answers: paths['/api/v1/rates']['get']['responses'][200]['content']): string => answers['text/csv']
export const rates: compatPaths['/compat/frankfurter/v2/rates']['get']['parameters']['query'] = { base: 'USD' }
`
  const check = (type: string) => {
    writeFileSync(join(dir, 'use.ts'), use(type))
    const options = ['--strict', '--noEmit', '--exactOptionalPropertyTypes', '--module', 'nodenext']
    const tsc = join(import.meta.dirname, '../../node_modules/.bin/tsc')
    return run(tsc, [...options, '--allowImportingTsExtensions', '--ignoreConfig', join(dir, 'use.ts')])
  }
  await check('string')
  await assert.rejects(check('number'), ({ stdout }) => /not assignable to type 'number'/.test(stdout))
})
