import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { parseEnv } from 'node:util'
import { serve } from '../../../../src/cli/commands/server/serve.ts'
import { helpTexts } from '../../../../src/cli/help/texts.ts'
import { variableName } from '../../../../src/cli/options/names.ts'
import { parseWords } from '../../../../src/cli/parse/args.ts'
import { parseEnvironmentFile, SETTINGS_FILE } from '../../../../src/cli/parse/settings.ts'
import { unitText } from '../../../../src/cli/service/install.ts'
import { TOKENS } from '../../../../src/cli/service/service-names.ts'
import { settingsText } from '../../../../src/cli/service/settings-file.ts'
import { temporaryDirectory } from '../../../support/temporary.ts'
import { runCommand } from '../../../support/terminal.ts'

test('the settings file lists the options of serve; Node and the program parse it alike', () => {
  const text = settingsText()
  const expected: Record<string, string> = {
    CAMBISTA_DATA_DIR: '/var/lib/cambista',
    ...Object.fromEntries(TOKENS.map(({ option, file }) => [variableName(option), file])),
  }
  assert.equal(expected.CAMBISTA_BCCR_TOKEN_FILE, '/etc/cambista/bccr-token')
  assert.deepEqual(parseEnvironmentFile(text), expected)
  const uncommented = text.replace(/^#(?=CAMBISTA_)/gm, '')
  const values = parseEnvironmentFile(uncommented)
  assert.deepEqual(values, { ...parseEnv(uncommented) })
  assert.deepEqual(Object.keys(values).sort(), serve.options.map(variableName).sort())
  parseWords([], serve.options, {}, { file: SETTINGS_FILE, values })
  for (const name of serve.options) assert.ok(text.includes(`# ${helpTexts('en').option(name)}\n`), name)
})

test('the unit runs serve with the credential, as an unprivileged user, within limits', () => {
  const lines = unitText().split('\n')
  const start = lines.find((line) => line.startsWith('ExecStart=/usr/local/bin/cambista serve ')) ?? ''
  assert.ok(start.includes(' --bccr-token-file $' + '{CREDENTIALS_DIRECTORY}/bccr-token'), start)
  for (const line of [
    'ExecStartPost=/usr/local/bin/cambista healthcheck --wait 300 --pid $MAINPID',
    'EnvironmentFile=-/etc/cambista/cambista.env',
    "ExecReload=/bin/sh -c 'kill -HUP $MAINPID'",
    'LoadCredential=bccr-token:/etc/cambista/bccr-token',
    'User=cambista',
    'StateDirectory=cambista',
    'Restart=on-failure',
    'TimeoutStopSec=30',
    'UMask=0077',
  ]) {
    assert.ok(lines.includes(line), line)
  }
  for (const name of ['MemoryHigh', 'MemoryMax', 'LimitNOFILE', 'StartLimitBurst', 'WantedBy']) {
    assert.ok(
      lines.some((line) => line.startsWith(`${name}=`)),
      name,
    )
  }
  assert.ok(!lines.some((line) => line.startsWith('MemoryDenyWriteExecute=')), 'V8 needs such memory')
})

test('systemd-analyze accepts the unit, with an exposure of at most 1.5', (t) => {
  const version = spawnSync('systemd-analyze', ['--version'])
  if (version.error) return t.skip('there is no systemd-analyze (Debian: systemd)')
  const file = join(temporaryDirectory(t), 'cambista.service')
  writeFileSync(file, unitText().replaceAll('/usr/local/bin/cambista', process.execPath)) // `verify` requires the executable
  const verified = spawnSync('systemd-analyze', ['verify', file], { encoding: 'utf8' })
  // Lines about other units of the machine are ignored; those about this one have its name.
  assert.deepEqual(
    `${verified.stdout}${verified.stderr}`.split('\n').filter((line) => line.includes('cambista')),
    [],
  )
  const threshold = ['security', '--offline=true', '--threshold=15', '--no-pager', file]
  const exposure = spawnSync('systemd-analyze', threshold, { encoding: 'utf8' })
  assert.equal(exposure.status, 0, exposure.stdout.split('\n').slice(-3).join('\n') + exposure.stderr)
  assert.match(exposure.stdout, /Overall exposure level for cambista\.service: (1\.[0-5]|0\.\d) /)
})

test('`service print --low-ports` adds CAP_NET_BIND_SERVICE alone', async (t) => {
  const { code, out, err } = await runCommand(['service', 'print', '--low-ports'])
  assert.deepEqual([code, err], [0, ''])
  const settings = out.split('\n').filter((line) => /^[^#[]/.test(line))
  const capability = [
    'CapabilityBoundingSet=CAP_NET_BIND_SERVICE',
    'AmbientCapabilities=CAP_NET_BIND_SERVICE',
  ]
  assert.deepEqual(settings, [...capability, 'PrivateUsers=no'])
  if (spawnSync('systemd-analyze', ['--version']).error) return t.skip('there is no systemd-analyze')
  const file = join(temporaryDirectory(t), 'cambista.service')
  const dropIn = join(`${file}.d`, 'low-ports.conf')
  writeFileSync(file, unitText().replaceAll('/usr/local/bin/cambista', process.execPath))
  mkdirSync(`${file}.d`)
  const verifyDropIn = (text: string) => {
    writeFileSync(dropIn, text)
    const verified = spawnSync('systemd-analyze', ['verify', file], { encoding: 'utf8' })
    return `${verified.stdout}${verified.stderr}`
      .split('\n')
      .filter((line) => /cambista|low-ports/.test(line))
  }
  assert.deepEqual(verifyDropIn(out), [])
  assert.match(
    verifyDropIn(`${out}NoSuchSetting=1\n`).join(),
    /NoSuchSetting/,
    'systemd-analyze reads the drop-in',
  )
})

test('`service print` prints the unit and nothing else', async () => {
  assert.deepEqual(await runCommand(['service', 'print']), { code: 0, out: unitText(), err: '' })
})
