// What the command line makes of what providers say of their settings.

import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { providerOptions, scheduleOptions } from '../../src/cli/provider-options.ts'
import { cronOf, settingsOfProviders } from '../../src/cli/provider-settings.ts'
import { bccr } from '../../src/providers/bccr/bccr.ts'
import { pruebas } from '../support/pruebas/pruebas.ts'
import { temporaryDirectory } from '../support/temporary.ts'

const BOTH = [bccr, pruebas]

/** What a command gets when this is given. */
function given(more: Record<string, string> = {}): Record<string, unknown> {
  const options = { ...scheduleOptions(BOTH), ...providerOptions(BOTH) }
  const defaults = Object.fromEntries(
    Object.entries(options).map(([name, { fallback, format }]) => [
      name,
      fallback === undefined ? undefined : format.read(fallback),
    ]),
  )
  return { ...defaults, ...more }
}

test('each provider brings its options, and the names of the first are those that they were', () => {
  assert.deepEqual(Object.keys(scheduleOptions(BOTH)), ['sync-cron', 'pruebas-cron'])
  assert.deepEqual(Object.keys(providerOptions(BOTH)), [
    'bccr-url',
    'bccr-pace',
    'bccr-token-file',
    'pruebas-url',
    'pruebas-pace',
    'pruebas-token-file',
  ])
})

test('each provider is handed its own settings, and the token of no other', (t) => {
  const file = join(temporaryDirectory(t), 'token')
  writeFileSync(file, 'of the file\n')
  const env = { CAMBISTA_BCCR_TOKEN: 'of the bank' }
  const settings = settingsOfProviders(given({ 'pruebas-token-file': file }), env, BOTH)
  const { userAgent, ...ofBank } = settings(bccr)
  assert.match(userAgent, /^cambista\//)
  assert.deepEqual(ofBank, {
    url: 'https://apim.bccr.fi.cr/SDDE/api',
    paceMs: 1000,
    token: 'of the bank',
  })
  const { userAgent: _, ...ofPruebas } = settings(pruebas)
  assert.deepEqual(ofPruebas, { url: 'https://pruebas.example/rates', paceMs: 500, token: 'of the file' })
  writeFileSync(file, 'renewed')
  assert.equal(settings(pruebas).token, 'renewed')
})

test('a token is in the variable without FILE, and one that cannot be read is named', () => {
  const env = { CAMBISTA_PRUEBAS_TOKEN: ' of pruebas ' }
  const settings = settingsOfProviders(given(), env, BOTH)
  assert.deepEqual([settings(bccr).token, settings(pruebas).token], [undefined, 'of pruebas'])
  const broken = settingsOfProviders(given({ 'pruebas-token-file': '/nowhere' }), env, BOTH)
  assert.throws(() => broken(pruebas), /^AppError: cannot read the token of Pruebas: ENOENT/)
  assert.equal(broken(bccr).token, undefined, 'which the other does not notice')
})

test('each provider has its own schedule', () => {
  const cron = cronOf(given({ 'sync-cron': '0 6 * * *' }))
  assert.deepEqual(BOTH.map(cron), ['0 6 * * *', '30 16 * * 1-5'])
})
