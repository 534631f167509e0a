// Options of the command line that follow from the `settings` of the providers.

import assert from 'node:assert/strict'
import { chmodSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { providerOptions, scheduleOptions } from '../../../../src/cli/options/provider-options.ts'
import {
  cronReader,
  providerSettingsReader,
  tokenFileWarning,
} from '../../../../src/cli/parse/provider-settings.ts'
import { bccr } from '../../../../src/providers/bccr/bccr.ts'
import { pruebas } from '../../../support/pruebas/pruebas.ts'
import { temporaryDirectory } from '../../../support/temporary.ts'

const BOTH = [bccr, pruebas]

/** Returns the values of all provider options: the defaults, and `more`. */
function optionValues(more: Record<string, string> = {}): Record<string, unknown> {
  const options = { ...scheduleOptions(BOTH), ...providerOptions(BOTH) }
  const defaults = Object.fromEntries(
    Object.entries(options).map(([name, { fallback, format }]) => [
      name,
      fallback === undefined ? undefined : format.parse(fallback),
    ]),
  )
  return { ...defaults, ...more }
}

const NEEDS_ROOT = process.getuid?.() !== 0 && 'only root can become another user'

test('each provider adds its options; those of the first provider have their historic names', () => {
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

test('settingsOfProviders returns the settings and the token of one provider', (t) => {
  const file = join(temporaryDirectory(t), 'token')
  writeFileSync(file, '\ufeffof the file\r\n')
  const env = { CAMBISTA_BCCR_TOKEN: 'of the bank' }
  const settings = providerSettingsReader(optionValues({ 'pruebas-token-file': file }), env, BOTH)
  const { userAgent, ...bankSettings } = settings(bccr)
  assert.match(userAgent, /^cambista\//)
  assert.deepEqual(bankSettings, {
    url: 'https://apim.bccr.fi.cr/SDDE/api',
    paceMs: 1000,
    token: 'of the bank',
  })
  const { userAgent: _, ...pruebasSettings } = settings(pruebas)
  assert.deepEqual(pruebasSettings, {
    url: 'https://pruebas.example/rates',
    paceMs: 500,
    token: 'of the file',
  })
  writeFileSync(file, 'renewed')
  assert.equal(settings(pruebas).token, 'renewed')
})

test('a token is read from its variable, and an unreadable token file is an error with the provider', () => {
  const env = { CAMBISTA_PRUEBAS_TOKEN: ' of pruebas ' }
  const settings = providerSettingsReader(optionValues(), env, BOTH)
  assert.deepEqual([settings(bccr).token, settings(pruebas).token], [undefined, 'of pruebas'])
  const broken = providerSettingsReader(optionValues({ 'pruebas-token-file': '/nowhere' }), env, BOTH)
  assert.throws(() => broken(pruebas), /^AppError: cannot read the token of Pruebas: ENOENT/)
  assert.equal(broken(bccr).token, undefined, 'the other provider still works')
})

test('an empty token file is an error even with the variable set; one with comments alone is no token', (t) => {
  const file = join(temporaryDirectory(t), 'token')
  const env = { CAMBISTA_PRUEBAS_TOKEN: 'of the variable' }
  const token = (settings = {}) =>
    providerSettingsReader(optionValues({ 'pruebas-token-file': file }), settings, BOTH)(pruebas).token
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

test('after a reload with a bad token file runs use the token before, until the file is good', (t) => {
  const file = join(temporaryDirectory(t), 'token')
  writeFileSync(file, 'first')
  const settings = providerSettingsReader(optionValues({ 'pruebas-token-file': file }), {}, BOTH)
  const token = () => settings(pruebas).token
  assert.equal(settings.reloadToken(bccr), undefined, 'it has no file')
  assert.deepEqual(settings.reloadToken(pruebas), { file, isChanged: false })
  writeFileSync(file, 'second')
  assert.deepEqual(settings.reloadToken(pruebas), { file, isChanged: true })
  writeFileSync(file, '')
  assert.throws(token, /is empty/, 'without a reload')
  for (const spoil of [() => writeFileSync(file, 'two\nlines'), () => rmSync(file)]) {
    spoil()
    assert.throws(token)
    assert.throws(() => settings.reloadToken(pruebas), /^AppError: .*the token of Pruebas/)
    assert.equal(token(), 'second')
    writeFileSync(file, 'third')
    assert.equal(token(), 'third')
    writeFileSync(file, 'second')
    assert.equal(token(), 'second')
  }
  writeFileSync(file, '# none yet')
  assert.deepEqual(settings.reloadToken(pruebas), { file, isChanged: true })
  assert.equal(token(), undefined)
})

test('tokenFileWarning reports a token file that is missing, empty or open to others', (t) => {
  const directory = temporaryDirectory(t)
  const file = join(directory, 'token')
  const warning = (env = {}) => tokenFileWarning(pruebas, optionValues({ 'pruebas-token-file': file }), env)
  assert.equal(tokenFileWarning(pruebas, optionValues(), {}), undefined)
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

test('the error of a token file of another user has its owner and mode', { skip: NEEDS_ROOT }, (t) => {
  const file = join(temporaryDirectory(t), 'token')
  writeFileSync(file, 'secret', { mode: 0o600 })
  const options = optionValues({ 'pruebas-token-file': file })
  const advice = `give it to the user of the server: chown 65534 ${file}, mode 600`
  process.seteuid?.(65534)
  try {
    const settings = providerSettingsReader(options, {}, BOTH)
    assert.throws(() => settings(pruebas), {
      message: `cannot read the token of Pruebas: EACCES: permission denied, open '${file}' (${advice})`,
    })
    const event = 'cannot read the token of Pruebas'
    assert.deepEqual(tokenFileWarning(pruebas, options, {}), { event, file, hint: advice })
  } finally {
    process.seteuid?.(0)
  }
})

test('each provider has its own schedule', () => {
  const cron = cronReader(optionValues({ 'sync-cron': '0 6 * * *' }))
  assert.deepEqual(BOTH.map(cron), ['0 6 * * *', '30 16 * * 1-5'])
})
