// Adds the provider of the tests to a copy of the sources: its folder, and a line in src/providers/list.ts. Nothing
// else changes.

import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { promisify } from 'node:util'
import { startProgram } from '../support/program.ts'
import { PRUEBAS_TOKEN, startPruebas } from '../support/pruebas/source.ts'
import { fixedClock, temporaryDirectory } from '../support/temporary.ts'
import { compile, copyLauncher, copyRepository, copySources, ROOT, runTests, TESTS } from './copy.ts'

function addPruebas(copy: string): string {
  const source = readFileSync(join(ROOT, 'test/support/pruebas/pruebas.ts'), 'utf8')
  const folder = join(copy, 'src/providers')
  mkdirSync(join(folder, 'pruebas'))
  // Ids 2 to 5 are those of the optional providers.
  const providerSource = source.replaceAll('../../../src/providers/', '../').replace('id: 2,', 'id: 6,')
  writeFileSync(join(folder, 'pruebas/pruebas.ts'), providerSource)
  const list = join(folder, 'list.ts')
  const before = readFileSync(list, 'utf8')
  const after = before
    .replace('import type { Provider }', "import { pruebas } from './pruebas/pruebas.ts'\n$&")
    .replace('= [bccr', '= [bccr, pruebas')
  assert.equal(after.split('pruebas').length, 5, 'two lines')
  writeFileSync(list, after)
  return copy
}

test('a provider that was added satisfies the compiler', async (t) => {
  await compile(addPruebas(copySources(t)))
})

test('a provider that was added, with its options in the manual, breaks no test', async (t) => {
  const copy = addPruebas(copyRepository(t))
  await promisify(execFile)(process.execPath, ['test/promises/options.ts'], { cwd: copy })
  await runTests(copy, TESTS)
})

test('a provider that was added has its options, rows, runs and part of doctor', async (t) => {
  const launcher = copyLauncher(addPruebas(copySources(t)))
  const source = await startPruebas(t, fixedClock(new Date().toISOString()))
  const dataDir = join(temporaryDirectory(t), 'data')
  const cambista = async (words: string[], env: Record<string, string> = {}) => {
    const program = startProgram(t, words, { CAMBISTA_DATA_DIR: dataDir, ...env }, launcher)
    const code = await program.waitForExit()
    return { code, ...program.printed }
  }
  assert.match(
    (await cambista(['serve', '--help'])).out.replace(/\s+/g, ' '),
    /--pruebas-cron PATTERN .* Helsinki \(default 30 16/,
  )
  const mistyped = await cambista(['serve'], { CAMBISTA_PRUEBAS_TOKNE: 'x' })
  assert.match(mistyped.err, /did you mean CAMBISTA_PRUEBAS_TOKEN\?/)

  const env = {
    CAMBISTA_PRUEBAS_URL: source.url,
    CAMBISTA_PRUEBAS_TOKEN: PRUEBAS_TOKEN,
    CAMBISTA_PRUEBAS_PACE: '0',
    CAMBISTA_BCCR_URL: `${source.url}/bank`,
    CAMBISTA_BCCR_PACE: '0',
    CAMBISTA_BCCR_TOKEN: 'of-the-bank',
  }
  const synced = await cambista(['sync', '--json', '--from', '2026-03-02', '--to', '2026-03-04'], env)
  const runs = JSON.parse(synced.out) as { provider_id: number; status: string; inserted: number }[]
  assert.deepEqual(
    runs.map(({ provider_id, status, inserted }) => [provider_id, status, inserted]),
    [
      [1, 'error', 0],
      [6, 'ok', 12],
    ],
  )
  assert.equal(synced.code, 1)
  const ofPruebas = source.tokens.filter((token) => token !== 'undefined')
  assert.deepEqual(new Set(ofPruebas), new Set([PRUEBAS_TOKEN]), 'which the bank was not sent')

  const providers = await cambista(['provider', 'list'])
  assert.match(providers.out, /^bccr .* enabled /m)
  assert.match(providers.out, /^pruebas +Banco de Pruebas +FI +enabled +Source: Banco de Pruebas$/m)
  const doctor = await cambista(['doctor'])
  assert.match(doctor.out, /^note +last sync of pruebas: run 2, /m)
  assert.match(doctor.out, /^FINDING +rates: bccr: there is no dollar rate, although a sync has run$/m)
})
