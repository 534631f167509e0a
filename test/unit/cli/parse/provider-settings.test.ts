// What the command line makes of what providers say of their settings.

import assert from 'node:assert/strict'
import { chmodSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { providerOptions, scheduleOptions } from '../../src/cli/provider-options.ts'
import { cronOf, settingsOfProviders, tokenFileWarning } from '../../src/cli/provider-settings.ts'
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

test('an empty token file is an error, whatever the variable has; one of comments alone is no token', (t) => {
  const file = join(temporaryDirectory(t), 'token')
  const env = { CAMBISTA_PRUEBAS_TOKEN: 'of the variable' }
  const token = (settings = {}) =>
    settingsOfProviders(given({ 'pruebas-token-file': file }), settings, BOTH)(pruebas).token
  for (const text of ['', '\n', ' \t\r\n\n']) {
    writeFileSync(file, text)
    for (const one of [{}, env]) {
      assert.throws(() => token(one), /^AppError: the file of the token of Pruebas is empty: \/.*token/)
    }
  }
  writeFileSync(file, '# a comment\n')
  assert.deepEqual([token(), token(env)], [undefined, 'of the variable'])
  writeFileSync(file, '# a comment\r\n\nof the file\n')
  assert.equal(token(), 'of the file')
})

test('a token file that is missing, empty or open to others has a warning', (t) => {
  const directory = temporaryDirectory(t)
  const file = join(directory, 'token')
  const warning = (env = {}) => tokenFileWarning(pruebas, given({ 'pruebas-token-file': file }), env)
  assert.equal(tokenFileWarning(pruebas, given(), {}), undefined)
  assert.deepEqual(warning(), {
    event: 'cannot read the token of Pruebas',
    file,
    hint: `ENOENT: no such file or directory, open '${file}'`,
  })
  writeFileSync(file, ' \n', { mode: 0o600 })
  assert.equal(warning()?.event, 'the file of the token of Pruebas is empty')
  writeFileSync(file, 'secret')
  assert.equal(warning(), undefined)
  for (const [mode, text] of [
    [0o640, '0640'],
    [0o604, '0604'],
  ] as const) {
    chmodSync(file, mode)
    const event = `the file of the token of Pruebas can be opened by other users (mode ${text})`
    assert.deepEqual(warning(), { event, file, hint: `chmod 600 ${file}` })
    assert.equal(warning({ CREDENTIALS_DIRECTORY: directory }), undefined, 'a credential of systemd')
  }
})

test('each provider has its own schedule', () => {
  const cron = cronOf(given({ 'sync-cron': '0 6 * * *' }))
  assert.deepEqual(BOTH.map(cron), ['0 6 * * *', '30 16 * * 1-5'])
})
